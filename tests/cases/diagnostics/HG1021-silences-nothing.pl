% expect: HG1021 warning 5
% expect: HG1021 warning 9
% expect: HG1010 warning 12
% Comments that silence nothing: at no clause, at a clause where nothing is found. Quoted text is no comment.
% horngate: allow(duplicate-clause) -- a blank line follows

may_execute_tool('U:Qa', tool_repl).
may_execute_tool('U:Cd', tool_repl).
% horngate: allow(near-name) -- nothing is near
may_execute_tool('U:PM', tool_repl).
note('% horngate: allow(duplicate-clause) -- quoted'). /* % horngate: allow(duplicate-clause) -- no line comment */
may_execute_tool('U:Cd', tool_repl).
may_note(Text, Text) :- note(Text).
