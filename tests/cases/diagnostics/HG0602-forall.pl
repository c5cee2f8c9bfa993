% expect: HG0402 error 6
% expect: HG0602 error 6
% Every check of the release must have passed.
check(release, tests).
passed(tests).
ready(Thing) :- forall(check(Thing, Check), passed(Check)).
