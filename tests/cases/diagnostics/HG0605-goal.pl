% expect: HG0605 error 4
% A goal of the platform's module.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ platform:suspended(Agent).
