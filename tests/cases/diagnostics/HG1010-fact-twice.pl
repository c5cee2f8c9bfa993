% expect: HG1010 warning 5
% A grant that stands twice: whoever revokes one of the two revokes nothing.
may_execute_tool('U:Qa', tool_repl).
may_execute_tool('U:SD', tool_repl).
may_execute_tool('U:Qa', tool_repl).
