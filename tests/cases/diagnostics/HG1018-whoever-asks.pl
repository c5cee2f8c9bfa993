% expect: HG1001 warning 5
% expect: HG1018 warning 5
% What is asked for is allowed: no fact can take a pair out.
requested('U:Qa', tool_repl).
may_execute_tool(Agent, Tool) :- requested(Agent, Tool).
