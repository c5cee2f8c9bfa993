% expect: HG1013 warning 6
% expect: HG1012 warning 7
% The rule that blocks asks for a state that nobody can have, so nobody is ever blocked.
granted('U:Cd', tool_run_shell).
state('U:Cd', suspended).
blocked(Agent) :- state(Agent, suspnded).
may_execute_tool(Agent, Tool) :- granted(Agent, Tool), \+ blocked(Agent).
