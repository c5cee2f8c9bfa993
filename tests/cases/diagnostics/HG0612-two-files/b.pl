may_execute_tool('U:SD', tool_repl).
