% expect: HG0404 error 4
% The sum is computed before its parts are known.
cost(tool_repl, 2).
total(Tool, Sum) :- Sum is Cost + 1, cost(Tool, Cost).
