% expect: HG1101 error 9
% Who is stopped depends on the actor, whom only the recursion knows. The conjunction has a variable of its own, so it
% cannot be split either.
enters(ann, hall).
door(hall, vault).
guards(vault, rex).
waives(ann, rex).
may_enter(Who, Room) :- enters(Who, Room).
may_enter(Who, Room) :- may_enter(Who, From), door(From, Room), \+ ( guards(Room, Guard), \+ waives(Who, Guard) ).
