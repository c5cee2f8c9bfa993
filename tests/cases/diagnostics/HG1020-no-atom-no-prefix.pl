% expect: HG1020 warning 6
% expect: HG1020 warning 7
% expect: HG1004 warning 8
% expect: HG1020 warning 8
% Grants that no call can ask for: actors and tools are atoms, and a tool has the prefix `tool_`.
may_execute_tool("U:Qa", tool_repl).
may_execute_tool('U':'Cd', tool_run_shell).
may_execute_tool('U:SD', repl).
may_execute_tool('U:PM', tool_remote_trigger).
