% expect: HG0401 error 5
% expect: HG1009 warning 5
% expect: HG1009 warning 5
% Without quotes `U` and `Qa` are variables: every agent of the form X:Y gets the tool.
may_execute_tool(U:Qa, tool_repl).
