% expect: HG0602 error 5
% Every check of the release must have passed.
check(release, tests).
passed(tests).
ready(Thing) :- forall(check(Thing, Check), passed(Check)).
