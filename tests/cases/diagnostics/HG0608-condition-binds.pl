% expect: HG0402 error 6
% expect: HG0608 error 8
% The condition looks the limit up, and what follows uses it.
agent('U:Qa').
limit('U:Qa', 5).
budget(Agent, Amount) :-
    agent(Agent),
    ( limit(Agent, Limit) -> Amount = Limit ; Amount = 0 ).
