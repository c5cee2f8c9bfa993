% expect: HG0405 error 5
% expect: HG1009 warning 5
% `memberchk` to pick a role: it takes the first of the list only.
team(qa).
has_role(Team) :- team(Team), memberchk(Role, [developer, tester]).
