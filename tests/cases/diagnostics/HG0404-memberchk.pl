% expect: HG0404 error 5
% `memberchk` on a role that is not bound yet: it picks the first of the list.
role('U:Qa', tester).
may_execute_tool(Agent, tool_repl) :-
    memberchk(Role, [developer, tester]),
    role(Agent, Role).
