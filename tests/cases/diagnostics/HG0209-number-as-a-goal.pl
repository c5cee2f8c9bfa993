% expect: HG0209 error 4
% The comparison was deleted, its number was not.
risk(tool_repl, 2).
safe(Tool) :- risk(Tool, _), 2.
