% expect: HG0312 error 3
% "No limit" as infinity.
spending_limit('U:PM', 1.0Inf).
