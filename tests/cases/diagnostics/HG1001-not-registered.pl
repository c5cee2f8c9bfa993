% expect: HG1001 warning 6
% expect: HG1019 warning 6
% An agent that nobody registered gets whatever stands in the list.
agent_exists('U:Qa').
offer('U:Qa', tool_repl).
may_execute_tool(Agent, Tool) :- offer(Agent, Tool), \+ agent_exists(Agent).
