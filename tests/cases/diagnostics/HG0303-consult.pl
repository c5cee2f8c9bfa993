% expect: HG0303 error 3
% Another file is loaded by its name.
:- consult('grants.pl').
may_execute_tool('U:Qa', tool_repl).
