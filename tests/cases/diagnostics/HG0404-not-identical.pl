% expect: HG0404 error 4
% `\==` on a variable that is not bound yet: it holds, whatever the role is.
role('U:Qa', tester).
may_execute_tool(Agent, tool_repl) :- Role \== guest, role(Agent, Role).
