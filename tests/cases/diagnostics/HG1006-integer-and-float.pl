% expect: HG1006 warning 4
% `1` and `1.0` are two values.
risk(tool_search, 1).
risk(tool_repl, 1.0).
