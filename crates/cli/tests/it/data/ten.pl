% ten different errors and more; nothing of this may load
:- dynamic blocked/1.
user(ann).
user(bob).
:- initialization(shell('touch ran')).
may_execute_tool(U:Qa, tool_repl).
may_execute_tool(U, tool_repl) :- user(U), not blocked(U).
role(U, admin) :- \+ blocked(X), user(U).
p(X) :- user(X), \+ q(X).
q(X) :- user(X), \+ p(X).
r(X) :- user(X), usr(X).
s(X) :- user(X, tool).
t(X) :- user(X), !.
u(X) :- user(X), assertz(seen(X)).
v(X) :- findall(Y, user(Y), X).
w('unterminated).
