% expect: HG0310 error 6
% The block was renamed at its start only.
may_execute_tool('U:Qa', tool_repl).
:- begin_tests(tool_grants).
test(qa) :- may_execute_tool('U:Qa', tool_repl).
:- end_tests(grants).
