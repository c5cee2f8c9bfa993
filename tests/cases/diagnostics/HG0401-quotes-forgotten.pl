% expect: HG0401 error 4
% expect: HG1001 note 4
% Without quotes `U` and `Qa` are variables: every agent of the form X:Y gets the tool.
may_execute_tool(U:Qa, tool_repl).
