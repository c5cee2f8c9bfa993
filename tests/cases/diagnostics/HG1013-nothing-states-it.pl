% expect: HG1019 note 5
% expect: HG1013 note 5
% Until somebody is stated to be a lead, the rule never fires, and nothing is granted.
:- dynamic lead/1.
may_execute_tool(Agent, tool_remote_trigger) :- lead(Agent), active(Agent).
active('U:PM').
