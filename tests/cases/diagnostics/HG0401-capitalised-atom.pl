% expect: HG0401 error 3
% A name with a capital letter and without quotes.
may_execute_tool(Qa, tool_repl).
