% expect: HG0601 error 5
% First clause wins, as in a program.
role('U:PM', lead).
agent('U:PM').
may_execute_tool(Agent, tool_repl) :- role(Agent, lead), !.
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ role(Agent, guest).
