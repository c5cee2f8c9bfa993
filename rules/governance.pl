% governance.pl: who may run the tools that need a grant.
%
% May this agent run this tool? The gate asks may_execute_tool/2 and nothing
% else. One fact is one grant. A pair that cannot be derived is denied: there is
% no default, and nothing in this file can be the reason for a yes but a grant.
%
% Before you change a grant:
% - An agent is a quoted name, 'U:Qa'. Without the quotes U and Qa are two
%   variables, and the fact would grant the tool to everybody.
% - A tool is its name with the prefix tool_, so the tool repl is tool_repl.
% - Keep one grant a line, sorted by tool and then by agent: then a change of
%   policy is a change of one line. Say in the commit why it was made.
% - Write a test for it in governance_tests.pl, and one for what stays denied.
%
% WARNING: may_execute/2, at the end of this file, IS TRUE FOR EVERYBODY. It must
% never be the gate's authority. The text beside it says why it is here.

:- dynamic may_execute_tool/2.
:- dynamic volk_exists/1.
:- dynamic volk_active/1.
:- dynamic volk_healthy/1.
:- dynamic blacklisted/1.
:- dynamic agent_action_blocked/2.

% The grants. The predicate is declared dynamic so that a file whose last grant
% was revoked still answers, and denies everybody.

may_execute_tool('U:PM',     tool_remote_trigger).
may_execute_tool('J:Junior', tool_repl).
may_execute_tool('U:Qa',     tool_repl).
may_execute_tool('U:SD',     tool_repl).
may_execute_tool('J:Junior', tool_run_shell).
may_execute_tool('U:Cd',     tool_run_shell).
may_execute_tool('U:Qa',     tool_run_shell).

% An agent is operational when it is known, active, not blacklisted and healthy.
% The platform supplies these facts, and the blocked actions, at run time. None
% of them is in this file.

volk_operational(Agent) :-
    volk_exists(Agent),
    volk_active(Agent),
    \+ blacklisted(Agent),
    volk_healthy(Agent).

% WARNING: TRUE FOR EVERYBODY. NEVER BIND THE GATE TO may_execute/2.
%
% The platform's older check: an operational agent may do what is not blocked,
% and so may an agent that does not exist. The second clause asks only that two
% facts be absent. With nothing registered and nothing blocked, which is the
% state of this file, may_execute('NOBODY', rm_rf_slash) holds. A misspelt agent
% passes. So does an action that nobody has thought of.
%
% It is kept because it is what the platform has, and so that the tests can show
% the two predicates disagree. horngate reports it as unsafe, since nothing
% binds Agent or Action, and refuses to bind an allowlist to it.

may_execute(Agent, Action) :-
    volk_operational(Agent),
    \+ agent_action_blocked(Agent, Action).
may_execute(Agent, Action) :-
    \+ volk_exists(Agent),
    \+ agent_action_blocked(Agent, Action).
