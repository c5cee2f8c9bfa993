% expect: HG0315 error 3
% The file announces an encoding that it may or may not have.
:- encoding(iso_latin_1).
may_execute_tool('U:Qa', tool_repl).
