% expect: HG0903 error -
% expect: HG0402 error 8
% expect: HG1001 note 8
% expect: HG1012 note 8
% allowlist: may_execute/2
% The gate is to decide by a predicate that has a fault.
:- dynamic blocked/2.
may_execute(Agent, Action) :- \+ blocked(Agent, Action).
