% expect: HG1004 warning 8
% expect: HG1004 warning 9
% The list of the denied has strings, and who is asked about is an atom: nobody is denied.
owns(ann, tool_a).
owns(bob, tool_b).
denied("bob").
state(ann, idle).
may_execute_tool(Agent, Tool) :- owns(Agent, Tool), \+ denied(Agent).
may_execute_tool(Agent, tool_c) :- state(Agent, State), \+ State == "idle".
