% expect: HG0701 error 4
% `memberchk` with three arguments.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), memberchk(Agent, ['U:Qa'], yes).
