% expect: HG0104 error 3
% A path with backslashes, which begin escape sequences.
workspace('U:Qa', "C:\work\qa").
