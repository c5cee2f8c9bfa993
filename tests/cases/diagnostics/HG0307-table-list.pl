% expect: HG0307 error 3
% `table` takes no list.
:- table([reports_to/2]).
reports_to('U:Qa', 'U:PM').
