% expect: HG0903 error 6
% slice: may_execute_tool/2
% query: may_approve(Who, tool_repl)
% Only the allowlist's slice is evaluated; the goal asks for what is outside it.
may_execute_tool('U:Qa', tool_repl).
may_approve('Ada', tool_repl).
