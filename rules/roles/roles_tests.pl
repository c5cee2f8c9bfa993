% Tests of roles.pl.
%
% They run with
%   swipl -g run_tests -t halt rules/roles/roles.pl rules/roles/roles_tests.pl

:- use_module(library(plunit)).

% Each level needs its role, and a higher role will do.

:- begin_tests(levels).

test(who_queries_metrics, [all(Actor == ['bot:dashboard', 'ci:deploy', 'ops:oncall', 'sre:lead'])]) :-
    may_execute_tool(Actor, tool_query_metrics).
test(who_stops_a_container, [all(Actor == ['ops:oncall', 'sre:lead'])]) :-
    may_execute_tool(Actor, tool_stop_container).
test(who_patches_a_deployment, [all(Actor == ['sre:lead'])]) :-
    may_execute_tool(Actor, tool_patch_deployment).
test(viewer_confirm, [fail]) :-
    may_execute_tool('bot:dashboard', tool_stop_container).
test(viewer_destructive, [fail]) :-
    may_execute_tool('bot:dashboard', tool_restart_container).
test(operator_destructive, [fail]) :-
    may_execute_tool('ops:oncall', tool_restart_container).
test(every_tool_of_a_viewer, [all(Tool == [tool_describe_deployment, tool_inspect_container, tool_list_containers, tool_list_kafka_topics, tool_list_silences, tool_query_metrics])]) :-
    may_execute_tool('bot:dashboard', Tool).

:- end_tests(levels).

% A role includes the roles below it and none above.

:- begin_tests(order).

test(operator_is_no_admin, [fail]) :-
    has_role('ops:oncall', admin).
test(viewer_is_no_operator, [fail]) :-
    has_role('bot:dashboard', operator).
test(viewers, [all(Actor == ['bot:dashboard', 'ci:deploy', 'ops:oncall', 'sre:lead'])]) :-
    has_role(Actor, viewer).
test(operators, [all(Actor == ['ops:oncall', 'sre:lead'])]) :-
    has_role(Actor, operator).
test(admins, [all(Actor == ['sre:lead'])]) :-
    has_role(Actor, admin).

:- end_tests(order).

% An exception beats the role, and a refusal beats a grant by name.

:- begin_tests(exceptions).

test(given_without_a_role, [all(Tool == [tool_create_silence])]) :-
    may_execute_tool('bot:alerts', Tool).
test(given_above_the_role, [all(Actor == ['ci:deploy', 'sre:lead'])]) :-
    may_execute_tool(Actor, tool_restart_deployment).
test(nothing_else_above_the_role, [fail]) :-
    may_execute_tool('ci:deploy', tool_patch_deployment).
test(refused_within_the_role, [fail]) :-
    may_execute_tool('sre:lead', tool_delete_kafka_topic).
test(nobody_deletes_a_topic, [all(Actor == [])]) :-
    may_execute_tool(Actor, tool_delete_kafka_topic).
test(refused_beats_given, [fail]) :-
    may_execute_tool('ci:deploy', tool_rollback_deployment).
test(refused_is_for_one_actor, [all(Actor == ['sre:lead'])]) :-
    may_execute_tool(Actor, tool_rollback_deployment).

:- end_tests(exceptions).

% Whoever and whatever is not listed is denied.

:- begin_tests(unknown).

test(nobody_reads, [fail]) :-
    may_execute_tool('NOBODY', tool_query_metrics).
test(nobody_nothing_at_all, [fail]) :-
    may_execute_tool('NOBODY', _).
test(attacker_nothing_at_all, [fail]) :-
    may_execute_tool(attacker, _).
test(admin_unlisted_tool, [fail]) :-
    may_execute_tool('sre:lead', tool_rm_rf_slash).
test(unlisted_tool_to_nobody, [all(Actor == [])]) :-
    may_execute_tool(Actor, tool_exfiltrate_secrets).

:- end_tests(unknown).
