% expect: HG0615 error 4
% A team that is its own part.
team('U:Qa', qa).
nested(Agent, Team) :- team(Agent, Team), Team = part_of(Team).
