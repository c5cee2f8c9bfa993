//! Rust identifiers for what rules name: legal, distinct, and still to be recognised.
//!
//! Nothing here depends on more than the names and their order.

use crate::key::PredicateKey;
use std::collections::HashSet;

/// How much of a name is kept.
const MAX_LENGTH: usize = 40;

/// The ASCII words of a name; `fallback` if it has none, and never a digit first.
fn words(name: &str, fallback: &'static str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut length = 0;
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let word: String = word
            .chars()
            .take(MAX_LENGTH.saturating_sub(length))
            .collect();
        if word.is_empty() {
            continue;
        }
        if words.is_empty() && word.starts_with(|c: char| c.is_ascii_digit()) {
            words.push(fallback.to_owned());
        }
        length += word.len();
        words.push(word);
    }
    if words.is_empty() {
        words.push(fallback.to_owned());
    }
    words
}

/// The relation of the predicate at a position of the interface: `P3MayExecuteTool`. crepe also uses its name in lower
/// case; with the position in front that is still distinct, and no keyword.
pub(super) fn relation(prefix: char, position: usize, name: &str) -> String {
    let mut out = format!("{prefix}{position}");
    for word in words(name, "n") {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// A variable of a rule: `agent_0`. crepe takes only what starts with a small letter for a variable.
pub(super) fn variable(name: &str, number: u32) -> String {
    let words = words(name, "v").join("_").to_ascii_lowercase();
    format!("{words}_{number}")
}

/// The constant of the rules with this number: `C4_TOOL_REPL`.
pub(super) fn constant(text: &str, number: usize) -> String {
    let words = words(text, "TERM").join("_").to_ascii_uppercase();
    format!("C{number}_{words}")
}

/// The public constants that name predicates: `MAY_EXECUTE_TOOL_2`, and where two would be the same, the later ones with
/// their position.
pub(super) fn public<'k>(keys: impl Iterator<Item = &'k PredicateKey>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = Vec::new();
    for (position, key) in keys.enumerate() {
        let words = words(key.name(), "PREDICATE")
            .join("_")
            .to_ascii_uppercase();
        let mut name = format!("{words}_{}", key.arity());
        while !taken.insert(name.clone()) {
            name = format!("{name}_{position}");
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_identifier(name: &str) -> bool {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    #[test]
    fn names_are_recognised() {
        assert_eq!(relation('P', 3, "may_execute_tool"), "P3MayExecuteTool");
        assert_eq!(relation('P', 0, "Größe der 2. Gruppe"), "P0GrEDer2Gruppe");
        assert_eq!(relation('P', 1, "人"), "P1N");
        assert_eq!(relation('P', 1, "2nd"), "P1N2nd");
        assert_eq!(variable("_Agent", 0), "agent_0");
        assert_eq!(variable("_", 7), "v_7");
        assert_eq!(variable("Fn", 1), "fn_1");
        assert_eq!(constant("'U:Qa'", 2), "C2_U_QA");
        assert_eq!(constant("[]", 2), "C2_TERM");
        let keys = [("a-b", 1), ("a_b", 1), ("a_b", 2), ("type", 0)];
        let keys = keys.map(|(name, arity)| PredicateKey::new(name, arity));
        assert_eq!(public(keys.iter()), ["A_B_1", "A_B_1_1", "A_B_2", "TYPE_0"]);
    }

    proptest! {
        #[test]
        fn names_are_legal_and_distinct(names in proptest::collection::vec((any::<String>(), 0_usize..3), 0..6)) {
            let mut keys: Vec<PredicateKey> =
                names.iter().map(|(name, arity)| PredicateKey::new(name, *arity)).collect();
            keys.sort();
            keys.dedup();
            let names = public(keys.iter());
            let distinct: HashSet<&String> = names.iter().collect();
            prop_assert_eq!(distinct.len(), keys.len());
            prop_assert!(names.iter().all(|name| is_identifier(name)));
            let lower: HashSet<String> = keys
                .iter()
                .enumerate()
                .map(|(at, key)| relation('P', at, key.name()).to_lowercase())
                .collect();
            prop_assert_eq!(lower.len(), keys.len());
            prop_assert!(lower.iter().all(|name| is_identifier(name)));
            for key in &keys {
                prop_assert!(is_identifier(&variable(key.name(), 0)));
                prop_assert!(variable(key.name(), 0).starts_with(|c: char| c.is_ascii_lowercase()));
                prop_assert!(is_identifier(&constant(key.name(), 0)));
            }
        }
    }
}
