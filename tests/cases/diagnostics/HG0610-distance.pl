% expect: HG0610 error 5
% How far up the chain of command somebody is.
reports_to('U:Qa', 'U:PM').
distance(A, B, 1) :- reports_to(A, B).
distance(A, C, N) :- reports_to(A, B), distance(B, C, M), N is M + 1.
