% Roles that include each other, refusals that are stated, one grant by name.
role_of('U:PM', lead).
role_of('U:Qa', member).
role_of('U:Cd', member).
includes(lead, member).
role_tool(lead, tool_remote_trigger).
role_tool(member, tool_repl).
given('U:Cd', tool_run_shell).
refused('U:Cd', tool_repl).
has_role(Agent, Role) :- role_of(Agent, Role).
has_role(Agent, Role) :- has_role(Agent, Higher), includes(Higher, Role).
may_execute_tool(Agent, Tool) :- has_role(Agent, Role), role_tool(Role, Tool), \+ refused(Agent, Tool).
may_execute_tool(Agent, Tool) :- given(Agent, Tool), \+ refused(Agent, Tool).
confirm_tool(Agent, tool_remote_trigger) :- role_of(Agent, lead).
may_approve(Person, Agent, Tool) :- given(Agent, Tool), role_of(Person, lead).
