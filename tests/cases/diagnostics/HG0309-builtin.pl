% expect: HG0309 error 3
% Who may write where; but `write/2` is Prolog's own.
write('U:Qa', test_reports).
