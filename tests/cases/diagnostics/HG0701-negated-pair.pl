% expect: HG0701 error 6
% Without a blank the brackets hold two arguments.
agent('U:Qa').
role('U:Qa', tester).
barred(guest).
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+(role(Agent, Role), barred(Role)).
