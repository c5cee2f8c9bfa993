% expect: HG1002 warning 5
% The suspension is asked about before the agent is known to exist.
:- dynamic suspended/1.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- \+ suspended(Agent), agent(Agent).
