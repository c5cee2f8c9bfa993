% expect: HG1019 warning 6
% expect: HG1003 warning 7
% expect: HG1013 warning 7
% A comma where the dot of the clause is meant: the next grant becomes a condition.
lead('U:PM').
may_execute_tool(Agent, tool_repl) :- lead(Agent),
may_execute_tool('U:Qa', tool_run_shell).
