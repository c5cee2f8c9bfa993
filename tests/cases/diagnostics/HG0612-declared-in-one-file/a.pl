% expect: HG0612 error b.pl:1
% `multifile` in the first file only: whoever reads the second alone cannot tell that there is more.
:- multifile suspended/1.
suspended('U:Cd').
