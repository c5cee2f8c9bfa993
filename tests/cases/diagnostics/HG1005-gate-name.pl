% expect: HG1005 warning 4
% The gate asks `confirm_tool/2`, and nothing else.
may_execute_tool('U:Qa', tool_repl).
confrim_tool('U:Qa', tool_repl).
