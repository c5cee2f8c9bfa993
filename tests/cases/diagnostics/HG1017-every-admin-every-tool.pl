% expect: HG1017 warning 5
% Every admin, every tool. A rule that names its tools or its actor says for whom and for what.
admin('U:PM').
tool(tool_repl).
may_execute_tool(Agent, Tool) :- admin(Agent), tool(Tool).
may_execute_tool(Agent, tool_kill) :- admin(Agent).
may_execute_tool('U:Qa', Tool) :- tool(Tool).
may_execute_tool(Agent, Tool) :- admin(Agent), member(Tool, [tool_repl, tool_run_shell]).
