% expect: HG0402 error 7
% expect: HG0602 error 7
% expect: HG0602 error 7
% Two approvers are counted with findall.
approves(ann, deploy).
approves(bob, deploy).
two_approvers(Action) :- findall(P, approves(P, Action), Ps), length(Ps, 2).
