% expect: HG1008 note a.pl:4
% expect: HG0803 error b.pl:1
% The second file calls what the module keeps for itself.
:- module(roles, [role/2]).
role('U:Qa', tester).
clearance(tester, low).
