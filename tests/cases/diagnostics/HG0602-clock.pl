% expect: HG0602 error 4
% A grant that expires by the clock of the machine.
expires('U:Cd', 1767225600).
active(Agent) :- expires(Agent, End), get_time(Now), Now < End.
