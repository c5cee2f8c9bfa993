% expect: HG0402 error 5
% expect: HG1001 note 5
% Whoever is not blocked may do anything: nothing says who that can be.
:- dynamic blocked/2.
may_execute(Agent, Action) :- \+ blocked(Agent, Action).
