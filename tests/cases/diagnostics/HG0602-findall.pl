% expect: HG0602 error 6
% expect: HG0602 error 6
% Two approvers are counted with findall.
approves(ann, deploy).
approves(bob, deploy).
two_approvers(Action) :- findall(P, approves(P, Action), Ps), length(Ps, 2).
