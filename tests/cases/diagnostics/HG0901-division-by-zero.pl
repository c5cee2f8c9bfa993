% expect: HG0901 error 5
% A share of nothing.
used('U:Qa', 3).
quota('U:Qa', 0).
share(Agent, S) :- used(Agent, U), quota(Agent, Q), S is U / Q.
