% expect: HG1017 warning 7
% expect: HG1009 warning 7
% expect: HG1009 warning 7
% A misspelt variable: any agent of any team gets the tools of any team.
member_of('U:Qa', qa).
team_tool(dev, tool_repl).
may_execute_tool(Agent, Tool) :- member_of(Agent, Team), team_tool(Taem, Tool).
