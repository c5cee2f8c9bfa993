% expect: HG0701 error 5
% `suspended/2` has a reason, which this call forgets. Under `\+` it must not read as "nobody is".
suspended('U:Cd', "left the team").
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ suspended(Agent).
