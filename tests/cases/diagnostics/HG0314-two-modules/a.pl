% expect: HG1008 note a.pl:4
% expect: HG0314 error b.pl:1
% Each file is a module of its own; one rulebase has one module at most.
:- module(grants, [may_execute_tool/2]).
may_execute_tool('U:Qa', tool_repl).
