% expect: HG0207 error 4
% `:=` instead of `:-`.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) := agent(Agent).
