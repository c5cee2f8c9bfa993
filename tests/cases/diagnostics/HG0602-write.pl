% expect: HG0602 error 4
% A message on the way to a grant.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), format("granted ~w~n", [Agent]).
