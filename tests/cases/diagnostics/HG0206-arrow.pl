% expect: HG0206 error 4
% An arrow instead of `:-`, as in other Datalog systems.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) <- agent(Agent).
