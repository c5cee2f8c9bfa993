% expect: HG1012 warning 6
% The facts have the atom, and the negation asks for the number.
owns(ann, tool_a).
owns(bob, tool_b).
level(bob, '1').
may_execute_tool(Agent, Tool) :- owns(Agent, Tool), \+ level(Agent, 1).
