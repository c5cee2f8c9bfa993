% expect: HG0301 error 3
% A directive of another system.
:- grant('U:Qa', tool_repl).
