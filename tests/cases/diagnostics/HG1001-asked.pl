% expect: HG1001 warning 8
% expect: HG1012 note 8
% expect: HG1012 note 8
% Whoever asks is allowed: the relation of requests binds the variables, and no literal asks for a decision.
:- dynamic known_agent/1.
:- dynamic barred/2.
asked('NOBODY', tool_rm_rf_slash).
may_execute_tool(Agent, Tool) :- asked(Agent, Tool), \+ known_agent(Agent), \+ barred(Agent, Tool).
