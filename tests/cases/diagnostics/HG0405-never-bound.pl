% expect: HG0405 error 4
% The limit was a fact once; now nothing says what it is.
risk(tool_repl, 2).
safe(Tool) :- risk(Tool, Level), Level =< Limit, Limit > 0.
