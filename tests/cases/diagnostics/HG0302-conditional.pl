% expect: HG0302 error 4
% expect: HG0302 error 6
% Conditional compilation: which grants there are would depend on the machine.
:- if(current_prolog_flag(windows, true)).
may_execute_tool('U:Qa', tool_powershell).
:- endif.
