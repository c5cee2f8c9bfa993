% expect: HG0302 error 3
% An operator makes grants readable, and changes how all that follows reads.
:- op(700, xfx, may_run).
'U:Qa' may_run tool_repl.
