% expect: HG0602 error 7
% expect: HG1007 warning 7
% expect: HG1012 note 8
% An old rule suspends agents while the platform runs; the gate never sees that.
:- dynamic suspended/1.
agent('U:Qa').
strike(Agent) :- agent(Agent), assertz(suspended(Agent)).
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ suspended(Agent).
