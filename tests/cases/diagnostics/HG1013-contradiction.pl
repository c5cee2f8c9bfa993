% expect: HG1013 warning 5
% expect: HG1013 warning 6
% A body that says yes and no, a value that differs from itself; the third rule is in order.
agent('U:Qa'). banned('U:Bad').
may_run(Agent) :- agent(Agent), banned(Agent), \+ banned(Agent).
may_walk(Agent) :- agent(Agent), Agent \== Agent.
may_stand(Agent) :- agent(Agent), \+ banned(Agent).
