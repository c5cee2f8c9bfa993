% expect: HG1011 warning 3
% The suspension has a reason now, and nobody told the rule: it never sees one.
:- dynamic suspended/1.
agent('U:Hal').
suspended('U:Hal', fired).
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ suspended(Agent).
