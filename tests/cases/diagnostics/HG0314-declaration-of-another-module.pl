% expect: HG0314 error 3
% A declaration for a predicate of another module.
:- dynamic platform:suspended/1.
agent('U:Qa').
