% expect: HG0405 error 4
% `memberchk` to pick a role: it takes the first of the list only.
team(qa).
has_role(Team) :- team(Team), memberchk(Role, [developer, tester]).
