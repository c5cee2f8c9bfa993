% expect: HG0606 error 3
% A rule with `=>`, which commits to its clause as a cut does.
may_execute_tool(Agent, tool_repl) => agent(Agent).
agent('U:Qa').
