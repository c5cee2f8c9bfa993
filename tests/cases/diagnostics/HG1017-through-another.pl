% expect: HG1017 warning 5
% The rule has a literal with both, and that one does not tie them.
admin('U:PM').
tool(tool_repl).
may_execute_tool(Agent, Tool) :- pair(Agent, Tool).
pair(Agent, Tool) :- admin(Agent), tool(Tool).
