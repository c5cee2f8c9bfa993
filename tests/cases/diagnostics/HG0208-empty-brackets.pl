% expect: HG0208 error 3
% A switch without arguments, written with the brackets of other languages.
kill_switch().
