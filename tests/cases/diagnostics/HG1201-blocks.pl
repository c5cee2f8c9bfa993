% expect: HG1201 error 10
% expect: HG1201 error 13
% expect: HG1201 error 15
% expect: HG1201 error 15
% expect: HG1201 error 20
% What stands in a block beside its tests is a part of the block's own module in Prolog, and hides the rules.
role(ann, dev).
:- begin_tests(helpers).
test(dev) :- role(ann, dev).
role(bob, dev).
:- end_tests(helpers).
:- begin_tests(declares).
:- dynamic role/2.
:- end_tests(declares).
:- begin_tests(prepares, [setup(true), cleanup(true)]).
test(dev) :- role(ann, dev).
:- end_tests(prepares).
:- begin_tests(one_line).
test(dev) :- role(ann, dev).
test(ops) :- role(ann, ops). test(ops) :- role(ann, dev).
:- end_tests(one_line).
