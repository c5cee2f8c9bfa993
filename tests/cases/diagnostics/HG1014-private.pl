% expect: HG1008 note 3
% expect: HG1014 note 7
:- module(policy, [on_duty/1]).
% What a module exports may be used from outside; what it keeps to itself and does not use, nothing uses.
agent('U:Qa').
on_duty(Agent) :- agent(Agent).
off_duty(Agent) :- agent(Agent), \+ on_duty(Agent).
