% One fact for each grant, with names that differ by a number, by a label, by two letters.
may_execute_tool('bot:runner-1', tool_build_a).
may_execute_tool('bot:runner-2', tool_build_b).
may_execute_tool('bot:runner-10', tool_build_a).
may_execute_tool('U:Qa', tool_start_container).
may_execute_tool('U:Ux', tool_stop_container).
may_execute_tool('U:Cd', tool_lock).
may_execute_tool('U:SD', tool_block).
may_execute_tool('U:SD', tool_unblock).
