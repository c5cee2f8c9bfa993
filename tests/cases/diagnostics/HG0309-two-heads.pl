% expect: HG0309 error 4
% One body for two heads: SWI-Prolog reads a clause for `,/2`.
lead('U:PM').
may_execute_tool(Agent, tool_repl), may_execute_tool(Agent, tool_run_shell) :- lead(Agent).
