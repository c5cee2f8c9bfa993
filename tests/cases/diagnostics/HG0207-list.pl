% expect: HG0207 error 3
% A list of agents where a fact for each is meant; SWI-Prolog takes each item for a clause.
['U:Qa', 'U:SD'].
