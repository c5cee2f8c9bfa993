% expect: HG0201 error 5
% A bar between two goals; SWI-Prolog writes `;`.
lead('U:PM').
oncall('U:SD').
may_approve(Person) :- lead(Person) | oncall(Person).
