% expect: HG1015 warning 5
% The rule for one pair stands beside the fact that grants it anyway; the other rule has no such fact.
lead('U:PM').
may_execute_tool('U:PM', tool_remote_trigger).
may_execute_tool('U:PM', tool_remote_trigger) :- lead('U:PM').
may_execute_tool('U:PM', tool_repl) :- lead('U:PM').
