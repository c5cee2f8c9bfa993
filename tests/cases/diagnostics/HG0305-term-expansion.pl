% expect: HG0305 error 3
% A hook that writes grants when the file is loaded.
term_expansion(grants(Agent), may_execute_tool(Agent, tool_repl)).
grants('U:Qa').
