% Tests of governance.pl.
%
% They run with
%   swipl -g run_tests -t halt rules/governance.pl rules/governance_tests.pl

:- use_module(library(plunit)).

% The seven grants, seen from each tool and from each agent. Each list is
% complete: a grant too few fails here, and so does a grant too many.

:- begin_tests(grants).

test(remote_trigger, [all(Agent == ['U:PM'])]) :-
    may_execute_tool(Agent, tool_remote_trigger).
test(repl, [all(Agent == ['J:Junior', 'U:Qa', 'U:SD'])]) :-
    may_execute_tool(Agent, tool_repl).
test(run_shell, [all(Agent == ['J:Junior', 'U:Cd', 'U:Qa'])]) :-
    may_execute_tool(Agent, tool_run_shell).
test(junior, [all(Tool == [tool_repl, tool_run_shell])]) :-
    may_execute_tool('J:Junior', Tool).
test(cd, [all(Tool == [tool_run_shell])]) :-
    may_execute_tool('U:Cd', Tool).
test(pm, [all(Tool == [tool_remote_trigger])]) :-
    may_execute_tool('U:PM', Tool).
test(qa, [all(Tool == [tool_repl, tool_run_shell])]) :-
    may_execute_tool('U:Qa', Tool).
test(sd, [all(Tool == [tool_repl])]) :-
    may_execute_tool('U:SD', Tool).

:- end_tests(grants).

% Each holder of a grant, on each tool that it was not granted.

:- begin_tests(not_granted).

test(junior_remote_trigger, [fail]) :-
    may_execute_tool('J:Junior', tool_remote_trigger).
test(cd_repl, [fail]) :-
    may_execute_tool('U:Cd', tool_repl).
test(cd_remote_trigger, [fail]) :-
    may_execute_tool('U:Cd', tool_remote_trigger).
test(pm_repl, [fail]) :-
    may_execute_tool('U:PM', tool_repl).
test(pm_run_shell, [fail]) :-
    may_execute_tool('U:PM', tool_run_shell).
test(qa_remote_trigger, [fail]) :-
    may_execute_tool('U:Qa', tool_remote_trigger).
test(sd_run_shell, [fail]) :-
    may_execute_tool('U:SD', tool_run_shell).
test(sd_remote_trigger, [fail]) :-
    may_execute_tool('U:SD', tool_remote_trigger).

:- end_tests(not_granted).

% Those who hold no grant, and tools that nobody was granted.

:- begin_tests(unknown).

test(ux_remote_trigger, [fail]) :-
    may_execute_tool('U:Ux', tool_remote_trigger).
test(ux_repl, [fail]) :-
    may_execute_tool('U:Ux', tool_repl).
test(ux_run_shell, [fail]) :-
    may_execute_tool('U:Ux', tool_run_shell).
test(ux_nothing_at_all, [fail]) :-
    may_execute_tool('U:Ux', _).
test(nobody_repl, [fail]) :-
    may_execute_tool('NOBODY', tool_repl).
test(nobody_run_shell, [fail]) :-
    may_execute_tool('NOBODY', tool_run_shell).
test(nobody_remote_trigger, [fail]) :-
    may_execute_tool('NOBODY', tool_remote_trigger).
test(nobody_nothing_at_all, [fail]) :-
    may_execute_tool('NOBODY', _).
test(attacker_repl, [fail]) :-
    may_execute_tool(attacker, tool_repl).
test(attacker_run_shell, [fail]) :-
    may_execute_tool(attacker, tool_run_shell).
test(attacker_exfiltrate_secrets, [fail]) :-
    may_execute_tool(attacker, tool_exfiltrate_secrets).
test(attacker_nothing_at_all, [fail]) :-
    may_execute_tool(attacker, _).
test(rm_rf_slash_to_nobody, [all(Agent == [])]) :-
    may_execute_tool(Agent, tool_rm_rf_slash).
test(exfiltrate_secrets_to_nobody, [all(Agent == [])]) :-
    may_execute_tool(Agent, tool_exfiltrate_secrets).

% A name is exact: case, quotes and the prefix count.

test(other_case, [fail]) :-
    may_execute_tool('U:QA', tool_repl).
test(compound_is_no_name, [fail]) :-
    may_execute_tool('U':'Qa', tool_repl).
test(string_is_no_name, [fail]) :-
    may_execute_tool("U:Qa", tool_repl).
test(no_prefix, [fail]) :-
    may_execute_tool('U:Qa', repl).

:- end_tests(unknown).

% The two predicates disagree: may_execute/2 holds for everybody. No test here
% that expects it to hold is a permission. Each shows what the gate would do if
% it were bound to may_execute/2, and beside it stands what the gate does.

:- begin_tests(disagreement).

test(default_allow_nobody, [true]) :-
    may_execute('NOBODY', rm_rf_slash).
test(strict_nobody, [fail]) :-
    may_execute_tool('NOBODY', rm_rf_slash).
test(default_allow_attacker, [true]) :-
    may_execute(attacker, exfiltrate_secrets).
test(strict_attacker, [fail]) :-
    may_execute_tool(attacker, exfiltrate_secrets).
test(default_allow_ux, [true]) :-
    may_execute('U:Ux', tool_repl).
test(strict_ux, [fail]) :-
    may_execute_tool('U:Ux', tool_repl).
test(default_allow_pm, [true]) :-
    may_execute('U:PM', tool_remote_trigger).
test(strict_pm) :-
    may_execute_tool('U:PM', tool_remote_trigger).
test(none_is_operational, [fail]) :-
    volk_operational('U:Qa').

:- end_tests(disagreement).
