% expect: HG1020 warning 5
% The prefix is missing where the tools of a team are named.
team_tool(qa, repl).
member_of('U:Qa', qa).
may_execute_tool(Agent, Tool) :- member_of(Agent, Team), team_tool(Team, Tool).
