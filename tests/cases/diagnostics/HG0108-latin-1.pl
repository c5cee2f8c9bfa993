% expect: HG0108 error 3
% The file was saved as Latin-1: its umlaut is no UTF-8.
may_approve('Jürgen', tool_run_shell).
