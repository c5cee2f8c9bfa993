% expect: HG1101 error 3
% A predicate with many arguments that only has facts is no obstacle; one that a rule calls is.
row(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13).
column(X) :- row(X, _, _, _, _, _, _, _, _, _, _, _, _).
:- dynamic row/13, wide/13.
