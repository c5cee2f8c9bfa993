% Numbers on both sides, a default for those without one, a list of exceptions.
clearance('U:PM', 3).
clearance('U:Qa', 1).
agent('U:PM'). agent('U:Qa'). agent('U:Ux').
needs(tool_repl, 1).
needs(tool_remote_trigger, 3).
level(Agent, N) :- clearance(Agent, N).
level(Agent, 0) :- agent(Agent), \+ clearance(Agent, _).
may_execute_tool(Agent, Tool) :- level(Agent, Has), needs(Tool, Wants), Has >= Wants, \+ on_leave(Agent).
on_leave('U:Ux').
