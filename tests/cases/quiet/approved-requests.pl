% A request that somebody approved is a decision, and so is a call rota.
approved_request('U:Qa', tool_repl).
approved_request('U:Bad', tool_repl).
on_call('U:Cd').
rota_tool('U:Cd', tool_run_shell).
known_bad('U:Bad').
may_execute_tool(Agent, Tool) :- approved_request(Agent, Tool), \+ known_bad(Agent).
may_execute_tool(Agent, Tool) :- on_call(Agent), rota_tool(Agent, Tool), \+ known_bad(Agent).
