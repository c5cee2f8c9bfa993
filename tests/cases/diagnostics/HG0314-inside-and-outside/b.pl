:- multifile may_execute_tool/2.
may_execute_tool('U:SD', tool_repl).
