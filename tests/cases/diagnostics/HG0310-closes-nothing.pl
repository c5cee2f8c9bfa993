% expect: HG0310 error 5
% The start of the block is gone, so its tests are clauses like any other.
may_execute_tool('U:Qa', tool_repl).
test(qa) :- may_execute_tool('U:Qa', tool_repl).
:- end_tests(grants).
