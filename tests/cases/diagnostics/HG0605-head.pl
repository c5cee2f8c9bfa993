% expect: HG0605 error 3
% A fact for a predicate of another module.
platform:suspended('U:Cd').
agent('U:Qa').
