% expect: HG1008 note 4
% expect: HG0308 error 4
% An import under another name.
:- use_module(library(lists), [memberchk/2 as contains]).
agent('U:Qa').
