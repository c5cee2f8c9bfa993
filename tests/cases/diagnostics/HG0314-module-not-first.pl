% expect: HG0314 error 4
% `module/2` below a declaration.
:- dynamic suspended/1.
:- module(governance, [may_execute_tool/2]).
may_execute_tool('U:Qa', tool_repl).
