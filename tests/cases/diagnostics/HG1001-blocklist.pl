% expect: HG0402 error 5
% expect: HG1001 note 5
% A list of what is blocked is no list of what is allowed.
blocked(guest, tool_run_shell).
may_run(Agent, Tool) :- \+ blocked(Agent, Tool).
