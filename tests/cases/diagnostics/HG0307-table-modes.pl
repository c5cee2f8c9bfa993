% expect: HG0307 error 4
% expect: HG1008 note 4
% Tabling that keeps the shortest distance only.
:- table distance(_, _, min).
distance('U:PM', 'U:Qa', 1).
