% expect: HG0313 error 3
% Two clauses on one line without a blank: the dot takes a value out of a dict.
agent('U:Qa').agent('U:SD').
