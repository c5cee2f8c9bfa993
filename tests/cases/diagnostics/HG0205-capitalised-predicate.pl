% expect: HG0205 error 4
% expect: HG0205 error 5
% A predicate's name with a capital letter is a variable.
Role('U:Qa', tester).
may_execute_tool(Agent, tool_repl) :- Role(Agent, tester).
