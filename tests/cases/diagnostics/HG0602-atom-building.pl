% expect: HG0402 error 5
% expect: HG0602 error 5
% The tool's atom is built from its name.
tool(repl).
may_execute_tool('U:Qa', Tool) :- tool(Name), atom_concat(tool_, Name, Tool).
