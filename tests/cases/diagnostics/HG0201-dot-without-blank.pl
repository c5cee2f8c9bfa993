% expect: HG0201 error 3
% Two clauses on one line without a blank: Prolog would read a dict's dot, not an end.
agent('U:Qa').agent('U:SD').
