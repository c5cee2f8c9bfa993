% expect: HG1005 warning 9
% expect: HG1005 warning 10
% expect: HG1005 warning 11
% expect: HG1005 warning 12
% Names that differ in case, in one letter, in a letter that is only drawn alike, in a blank: each is somebody else.
member_of('U:Qa', qa). member_of('J:Junior', qa). member_of('ops:Paul', qa).
member_of('U:Hal', qa).
team_tool(qa, tool_repl).
suspended('U:QA').
suspended('J:Junoir').
suspended('ops:Pаul').
suspended('U:Hal ').
may_execute_tool(Agent, Tool) :- member_of(Agent, Team), team_tool(Team, Tool), \+ suspended(Agent).
