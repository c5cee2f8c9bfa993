% expect: HG1012 note 7
% One finding for each predicate, with all its places; a negation of two, both of them stated, is not among them.
:- dynamic barred/1.
granted('U:Qa', tool_repl).
guest('U:Hal').
trainee('U:Hal').
may_execute_tool(Agent, Tool) :- granted(Agent, Tool), \+ barred(Agent), \+ ( guest(Agent), trainee(Agent) ).
may_read(Agent) :- guest(Agent), \+ ( trainee(Agent), barred(Agent) ), ( barred(Agent) -> fail ; true ).
