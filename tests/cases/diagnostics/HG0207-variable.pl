% expect: HG0207 error 3
% A zero-argument switch with a capital letter.
Maintenance :- today(sunday).
today(sunday).
