% expect: HG1021 warning 16
% silenced: HG1010 kept for the example
% silenced: HG1012 the platform fills it
% silenced: HG1015 the other rule goes in May
% Each stands at its clause and gives a reason; the last silences nothing.
granted('U:Qa', tool_repl).
:- dynamic barred/1. % horngate: allow(vacuous-negation) -- the platform fills it
granted('U:Cd', tool_repl).
% horngate: allow(HG1010) -- kept for the example
% and a comment between
granted('U:Cd', tool_repl).
may_execute_tool(Agent, Tool) :- granted(Agent, Tool), \+ barred(Agent).
may_execute_tool(Agent, Tool) :-
    granted(Agent, Tool),
    granted(Agent, tool_repl), % horngate: allow(subsumed-clause) -- the other rule goes in May
    \+ barred(Agent). % horngate: allow(dead-rule) -- it fires
