% expect: HG0103 error 5
% expect: HG0202 error 8
% A block that already holds a comment is commented out as a whole.
may_execute_tool('U:SD', tool_repl).
/* paused
may_execute_tool('U:Qa', tool_repl).  /* asked for by QA */
may_execute_tool('U:Cd', tool_run_shell).
*/
