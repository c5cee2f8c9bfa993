% expect: HG0310 error 4
% Tests at the end of the file, whose last line was lost.
may_execute_tool('U:Qa', tool_repl).
:- begin_tests(grants).
test(qa) :- may_execute_tool('U:Qa', tool_repl).
