% expect: HG1001 note 7
% expect: HG1002 warning 7
% expect: HG0402 error 8
% expect: HG1001 note 8
% The allowlist itself binds all, by a predicate that does not.
barred('U:Bad', tool_repl).
may_execute_tool(Agent, Tool) :- open_to(Agent, Tool).
open_to(Agent, Tool) :- \+ barred(Agent, Tool).
