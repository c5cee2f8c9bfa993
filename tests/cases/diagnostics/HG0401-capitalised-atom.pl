% expect: HG0401 error 4
% expect: HG1001 note 4
% A name with a capital letter and without quotes.
may_execute_tool(Qa, tool_repl).
