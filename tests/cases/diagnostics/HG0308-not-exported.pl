% expect: HG1008 note 4
% expect: HG0308 error 4
% The library has no predicate of this name.
:- use_module(library(lists), [contains/2]).
agent('U:Qa').
