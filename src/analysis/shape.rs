//! What names say: which predicates grant, which ones the gate asks, which ones state what a caller wants.
//!
//! Nothing here looks at clauses. A name is only a reason to look closer or to keep silent.

use crate::key::PredicateKey;

/// The predicates that are asked by name, and not by rules.
pub(crate) const CONVENTIONAL: [(&str, usize); 7] = [
    ("may_execute_tool", 2),
    ("confirm_tool", 2),
    ("confirm_tool", 3),
    ("destructive_tool", 2),
    ("destructive_tool", 3),
    ("may_approve", 3),
    ("tool_guard", 2),
];

const GRANTS: [&str; 16] = [
    "allow",
    "allowed",
    "allows",
    "authorised",
    "authorized",
    "can",
    "grant",
    "granted",
    "grants",
    "may",
    "permit",
    "permits",
    "permitted",
    "entitled",
    "entitles",
    "entitlement",
];

/// What a caller wants, as the last word of a name.
const REQUESTS: [&str; 19] = [
    "ask",
    "asked",
    "asks",
    "attempt",
    "attempted",
    "attempts",
    "invocation",
    "invocations",
    "invoke",
    "invoked",
    "invokes",
    "propose",
    "proposed",
    "request",
    "requested",
    "requests",
    "wanted",
    "wants",
    "wish",
];

/// The same, as the first word.
const ASKING: [&str; 5] = ["asked", "asks", "requested", "wanted", "wants"];

/// The same, as the whole name: `on_call` says something else.
const CALLS: [&str; 5] = ["call_tool", "called", "calls", "tool_call", "tool_calls"];

/// Words that say that somebody decided about it.
const DECIDED: [&str; 10] = [
    "accepted",
    "allowed",
    "approved",
    "authorised",
    "authorized",
    "confirmed",
    "granted",
    "permitted",
    "signed",
    "verified",
];

const REGISTRATIONS: [&str; 8] = [
    "enrolled",
    "exist",
    "exists",
    "identified",
    "known",
    "recognised",
    "recognized",
    "registered",
];

fn words(key: &PredicateKey) -> impl DoubleEndedIterator<Item = &str> {
    key.name().split(|c: char| !c.is_alphanumeric())
}

fn is_conventional(key: &PredicateKey) -> bool {
    CONVENTIONAL.contains(&(key.name(), key.arity()))
}

/// Whether the predicate is one that is asked, and not only used: it is asked by name, or its name says `may`.
pub(crate) fn is_answer(key: &PredicateKey) -> bool {
    is_conventional(key) || has_granting_name(key)
}

fn has_granting_name(key: &PredicateKey) -> bool {
    words(key).next().is_some_and(|word| GRANTS.contains(&word))
}

/// Whether the predicate looks like one that grants tools to actors: two arguments, and a name such as
/// `may_execute_tool`.
pub(crate) fn grants(key: &PredicateKey) -> bool {
    key.arity() == 2 && has_granting_name(key)
}

/// Whether the name says that it states what a caller wants, such as `asked` or `tool_request`: nobody decided that.
pub(crate) fn is_request(key: &PredicateKey) -> bool {
    let last = words(key)
        .next_back()
        .is_some_and(|word| REQUESTS.contains(&word));
    let first = words(key).next().is_some_and(|word| ASKING.contains(&word));
    (last || first || CALLS.contains(&key.name()))
        && !words(key).any(|word| DECIDED.contains(&word))
}

/// Whether the name says that it states who is known, such as `volk_exists`.
pub(crate) fn is_registration(key: &PredicateKey) -> bool {
    words(key)
        .next_back()
        .is_some_and(|word| REGISTRATIONS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> PredicateKey {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_read_word_by_word() {
        assert!(grants(&key("may_execute_tool/2")) && grants(&key("allowed/2")));
        assert!(!grants(&key("may_approve/3")) && !grants(&key("mayor/2")));
        assert!(is_request(&key("tool_request/2")) && is_request(&key("asked/2")));
        assert!(is_request(&key("asked_for/2")) && is_request(&key("tool_call/2")));
        assert!(!is_request(&key("task/2")) && !is_request(&key("on_call/1")));
        assert!(!is_request(&key("approved_request/2")));
        assert!(is_registration(&key("volk_exists/1")) && !is_registration(&key("known_bad/1")));
    }
}
