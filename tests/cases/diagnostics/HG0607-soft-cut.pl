% expect: HG0607 error 8
% The team's own tools, or else the defaults.
member_of('U:Qa', qa).
default_tool(tool_search).
team_tool(qa, tool_repl).
may_execute_tool(Agent, Tool) :-
    member_of(Agent, Team),
    ( team_tool(Team, Tool) *-> true ; default_tool(Tool) ).
