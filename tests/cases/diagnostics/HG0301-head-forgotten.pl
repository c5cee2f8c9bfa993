% expect: HG0301 error 5
% The head of a rule was deleted: what is left would run when the file is loaded.
agent('U:Qa').
active('U:Qa').
:- agent(Agent), active(Agent).
