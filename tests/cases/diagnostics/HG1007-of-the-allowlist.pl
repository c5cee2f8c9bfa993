% expect: HG0602 note 7
% expect: HG1007 warning 7
% check: may_execute_tool/2
% The clause is no matter of the allowlist, but what it changes in Prolog is.
member_of('U:Qa', testers). team_tool(testers, tool_repl).
suspended('U:Qa').
strike(Agent) :- member_of(Agent, _), assertz(suspended(Agent)).
may_execute_tool(Agent, Tool) :- member_of(Agent, Team), team_tool(Team, Tool), \+ suspended(Agent).
may_execute_tool('U:PM', tool_repl).
