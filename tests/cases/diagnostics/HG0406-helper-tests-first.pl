% expect: HG1002 warning 6
% expect: HG0406 error 7
% `eligible/1` tests its argument before it binds it, which its caller leaves open.
suspended('U:Cd').
agent('U:Qa').
eligible(Agent) :- \+ suspended(Agent), agent(Agent).
team_ready(Team) :- eligible(Agent), member_of(Agent, Team).
member_of('U:Qa', qa).
