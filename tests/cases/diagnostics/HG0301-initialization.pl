% expect: HG0301 error 3
% A program's start, left in its rules.
:- initialization(main).
may_execute_tool('U:Qa', tool_repl).
