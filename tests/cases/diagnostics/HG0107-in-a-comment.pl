% expect: HG0107 error 3
% A right-to-left override: an editor shows the end of the comment elsewhere.
may_execute_tool('U:SD', tool_repl). % revoked ‮ .lper_loot
