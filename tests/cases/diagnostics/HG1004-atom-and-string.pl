% expect: HG1004 warning 4
% One team is a string and never matches the atom.
member_of('U:Qa', qa).
member_of('U:SD', "dev").
