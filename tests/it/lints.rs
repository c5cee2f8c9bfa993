//! What lints and summaries claim is true of the models of random programs.

use crate::programs::{RandomProgram, program};
use horngate::{Basis, Budget, Code, Model, PredicateKey, Program, Rulebase, Severity, Source};
use proptest::prelude::*;

fn load(text: &str) -> Rulebase {
    Rulebase::load([Source::new("a.pl", text)]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn evaluate(text: &str) -> Model {
    load(text).evaluate(&Budget::default()).unwrap()
}

fn keys() -> impl Iterator<Item = PredicateKey> {
    RandomProgram::predicates().map(|(name, arity)| PredicateKey::new(name, arity))
}

/// The text without some of its lines, which stay empty.
fn without(text: &str, lines: &[usize]) -> String {
    let kept = text.lines().enumerate().map(|(at, line)| {
        let kept = !lines.contains(&(at + 1));
        if kept { line } else { "" }
    });
    kept.collect::<Vec<_>>().join("\n") + "\n"
}

/// The lines of the clauses that a lint says may go.
fn redundant(text: &str) -> Vec<usize> {
    let checked = Rulebase::check(Program::parse([Source::new("a.pl", text)]));
    let idle = [Code::DuplicateClause, Code::SubsumedClause, Code::DeadRule];
    let found = checked
        .diagnostics
        .iter()
        .filter(|found| idle.contains(&found.code));
    found
        .flat_map(|found| {
            let further = found
                .labels
                .iter()
                .filter(|label| label.message.contains("neither"));
            std::iter::once(found.span).chain(further.map(|label| label.span))
        })
        .map(|span| checked.sources.start(span).line)
        .collect()
}

/// What each predicate rests on.
fn bases(rulebase: &Rulebase) -> Vec<(PredicateKey, Basis)> {
    let basis = |key: PredicateKey| rulebase.basis(&key).map(|basis| (key, basis));
    keys().filter_map(basis).collect()
}

#[test]
fn the_generator_makes_programs_that_have_something_to_say() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = program();
    let hits = (0..200).filter(|_| {
        let text = strategy
            .new_tree(&mut runner)
            .unwrap()
            .current()
            .to_string();
        !redundant(&text).is_empty()
    });
    assert!(hits.count() > 40);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    /// Clauses that stand twice, that another one covers or that never fire: without all of them nothing changes.
    #[test]
    fn what_is_said_to_add_nothing_can_go(program in program()) {
        let text = program.to_string();
        let lines = redundant(&text);
        prop_assume!(!lines.is_empty());
        let (before, after) = (evaluate(&text), evaluate(&without(&text, &lines)));
        for key in keys() {
            if let Some(tuples) = before.tuples(&key) {
                prop_assert_eq!(Some(tuples), after.tuples(&key), "{}: {:?}\n{}", key, lines, text);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..Default::default() })]

    /// A fact of a predicate that the summary does not name takes away at most.
    #[test]
    fn only_the_facts_that_are_named_widen(program in program(), constant in 0_usize..5) {
        let text = program.to_string();
        let constant = crate::programs::CONSTANTS[constant];
        let before = evaluate(&text);
        let bases = bases(before.rulebase());
        for (name, arity) in RandomProgram::predicates() {
            let fact = match arity {
                0 => format!("{name}.\n"),
                1 => format!("{name}({constant}).\n"),
                _ => format!("{name}({constant}, {constant}).\n"),
            };
            let after = evaluate(&format!("{text}{fact}"));
            let added = PredicateKey::new(name, arity);
            for (root, basis) in &bases {
                let named = basis.facts.iter().any(|(key, _)| *key == added);
                if let (false, Some(old), Some(new)) = (named, before.tuples(root), after.tuples(root)) {
                    let widened = new.iter().any(|row| !old.contains(row));
                    prop_assert!(!widened, "{} by {}\n{}", root, fact, text);
                }
            }
        }
    }

    /// Without a rule that the summary does not name there are no fewer tuples.
    #[test]
    fn only_the_rules_that_are_named_widen(program in program()) {
        let text = program.to_string();
        let before = evaluate(&text);
        let (rulebase, bases) = (before.rulebase(), bases(before.rulebase()));
        for (at, line) in text.lines().enumerate() {
            if !line.contains(" :- ") {
                continue;
            }
            let after = evaluate(&without(&text, &[at + 1]));
            for (root, basis) in &bases {
                let mut heads = basis.widened_by.iter();
                let named = heads.any(|head| rulebase.sources().start(*head).line == at + 1);
                if let (false, Some(old), Some(new)) = (named, before.tuples(root), after.tuples(root)) {
                    let narrowed = old.iter().any(|row| !new.contains(row));
                    prop_assert!(!narrowed, "{} by {}\n{}", root, line, text);
                }
            }
        }
    }
}

/// Texts with comments that may silence something, wherever they stand and whatever is wrong with them.
fn commented() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(
        &[
            "% horngate: allow(",
            "horngate",
            "allow",
            "duplicate-clause",
            "near-name",
            ", ",
            ")",
            " -- why",
            "%",
            "\n",
            "\r\n",
            "\n\n",
            "p(a).",
            "p('\u{200b}a').",
            "p(a) :- p(a), \\+ q(a).",
            ":- dynamic q/1.",
            "/* ",
            " */",
            "'",
            "\"",
            "0'%",
            "\u{feff}",
            "#!",
        ][..],
    );
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    /// A comment never hides an error, and whatever it hides is listed.
    #[test]
    fn nothing_is_lost_in_silence(text in commented()) {
        let check = |text: &str| Rulebase::check(Program::parse([Source::new("a.pl", text)]));
        let all = check(&text).diagnostics;
        let review = check(&text).review(None, &Budget::default());
        for found in &all {
            let told = review.diagnostics.contains(found);
            let silenced = review.silenced.iter().any(|silenced| silenced.diagnostic == *found);
            prop_assert!(told != silenced, "{:?}", found);
            prop_assert!(told || found.severity < Severity::Error);
        }
    }
}
