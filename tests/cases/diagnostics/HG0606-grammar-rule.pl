% expect: HG0606 error 3
% A grammar for commands amid the rules.
command --> [git], subcommand.
may_execute_tool('U:Qa', tool_repl).
