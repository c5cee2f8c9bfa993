% expect: HG1002 warning 5
% expect: HG0406 error 6
% `small/2` compares what the call brings, before `size/2` says what there is.
size(report, 3).
small(Job, Size) :- Size < 5, size(Job, Size).
fits(Job) :- size(Job, Size), small(Job, Size).
