% expect: HG0402 error 5
% expect: HG1001 note 5
% A lead may run any tool, also one that does not exist.
lead('U:PM').
may_execute_tool(Agent, Tool) :- lead(Agent).
