% expect: HG0613 error 4
% Fourteen questions with two ways each to pass: 16384 alternatives.
may_execute_tool(Agent, tool_deploy) :-
    agent(Agent),
    ( passed(Agent, q01) ; waived(Agent, q01) ),
    ( passed(Agent, q02) ; waived(Agent, q02) ),
    ( passed(Agent, q03) ; waived(Agent, q03) ),
    ( passed(Agent, q04) ; waived(Agent, q04) ),
    ( passed(Agent, q05) ; waived(Agent, q05) ),
    ( passed(Agent, q06) ; waived(Agent, q06) ),
    ( passed(Agent, q07) ; waived(Agent, q07) ),
    ( passed(Agent, q08) ; waived(Agent, q08) ),
    ( passed(Agent, q09) ; waived(Agent, q09) ),
    ( passed(Agent, q10) ; waived(Agent, q10) ),
    ( passed(Agent, q11) ; waived(Agent, q11) ),
    ( passed(Agent, q12) ; waived(Agent, q12) ),
    ( passed(Agent, q13) ; waived(Agent, q13) ),
    ( passed(Agent, q14) ; waived(Agent, q14) ).
:- dynamic passed/2, waived/2.
agent('U:Qa').
