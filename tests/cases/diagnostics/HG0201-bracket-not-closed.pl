% expect: HG0201 error 4
% A closing bracket is missing in a rule that denies.
suspended('U:Cd').
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ suspended(Agent.
agent('U:Qa').
