% expect: HG1015 warning 6
% The second rule asks for more and grants less: the suspension counts for nothing.
granted('U:Cd', tool_run_shell).
suspended('U:Cd').
may_execute_tool(Agent, Tool) :- granted(Agent, Tool).
may_execute_tool(Agent, Tool) :- granted(Agent, Tool), \+ suspended(Agent).
