% expect: HG1101 error 8
% The arithmetic is done with exactly the bindings that come to it, and these are still being derived.
start(low).
next(low, high).
risk(high, 3).
limit(2).
reaches(Step) :- start(Step).
reaches(To) :- reaches(From), next(From, To), \+ ( risk(From, Risk), limit(Most), Risk > Most ).
