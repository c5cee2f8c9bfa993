% expect: HG0902 error 6
% budget: clauses 2
% A list of grants that somebody has made far too long.

may_execute_tool('U:Qa', tool_repl).
may_execute_tool('U:Qa', tool_edit). may_execute_tool('U:Qa', tool_shell).
