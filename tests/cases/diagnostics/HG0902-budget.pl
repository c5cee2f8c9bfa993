% expect: HG0902 error 8
% budget: tuples 10
% Every pair of agents, and a budget that is too small for them.
agent('U:Qa').
agent('U:SD').
agent('U:PM').
agent('U:Cd').
pair(A, B) :- agent(A), agent(B).
