% expect: HG1005 warning 4
% Two predicates, one letter apart: the second suspension counts for nothing.
suspended('U:Cd').
suspnded('J:Junior').
