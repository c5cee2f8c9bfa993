% expect: HG0801 error 3
% The facts come from the platform, and nothing declares them.
may_execute_tool(Agent, tool_repl) :- registered(Agent).
