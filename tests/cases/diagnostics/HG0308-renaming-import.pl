% expect: HG0308 error 3
% An import under another name.
:- use_module(library(lists), [memberchk/2 as contains]).
agent('U:Qa').
