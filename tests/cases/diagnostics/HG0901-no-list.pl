% expect: HG0901 error 5
% The brackets around the one denied tool are missing: Prolog raises, and nothing may be granted.
agent('U:Qa').
denied('U:Qa', tool_repl).
may_execute_tool(Agent, tool_repl) :- agent(Agent), denied(Agent, Tools), \+ memberchk(tool_repl, Tools).
