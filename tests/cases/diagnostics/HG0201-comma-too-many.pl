% expect: HG0201 error 3
% The last argument was removed, its comma was not.
agent('U:Qa', qa,).
