% expect: HG1016 note 7
% Somebody is suspended whom nobody grants anything: a name that has gone, or a misspelt one.
:- dynamic suspended/1.
granted('U:Qa', tool_repl).
granted('U:Cd', tool_run_shell).
suspended('U:Cd').
suspended('J:Gone').
may_execute_tool(Agent, Tool) :- granted(Agent, Tool), \+ suspended(Agent).
