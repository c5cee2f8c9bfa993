% expect: HG0501 error 4
% Approval depends on risk, risk on tools, tools on approval.
agent('U:Qa').
approved(Agent) :- agent(Agent), \+ risky(Agent).
risky(Agent) :- agent(Agent), has_tools(Agent).
has_tools(Agent) :- approved(Agent).
