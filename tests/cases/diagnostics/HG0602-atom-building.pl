% expect: HG0602 error 4
% The tool's atom is built from its name.
tool(repl).
may_execute_tool('U:Qa', Tool) :- tool(Name), atom_concat(tool_, Name, Tool).
