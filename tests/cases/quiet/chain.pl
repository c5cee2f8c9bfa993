% Recursion with a start, a condition with an else, the same literal in two rules that ask for different things.
reports_to('U:Qa', 'U:PM').
reports_to('U:SD', 'U:Qa').
above(Boss, Agent) :- reports_to(Agent, Boss).
above(Boss, Agent) :- reports_to(Agent, Between), above(Boss, Between).
trained('U:SD', repl_course).
trained('U:Qa', shell_course).
course_for(tool_repl, repl_course).
course_for(tool_run_shell, shell_course).
may_execute_tool(Agent, Tool) :- trained(Agent, Course), course_for(Tool, Course).
may_execute_tool(Boss, Tool) :- above(Boss, Agent), trained(Agent, Course), course_for(Tool, Course).
may_execute_tool(Agent, tool_remote_trigger) :- above(Agent, Other), ( trained(Other, _) -> true ; above(Other, _) ).
