% expect: HG0201 error 4
% Comparisons do not chain in Prolog.
hour(9).
office_hours :- hour(Now), 8 =< Now =< 18.
