% expect: HG0401 error 3
% Without quotes `U` and `Qa` are variables: every agent of the form X:Y gets the tool.
may_execute_tool(U:Qa, tool_repl).
