% expect: HG1008 note 4
% expect: HG0308 error 4
% An imported predicate that the file defines itself.
:- use_module(library(lists), [subtract/3]).
subtract(tool_run_shell, 'U:Cd', revoked).
