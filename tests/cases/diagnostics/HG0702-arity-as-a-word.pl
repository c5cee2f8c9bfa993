% expect: HG0702 error 3
% The number of arguments as a word.
:- dynamic suspended/one.
agent('U:Qa').
