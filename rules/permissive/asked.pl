% asked.pl: a default-allow that passes every safety rule. An example of what
% not to write.
%
% The may_execute/2 of governance.pl is refused because nothing binds its head
% variables. A relation of requests in front of the same two negations binds
% them. The rule is now range-restricted and loads without an error, and it
% still says yes to every request, because whoever asks is in asked/2.
%
% A request is what the caller claims. It must never be a reason to allow. Look
% at what is left when asked/2 is taken away: two facts that must be absent, of
% predicates that are empty. horngate reports `default-allow` and
% `vacuous-negation`.

:- dynamic volk_exists/1.
:- dynamic agent_action_blocked/2.

asked('NOBODY', rm_rf_slash).
asked('U:Qa',   tool_repl).

may_execute(Agent, Action) :-
    asked(Agent, Action),
    \+ volk_exists(Agent),
    \+ agent_action_blocked(Agent, Action).
