% expect: HG0609 error 5
% The same chain, with the list built in the body.
reports_to('U:Qa', 'U:PM').
chain(A, [A]) :- reports_to(A, _).
chain(A, Chain) :- reports_to(A, B), chain(B, Rest), Chain = [A|Rest].
