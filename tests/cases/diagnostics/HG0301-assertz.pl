% expect: HG0301 error 3
% Facts that are asserted when the file is loaded; facts can be stated.
:- assertz(may_execute_tool('U:Qa', tool_repl)).
