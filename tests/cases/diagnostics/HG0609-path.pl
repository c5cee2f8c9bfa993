% expect: HG0609 error 5
% The chain of command, collected in a list.
reports_to('U:Qa', 'U:PM').
chain(A, B, [A, B]) :- reports_to(A, B).
chain(A, C, [A|Rest]) :- reports_to(A, B), chain(B, C, Rest).
