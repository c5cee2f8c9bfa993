% expect: HG1008 note a.pl:4
% expect: HG0314 error b.pl:2
% A module's predicate gets a fact in a file that is no part of the module.
:- module(grants, [may_execute_tool/2]).
:- multifile may_execute_tool/2.
may_execute_tool('U:Qa', tool_repl).
