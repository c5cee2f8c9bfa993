% expect: HG1014 note 5
% The rule that asked for it is gone: whoever bars an agent here bars nobody. What the gate asks by name is used.
granted('U:Cd', tool_run_shell).
may_execute_tool(Agent, Tool) :- granted(Agent, Tool).
barred('U:Cd').
confirm_tool('U:Cd', tool_run_shell).
