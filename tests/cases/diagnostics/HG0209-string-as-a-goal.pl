% expect: HG0209 error 4
% A remark in a rule's body; a comment is meant.
agent('U:Qa').
may_execute_tool(Agent, tool_repl) :- "only while QA is on call", agent(Agent).
