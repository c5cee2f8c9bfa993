% expect: HG0602 error 4
% A predicate that SWI-Prolog would load from library(lists).
order([low, medium, high]).
highest(Level) :- order(Levels), last(Levels, Level).
