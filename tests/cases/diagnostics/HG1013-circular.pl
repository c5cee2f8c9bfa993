% expect: HG1019 warning 4
% expect: HG1013 warning 4
% Nobody may unless somebody who may leads them: there is no first one.
may_execute_tool(Agent, Tool) :- may_execute_tool(Lead, Tool), leads(Lead, Agent).
leads('U:PM', 'U:Qa').
