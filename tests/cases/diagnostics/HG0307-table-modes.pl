% expect: HG0307 error 3
% Tabling that keeps the shortest distance only.
:- table distance(_, _, min).
distance('U:PM', 'U:Qa', 1).
