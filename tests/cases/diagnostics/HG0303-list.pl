% expect: HG0303 error 3
% The short form of `consult`.
:- [grants, suspensions].
