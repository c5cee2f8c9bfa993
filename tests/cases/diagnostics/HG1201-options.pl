% expect: HG1201 error 14
% expect: HG1201 error 15
% expect: HG1201 error 16
% expect: HG1201 error 17
% expect: HG1201 error 18
% expect: HG1201 error 19
% expect: HG1201 error 20
% expect: HG1201 error 21
% expect: HG1201 error 22
% expect: HG1201 error 23
% expect: HG1201 error 24
role(ann, dev).
:- begin_tests(options).
test(raises, [throws(_)]) :- role(ann, dev).
test(prepares, [setup(true)]) :- role(ann, dev).
test(twice, [true, fail]) :- role(ann, dev).
test(no_list, [all(role)]) :- role(ann, _).
test(open_list, [all(Role == Roles)]) :- role(ann, Role), role(Roles, _).
test(open_item, [all(Role == [_])]) :- role(ann, Role).
test(bag, [bag(Role == [dev])]) :- role(ann, Role).
test(later, [fixme(why)]) :- role(ann, ops).
test(mistyped, [fails]) :- role(ann, ops).
test(no_goal).
test(f(x)) :- role(ann, dev).
:- end_tests(options).
