% expect: HG1013 warning 6
% expect: HG1013 note 7
% The role is misspelt: nobody has it. Of a predicate that is declared, facts may come.
:- dynamic level/2.
role('U:PM', admin). role('U:Qa', tester). level('U:Qa', low).
may_execute_tool(Agent, tool_remote_trigger) :- role(Agent, admn).
may_execute_tool(Agent, tool_run_shell) :- level(Agent, high).
may_execute_tool(Agent, tool_repl) :- role(Agent, admin).
may_execute_tool(Agent, tool_repl) :- derived(Agent, other).
derived(Agent, Any) :- role(Agent, Any).
