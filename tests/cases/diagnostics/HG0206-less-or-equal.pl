% expect: HG0206 error 4
% `<=` is not Prolog.
risk(tool_repl, 2).
safe(Tool) :- risk(Tool, Level), Level <= 2.
