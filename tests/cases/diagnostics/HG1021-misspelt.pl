% expect: HG1021 warning 7
% expect: HG1021 warning 8
% expect: HG1021 warning 9
% expect: HG1021 warning 10
% expect: HG1021 warning 11
% Comments that are meant to silence a lint and say it wrong.
may_execute_tool('U:Qa', tool_repl). % horngate: allow(near-names) -- two people
may_execute_tool('U:Cd', tool_repl). % horngate: allow(near-name)
may_execute_tool('U:PM', tool_repl). % horngate: allow(unsafe) -- it is fine
may_execute_tool('U:SD', tool_repl). % horngate allow(near-name) -- two people
may_execute_tool('U:Ux', tool_repl). % horngate: deny(near-name) -- two people
% horngate is the name of this gate: a comment that only speaks of it says nothing.
