% expect: HG0105 error 3
% A time limit with its unit: neither a number nor a name.
time_limit(tool_run_shell, 30s).
