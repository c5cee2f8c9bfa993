% expect: HG0101 error 5
% The closing quote behind an agent's name is forgotten.
agent('U:PM').
may_execute_tool('U:PM', tool_remote_trigger).
may_execute_tool('U:Qa, tool_repl).
