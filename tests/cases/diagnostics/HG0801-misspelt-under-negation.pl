% expect: HG0801 error 5
% A misspelt predicate under `\+`: read as "nobody is suspended" it would grant.
suspended('U:Qa').
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ suspendet(Agent).
