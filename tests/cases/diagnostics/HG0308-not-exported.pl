% expect: HG0308 error 3
% The library has no predicate of this name.
:- use_module(library(lists), [contains/2]).
agent('U:Qa').
