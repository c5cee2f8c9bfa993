% expect: HG0403 error 6
% expect: HG1012 note 6
% "Not blocked for any reason", with a name where no name is meant.
:- dynamic blocked/2.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent), \+ blocked(Agent, Reason).
