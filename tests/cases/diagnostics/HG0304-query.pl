% expect: HG0304 error 4
% A question that was tried out and left in the file.
may_execute_tool('U:Qa', tool_repl).
?- may_execute_tool(Who, tool_repl).
