% expect: HG0404 error 4
% `@<` on a variable that is not bound yet.
tier('U:Qa', bronze).
basic(Agent) :- Tier @< silver, tier(Agent, Tier).
