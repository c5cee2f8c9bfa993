% roles.pl: a role decides which tools an actor may run; an exception beats it.
%
%   viewer < operator < admin
%
% Each tool has a guard level, each level needs a role, and a role includes the
% roles below it. An actor may be given or refused one tool by name, and then
% the role does not matter. A refusal beats everything, a grant by name too.
%
% The four relations declared dynamic are facts, for the owners to edit. The rules
% at the end give them their meaning.

:- dynamic tool_guard/2.
:- dynamic actor_role/2.
:- dynamic given/2.
:- dynamic refused/2.

% tool_guard(Tool, Level): what a wrong call of the tool could cost. Sorted by
% level, then by tool. A tool without a level can only be given by name.

tool_guard(tool_delete_kafka_topic,      destructive).
tool_guard(tool_delete_silence,          destructive).
tool_guard(tool_patch_deployment,        destructive).
tool_guard(tool_patch_statefulset,       destructive).
tool_guard(tool_remove_image,            destructive).
tool_guard(tool_restart_container,       destructive).
tool_guard(tool_restart_deployment,      destructive).
tool_guard(tool_rollback_deployment,     destructive).
tool_guard(tool_approve_kafka_rebalance, confirm).
tool_guard(tool_create_kafka_topic,      confirm).
tool_guard(tool_create_silence,          confirm).
tool_guard(tool_restart_kafka_connector, confirm).
tool_guard(tool_scale_deployment,        confirm).
tool_guard(tool_start_container,         confirm).
tool_guard(tool_stop_container,          confirm).
tool_guard(tool_update_kafka_partitions, confirm).
tool_guard(tool_describe_deployment,     none).
tool_guard(tool_inspect_container,       none).
tool_guard(tool_list_containers,         none).
tool_guard(tool_list_kafka_topics,       none).
tool_guard(tool_list_silences,           none).
tool_guard(tool_query_metrics,           none).

% actor_role(Actor, Role): one role for each actor, the highest it has.

actor_role('bot:dashboard', viewer).
actor_role('ci:deploy',     viewer).
actor_role('ops:oncall',    operator).
actor_role('sre:lead',      admin).

% given(Actor, Tool): a tool beside the role. The alert bot has no role at all and
% this one tool. A rollout restarts what it deployed and rolls back what failed.

given('bot:alerts', tool_create_silence).
given('ci:deploy',  tool_restart_deployment).
given('ci:deploy',  tool_rollback_deployment).

% refused(Actor, Tool): a tool taken away. Rollbacks by the pipeline are suspended:
% its grant may stay as it is and is void while the refusal stands. A topic holds
% what cannot be restored, so not even the admin may delete one.

refused('ci:deploy', tool_rollback_deployment).
refused('sre:lead',  tool_delete_kafka_topic).

% The rules.

level_needs(none,        viewer).
level_needs(confirm,     operator).
level_needs(destructive, admin).

includes(admin,    operator).
includes(operator, viewer).

has_role(Actor, Role) :-
    actor_role(Actor, Role).
has_role(Actor, Role) :-
    includes(Higher, Role),
    has_role(Actor, Higher).

may_execute_tool(Actor, Tool) :-
    given(Actor, Tool),
    \+ refused(Actor, Tool).
may_execute_tool(Actor, Tool) :-
    tool_guard(Tool, Level),
    level_needs(Level, Role),
    has_role(Actor, Role),
    \+ refused(Actor, Tool).
