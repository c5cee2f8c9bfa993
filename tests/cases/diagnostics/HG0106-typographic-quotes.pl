% expect: HG0106 error 4
% expect: HG0106 error 4
% A grant copied from a document that made the quotes typographic.
may_execute_tool(‘U:Qa’, tool_repl).
