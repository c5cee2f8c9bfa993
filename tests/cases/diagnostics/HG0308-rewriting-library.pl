% expect: HG0308 error 3
% A library that rewrites the clauses that are loaded behind it.
:- use_module(library(clpfd)).
risk(tool_repl, 2).
