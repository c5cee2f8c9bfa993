% Terms, lists, numbers and their order: what is taken apart, made, counted and compared.

:- dynamic item/1, pair/2, list/1, num/1, level/2, nobody/1.

item(f(a, 1)). item(f(b, 2)). item(g(f(a, 1))). item(h). item(f(a, a)). item("f").

pair(f(a), a). pair(f(a), b). pair(g(f(a), [a, b]), f(a)). pair(a, f(a)).
list([]). list([a]). list([a, b, c]). list([f(a), [b]|tail]). list([1, 1.0, "1"]).
num(3). num(-2). num(2.5). num(0). num(123456789012345678901234567890).
level(ann, 3). level(bob, 1). level(eve, 2).

first(X) :- item(f(X, _)).
same(X) :- item(f(X, X)).
nested(X, N) :- item(g(f(X, N))).
wrapped(w(X, [Y|Z])) :- pair(X, Y), list(Z).
inside(X) :- pair(f(X), X).
bound(X) :- level(X, _), \+ pair(f(X), X).
bound(X) :- pair(Y, X), pair(f(Y), _).
unwrapped(X, Y) :- pair(P, _), P = g(f(X), [X, Y]).
not_f(X) :- item(X), X \= f(_, _).
not_f_a(X) :- item(X), \+ X = f(a, _).
made(X) :- level(N, L), X = made(N, level(L)).

members(X) :- list(L), member(X, L).
deep(X) :- list(L), member(f(X), L).
with_b(L) :- list(L), memberchk(b, L).
without_a(L) :- list(L), \+ memberchk(a, L).
some(X, Y) :- level(X, L), member(Y, [X, L, f(X)|[end]]).
chosen(X) :- level(X, _), memberchk(X, [ann, f(X), bob]).
of_tail(X) :- list([_|T]), member(X, T).

before(X, Y) :- item(X), item(Y), X @< Y.
least(X) :- item(X), \+ ( item(Y), Y @< X ).
at_most(X) :- item(X), X @=< h.
differs(X, Y) :- pair(X, Y), X \== Y.
built(X) :- pair(X, Y), X == f(Y).

small(X) :- num(X), X < 1.
equal(X, Y) :- num(X), num(Y), X =:= Y.
unequal(X) :- num(X), X =\= 0.
sum(S) :- level(_, A), level(_, B), S is A + B * 2.
square(S) :- num(X), X > 0, S is X * X.
odd(X) :- level(X, L), 1 is L mod 2.
half(X, H) :- level(X, L), H is L / 2.
all(X, A, B, C, D, E) :-
    level(X, L), A is -L, B is abs(-L), C is min(L, 2), D is max(L, 2.0), E is (7 // L) rem 2 - +L.
itself(X) :- level(_, L), X is L.
tested_first(X) :- X < 3, level(_, X).
high(X) :- level(X, L), \+ ( level(_, M), M > L ).
at_least(X, Y) :- level(X, L), level(Y, M), \+ L < M, X \== Y.
constant(a, 1, 1.0, "text", [], [a, b|c], f(x, [y])) :- level(ann, 3).

% Without a value: these, and what depends on them, have no model; the rest does.
broken(X) :- item(X), X > 1.
broken_too(X) :- level(X, _), \+ broken(X).
broken_late(X) :- level(X, L), 1 =< 10 / (L - 1).
broken_list(X) :- item(X), memberchk(a, X).
fine(X) :- level(X, L), L > 1, 1 =< 10 / (L - 1).
