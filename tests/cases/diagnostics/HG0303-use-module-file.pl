% expect: HG0303 error 3
% A module in another file.
:- use_module('policy/roles').
may_execute_tool('U:Qa', tool_repl).
