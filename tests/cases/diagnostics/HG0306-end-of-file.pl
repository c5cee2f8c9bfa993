% expect: HG0306 error 4
% Everything behind this clause is skipped by SWI-Prolog, the suspension too.
may_execute_tool('U:Qa', tool_repl).
end_of_file.
suspended('U:Qa').
