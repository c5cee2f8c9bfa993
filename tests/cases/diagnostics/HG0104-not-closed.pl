% expect: HG0104 error 3
% A hexadecimal escape sequence ends with a backslash in Prolog.
separator(audit, '\x2f').
