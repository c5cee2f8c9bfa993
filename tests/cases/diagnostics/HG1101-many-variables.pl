% expect: HG1101 error 6
% The conjunction is about more variables of the rule than a relation can have arguments.
left(1, 1, 1, 1, 1, 1, 1).
right(1, 1, 1, 1, 1, 1, 1).
closed(1, why).
fitting(A0) :- left(A0, A1, A2, A3, A4, A5, A6), right(B0, B1, B2, B3, B4, B5, B6), \+ ( left(A0, A1, A2, A3, A4, A5, A6), right(B0, B1, B2, B3, B4, B5, B6), closed(A0, Why), closed(B0, Why) ).
