% expect: HG0901 error 5
% One level is a word: the comparison has no value, and `\+` must not read that as "no".
level('U:Qa', 3).
level('U:Cd', high).
senior(Agent) :- level(Agent, N), N > 5.
agent('U:Cd').
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ senior(Agent).
