% expect: HG0402 error 6
% expect: HG1001 note 6
% expect: HG1012 note 6
% Whoever is not blocked may do anything: nothing says who that can be.
:- dynamic blocked/2.
may_execute(Agent, Action) :- \+ blocked(Agent, Action).
