% expect: HG0107 error 3
% A name that looks like another one on the screen.
may_execute_tool('U:‮aQ', tool_run_shell).
