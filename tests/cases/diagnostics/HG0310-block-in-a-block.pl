% expect: HG0310 error 6
% expect: HG0310 error 9
% The first block is closed too late.
may_execute_tool('U:Qa', tool_repl).
:- begin_tests(grants).
:- begin_tests(denials).
test(nobody, [fail]) :- may_execute_tool('NOBODY', _).
:- end_tests(denials).
:- end_tests(grants).
