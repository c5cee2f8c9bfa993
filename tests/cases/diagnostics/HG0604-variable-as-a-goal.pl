% expect: HG0604 error 5
% Each tool's condition is a goal in a fact.
condition(tool_repl, office_hours).
office_hours.
may_execute_tool('U:Qa', Tool) :- condition(Tool, Goal), Goal.
