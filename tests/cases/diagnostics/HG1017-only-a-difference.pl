% expect: HG1017 warning 5
% That a guest may not is no tie, and neither is a difference; that a clearance is high enough is one.
clearance('U:PM', 3). clearance('U:Hal', 1). needs(tool_repl, 2).
guest('U:Hal', tool_repl).
may_execute_tool(Agent, Tool) :- clearance(Agent, _), needs(Tool, _), \+ guest(Agent, Tool), Agent \== Tool.
may_execute_tool(Agent, Tool) :- clearance(Agent, Has), needs(Tool, Wants), Has >= Wants.
