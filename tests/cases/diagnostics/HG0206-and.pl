% expect: HG0206 error 5
% `&&` is not Prolog.
agent('U:Qa').
active('U:Qa').
may_execute_tool(Agent, tool_repl) :- agent(Agent) && active(Agent).
