% expect: HG0611 error 4
% The name of a limit where its value is meant.
risk(tool_repl, 4).
safe(Tool) :- risk(Tool, Level), Level < max_risk.
