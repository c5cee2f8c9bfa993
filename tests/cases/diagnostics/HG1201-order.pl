% expect: HG1008 note 8
% expect: HG1201 error 18
% expect: HG1201 error 19
% expect: HG1201 error 20
% expect: HG1201 error 21
% What these expect depends on the order of answers, and that is the order of a table or of an endless search. The last
% ranges over nothing.
:- table reaches/2.
edge(a, b).
edge(b, a).
reaches(X, Y) :- edge(X, Y).
reaches(X, Z) :- edge(X, Y), reaches(Y, Z).
linked(X, Y) :- edge(X, Y).
linked(X, Z) :- edge(X, Y), linked(Y, Z).
:- begin_tests(order).
test(any_order, [set(Y == [a, b])]) :- reaches(a, Y).
test(certain, [fail]) :- linked(a, c).
test(table, [all(Y == [b, a])]) :- reaches(a, Y).
test(endless, [all(Y == [b, a])]) :- linked(a, Y).
test(first_of_a_table, [X == b]) :- reaches(X, a).
test(nothing, [forall(edge(c, X))]) :- reaches(a, X).
:- end_tests(order).
