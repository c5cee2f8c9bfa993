% expect: HG1005 warning 3
% A zero-width space in a name that stands nowhere else: no caller has it, and nobody can see why.
may_execute_tool('U:​Qa', tool_repl).
