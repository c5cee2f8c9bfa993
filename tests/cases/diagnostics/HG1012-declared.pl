% expect: HG1012 note 6
% The list of what is blocked is empty: as the file stands, nothing is.
:- dynamic blocked/2.
member_of('U:Qa', qa).
team_tool(qa, tool_repl).
may_execute_tool(Agent, Tool) :- member_of(Agent, Team), team_tool(Team, Tool), \+ blocked(Agent, Tool).
