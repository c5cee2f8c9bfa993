% expect: HG0404 error 5
% The role is tested before it is known.
role('U:Qa', tester).
barred(guest).
may_execute_tool(Agent, tool_repl) :- \+ barred(Role), role(Agent, Role).
