% expect: HG1019 warning 5
% There are rules and facts, and nobody who gets anything by them.
member_of('U:Qa', qa).
team_tool(dev, tool_repl).
may_execute_tool(Agent, Tool) :- member_of(Agent, Team), team_tool(Team, Tool).
