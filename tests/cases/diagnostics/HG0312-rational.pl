% expect: HG0312 error 3
% A share written as a rational number.
quota('U:Qa', 1r3).
