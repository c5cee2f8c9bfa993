% expect: HG1010 warning 7
% expect: HG1015 warning 8
% The same rule with other names for its variables. Another order of literals is another text, and covers the first.
lead('U:PM').
tool('U:PM', tool_remote_trigger).
may_execute_tool(Agent, Tool) :- lead(Agent), tool(Agent, Tool).
may_execute_tool(A, T) :- lead(A), tool(A, T).
may_execute_tool(A, T) :- tool(A, T), lead(A).
