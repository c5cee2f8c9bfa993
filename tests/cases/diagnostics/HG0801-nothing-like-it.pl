% expect: HG0402 error 4
% expect: HG0801 error 4
% The facts come from the platform, and nothing declares them.
may_execute_tool(Agent, tool_repl) :- registered(Agent).
