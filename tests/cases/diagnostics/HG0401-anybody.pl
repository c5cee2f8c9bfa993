% expect: HG0401 error 3
% A harmless tool for everybody, also for callers that nobody registered.
may_execute_tool(_, tool_get_time).
