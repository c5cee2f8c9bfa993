% expect: HG0602 error 4
% A list where one of its items is meant.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), [tester, developer].
