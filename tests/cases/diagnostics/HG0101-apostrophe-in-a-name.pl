% expect: HG0101 error 4
% An apostrophe in a person's name ends the quoted atom.
may_approve('Ada', tool_run_shell).
may_approve('O'Brien', tool_run_shell).
