% expect: HG0602 error 4
% A counter of calls, kept by the rules themselves.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), assertz(called(Agent)).
