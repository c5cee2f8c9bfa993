% expect: HG0202 error 4
% The last grant was added without its dot.
may_execute_tool('U:SD', tool_repl).
may_execute_tool('U:Qa', tool_repl)