% expect: HG0105 error 3
% SWI-Prolog has no sign before a number with a base.
offset(audit, -16'ff).
