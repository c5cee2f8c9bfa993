% expect: HG0302 error 3
% The flag makes another value of every string behind it.
:- set_prolog_flag(double_quotes, atom).
may_execute_tool("U:Qa", tool_repl).
