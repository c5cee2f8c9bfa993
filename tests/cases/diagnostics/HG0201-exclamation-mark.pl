% expect: HG0201 error 5
% The exclamation mark is the cut, not a negation.
:- dynamic suspended/1.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), !suspended(Agent).
