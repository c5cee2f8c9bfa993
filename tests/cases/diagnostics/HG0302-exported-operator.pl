% expect: HG1008 note 4
% expect: HG0302 error 4
% A module that exports an operator.
:- module(governance, [may_execute_tool/2, op(700, xfx, may_run)]).
may_execute_tool('U:Qa', tool_repl).
