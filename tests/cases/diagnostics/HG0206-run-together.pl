% expect: HG0206 error 4
% The neck and the negation are read as one run of symbol characters.
:- dynamic incident/0.
open_for_business :-\+ incident.
