% expect: HG0106 error 3
% A grant copied from a web page, with a no-break space before the tool.
may_execute_tool('U:Qa', tool_repl).
