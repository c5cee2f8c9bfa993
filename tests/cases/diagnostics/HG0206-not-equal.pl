% expect: HG0206 error 4
% `!=` is not Prolog.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), Agent != 'U:Cd'.
