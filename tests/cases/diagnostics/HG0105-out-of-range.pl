% expect: HG0105 error 3
% A limit that was meant to be "no limit".
spending_limit('U:PM', 1.0e999).
