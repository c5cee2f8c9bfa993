% expect: HG0611 error 4
% A score with a square root.
risk(tool_repl, 4).
score(Tool, S) :- risk(Tool, Level), S is sqrt(Level).
