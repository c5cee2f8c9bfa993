% expect: HG1008 note 4
% expect: HG0802 error 4
% The predicate was renamed, its export was not.
:- module(governance, [may_execute/2]).
may_execute_tool('U:Qa', tool_repl).
