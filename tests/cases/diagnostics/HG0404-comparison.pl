% expect: HG0404 error 4
% A number is compared before it is known.
risk(tool_repl, 2).
safe(Tool) :- Level < 3, risk(Tool, Level).
