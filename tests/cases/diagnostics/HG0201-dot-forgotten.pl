% expect: HG0201 error 4
% The dot behind the first grant is forgotten.
may_execute_tool('U:Qa', tool_repl)
may_execute_tool('U:SD', tool_repl).
