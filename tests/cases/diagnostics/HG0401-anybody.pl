% expect: HG0401 error 4
% expect: HG1001 note 4
% A harmless tool for everybody, also for callers that nobody registered.
may_execute_tool(_, tool_get_time).
