% Negation, conditions, recursion: what needs relations of its own.

:- dynamic edge/2, node/1, blocked/1, strong/1, exempt/2, limit/2, cost/2, off/0, on/0.
:- multifile reach/2.

node(a). node(b). node(c). node(d). node(e).
edge(a, b). edge(b, c). edge(c, a). edge(c, d). edge(d, e).
blocked(d). strong(d). exempt(a, d). exempt(c, d). exempt(b, b).
limit(a, 2). limit(b, 3). cost(a, 1). cost(b, 5). cost(c, 2).
on.
reach(e, e).

reach(X, Y) :- edge(X, Y).
reach(X, Z) :- reach(X, Y), reach(Y, Z).
apart(X, Y) :- node(X), node(Y), \+ reach(X, Y).
no_way_out(X) :- node(X), \+ edge(X, _).
no_loop(X) :- node(X), \+ ( edge(X, Y), edge(Y, X) ), \+ edge(X, X).
all_weak(X) :- node(X), \+ ( edge(X, Y), \+ strong(Y) ).
nested(X) :- node(X), \+ ( edge(X, Y), \+ ( blocked(Y), \+ exempt(X, Y) ) ).
neither(X) :- node(X), \+ ( blocked(X) ; strong(X) ; edge(X, a) ).
either(X) :- node(X), \+ \+ ( blocked(X) ; edge(X, a) ).
twice(X) :- node(X), \+ \+ ( edge(X, Y), edge(Y, _) ).
if(X, Y) :- node(X), ( blocked(X) -> Y = no ; edge(X, Y) ).
if_only(X, Y) :- node(X), ( edge(X, b) -> edge(X, Y) ).
if_test(X, Y) :- cost(X, C), ( C > 3 -> Y = dear ; C < 2 -> Y = cheap ; Y = fair ).
if_both(X) :- node(X), ( limit(X, L), cost(X, C), C =< L -> true ; blocked(X) ).
over(X) :- node(X), \+ ( limit(X, L), cost(X, C), C < L ).
over_all(X) :- cost(X, C), \+ ( limit(_, L), C =< L ).
or(X) :- node(X), ( blocked(X) ; \+ edge(X, _) ; X == a ).
open :- \+ off, on.
shut :- off.
acyclic :- on, \+ ( edge(X, Y), edge(Y, X) ).
connected :- \+ ( node(X), \+ ( node(Y), edge(X, Y) ) ).
shut :- \+ on.
nothing(X) :- node(X), fail.
nothing(X) :- node(X), \+ true.
everything(X) :- node(X), \+ fail.
not_first(X) :- \+ blocked(X), node(X).
same(X, X) :- node(X).
loop(X) :- edge(X, Y), reach(Y, X), X = X.

walk(X, Y) :- edge(X, Y), \+ blocked(Y).
walk(X, Z) :- walk(X, Y), edge(Y, Z), \+ ( blocked(Z), \+ exempt(Y, Z) ).
walk_weak(X, Y) :- edge(X, Y).
walk_weak(X, Z) :- walk_weak(X, Y), edge(Y, Z), \+ ( strong(Z), edge(Z, W), \+ exempt(Y, W) ).
even(a).
even(X) :- odd(Y), edge(Y, X).
odd(X) :- even(Y), edge(Y, X).

% As long as a clause can be.
long(A) :-
    edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B),
    edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C),
    edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A),
    edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B),
    edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C),
    edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A),
    edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B),
    edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C),
    edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A),
    edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C), edge(C, A), edge(A, B), edge(B, C).

% Faulty: left out, with all that depends on it.
anybody(_).
wins(X) :- edge(X, Y), \+ wins(Y).
misspelt(X) :- node(X), \+ bloked(X).
through(X) :- node(X), \+ misspelt(X).
