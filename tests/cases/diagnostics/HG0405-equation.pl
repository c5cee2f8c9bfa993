% expect: HG0405 error 4
% Two variables that are equal, and neither is ever bound.
agent('U:Qa').
same_team(Agent) :- agent(Agent), Team = Other, Other = Team.
