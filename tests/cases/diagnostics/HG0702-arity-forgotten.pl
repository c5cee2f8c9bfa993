% expect: HG0702 error 3
% A declaration without the number of arguments.
:- dynamic suspended.
agent('U:Qa').
