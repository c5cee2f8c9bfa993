may_execute_tool(Agent, tool_repl) :- role(Agent, Role), clearance(Role, low).
