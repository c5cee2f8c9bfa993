% expect: HG0402 error 5
% expect: HG1001 note 5
% One tool for whoever is not banned: the tool is named, and the actor is anybody.
banned('U:Bad').
may_execute_tool(Agent, tool_repl) :- \+ banned(Agent).
