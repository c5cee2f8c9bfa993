% expect: HG0204 error 3
% A blank before the bracket, as in prose.
may_execute_tool ('U:Qa', tool_repl).
