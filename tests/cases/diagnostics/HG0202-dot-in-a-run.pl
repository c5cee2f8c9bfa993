% expect: HG0202 error 4
% The dot touches a star: the two are one run of symbol characters.
covers(admin, *).
covers_all(Role) :- covers(Role, Mark), Mark == *.
