% expect: HG0612 error a.pl:3
% Grants of one predicate in two files: SWI-Prolog keeps those of the last file only.
may_execute_tool('U:Qa', tool_repl).
