% expect: HG0201 error 5
% `not` is no operator in SWI-Prolog.
:- dynamic suspended/1.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), not suspended(Agent).
