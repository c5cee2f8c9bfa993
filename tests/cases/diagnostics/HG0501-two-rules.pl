% expect: HG0501 error 5
% expect: HG0501 error 6
% Each role is what the other is not.
agent('U:Qa').
trusted(Agent) :- agent(Agent), \+ untrusted(Agent).
untrusted(Agent) :- agent(Agent), \+ trusted(Agent).
