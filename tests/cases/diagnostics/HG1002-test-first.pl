% expect: HG1002 warning 6
% expect: HG1012 note 6
% The suspension is asked about before the agent is known to exist.
:- dynamic suspended/1.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- \+ suspended(Agent), agent(Agent).
