% expect: HG0614 error 4
% The dot behind a fact is missing: the directive below becomes its body.
agent('U:Qa').
agent('U:SD')
:- dynamic suspended/1.
may_execute_tool(Agent, tool_repl) :- agent(Agent).
