% expect: HG0404 error 5
% The condition tests the role before the role is known.
role('U:Qa', tester).
may_execute_tool(Agent, tool_repl) :-
    ( Role == guest -> fail ; true ),
    role(Agent, Role).
