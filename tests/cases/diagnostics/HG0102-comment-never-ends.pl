% expect: HG0102 error 4
% A block comment that was meant to cover one revoked grant takes the rest of the file.
may_execute_tool('U:SD', tool_repl).
/* revoked 2025-03-01:
may_execute_tool('U:Cd', tool_run_shell).
may_execute_tool('U:Qa', tool_repl).
