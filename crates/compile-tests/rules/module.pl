% A module: what it does not export cannot be asked from outside.
:- module(policy, [shown/1, fact/1]).

:- dynamic fact/1.

fact(a).
hidden(X) :- fact(X).
shown(X) :- hidden(X).
