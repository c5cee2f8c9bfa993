//! Updates: a model that is updated equals the model of the program with the same facts, step by step.
//!
//! The long run: `HORNGATE_PROGRAMS=10000 cargo test --release --test it updates`.

use crate::programs::{RandomProgram, program, update};
use horngate::{Allowlist, Budget, Model, PredicateKey, Rulebase, Source, UpdateError};
use proptest::test_runner::{Config, TestRunner};

fn load(text: &str) -> Rulebase {
    Rulebase::load([Source::new("a.pl", text)]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn evaluate(text: &str) -> Model {
    load(text).evaluate(&Budget::default()).unwrap()
}

/// All tuples of all predicates; `None` where there is no model.
fn tuples(model: &Model) -> Vec<(String, Option<Vec<Vec<String>>>)> {
    RandomProgram::predicates()
        .map(|(name, arity)| PredicateKey::new(name, arity))
        .map(|key| (key.to_string(), model.tuples(&key)))
        .collect()
}

const GOALS: &[&str] = &[
    "p2(a, X)",
    "p1(X), \\+ q1(X)",
    "e2(X, b)",
    "e2(X, Y), \\+ p2(Y, X)",
    "q2(a, b)",
    "et(f(X))",
];

fn answers(model: &Model) -> Vec<Option<Vec<Vec<String>>>> {
    GOALS
        .iter()
        .map(|goal| model.query(goal).ok().map(|answers| answers.solutions()))
        .collect()
}

#[test]
fn an_updated_model_equals_a_rebuilt_one() {
    let cases = std::env::var("HORNGATE_PROGRAMS").map_or(300, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let updates = proptest::collection::vec(update(), 1..5);
    TestRunner::new(config)
        .run(&(program(), updates), |(mut program, updates)| {
            let mut model = evaluate(&program.dynamic());
            for (added, retracted) in updates {
                let (before, seen) = (program.clone(), tuples(&model));
                let next = model
                    .apply(
                        added.iter().map(String::as_str),
                        retracted.iter().map(String::as_str),
                    )
                    .unwrap();
                program.update(&added, &retracted);
                let rebuilt = evaluate(&program.dynamic());
                proptest::prop_assert_eq!(
                    tuples(&next),
                    tuples(&rebuilt),
                    "+{:?} -{:?} of\n{}",
                    added,
                    retracted,
                    before.dynamic()
                );
                proptest::prop_assert_eq!(answers(&next), answers(&rebuilt));
                proptest::prop_assert_eq!(tuples(&model), seen, "readers see what they saw");
                model = next;
            }
            Ok(())
        })
        .unwrap();
}

fn solutions(model: &Model, goal: &str) -> Vec<Vec<String>> {
    model.query(goal).unwrap().solutions()
}

const CLOSURE: &str = ":- dynamic e/2, blocked/1.
t(X, Z) :- e(X, Z), \\+ blocked(Z).
t(X, Z) :- t(X, Y), e(Y, Z), \\+ blocked(Z).
";

#[test]
fn what_rests_on_a_circle_only_goes() {
    let model = evaluate(&format!("{CLOSURE}e(a, b). e(b, c). e(c, b)."));
    assert_eq!(solutions(&model, "t(a, X)"), [["b"], ["c"]]);
    let model = model.apply([], ["e(a, b)"]).unwrap();
    assert_eq!(
        solutions(&model, "t(X, Y)").len(),
        4,
        "the circle of b and c"
    );
    let model = model.apply([], ["e(b, c)"]).unwrap();
    assert_eq!(solutions(&model, "t(X, Y)"), [["c", "b"]]);
    let model = model.apply(["e(a, c)."], []).unwrap();
    assert_eq!(solutions(&model, "t(a, X)"), [["b"], ["c"]]);
}

#[test]
fn an_absence_that_ends_takes_what_rests_on_it() {
    let model = evaluate(&format!("{CLOSURE}e(a, b). e(b, c)."));
    let blocked = model.apply(["blocked(b)"], []).unwrap();
    assert_eq!(solutions(&blocked, "t(X, Y)"), [["b", "c"]]);
    let again = blocked.apply([], ["blocked(b)"]).unwrap();
    assert_eq!(solutions(&again, "t(X, Y)"), solutions(&model, "t(X, Y)"));
}

#[test]
fn a_fact_that_is_also_derived_stays_until_both_go() {
    let model = evaluate(":- dynamic p/1, q/1. p(X) :- q(X). p(a). q(a).");
    let model = model.apply([], ["p(a)"]).unwrap();
    assert!(model.query("p(a)").unwrap().holds());
    let model = model.apply([], ["q(a)"]).unwrap();
    assert!(!model.query("p(a)").unwrap().holds());
}

#[test]
fn added_and_retracted_at_once_is_there() {
    let model = evaluate(":- dynamic p/1. p(a).");
    let model = model
        .apply(["p(a)", "p(b)"], ["p(a)", "p(b)", "p(c)"])
        .unwrap();
    assert_eq!(solutions(&model, "p(X)"), [["a"], ["b"]]);
}

#[test]
fn arithmetic_without_a_value_comes_and_goes() {
    let model =
        evaluate(":- dynamic n/1. p(X) :- n(X), X < 3. q(X) :- n(X), \\+ p(X). n(1). n(7).");
    let broken = model.apply(["n(seven)"], []).unwrap();
    assert!(broken.query("p(1)").is_err());
    assert!(
        broken.query("q(7)").is_err(),
        "an error below is no failed negation"
    );
    assert!(broken.query("n(seven)").unwrap().holds());
    let mended = broken.apply(["n(2)"], ["n(seven)"]).unwrap();
    assert_eq!(solutions(&mended, "p(X)"), [["1"], ["2"]]);
    assert_eq!(solutions(&mended, "q(X)"), [["7"]]);
}

#[test]
fn an_allowlist_of_an_updated_model_decides_by_it() {
    let rules = ":- dynamic blocked/1.\nmay_execute_tool(A, tool_x) :- agent(A), \\+ blocked(A).\nagent(a). agent(b).";
    let before = evaluate(rules);
    let after = before.apply(["blocked(b)"], []).unwrap();
    let bind = |model: &Model| Allowlist::bind(model, "may_execute_tool/2").unwrap();
    let (old, new) = (bind(&before), bind(&after));
    assert!(old.decide("b", "x").is_allow());
    assert!(!new.decide("b", "x").is_allow());
    assert_eq!(new.grants(), [("a", "x")]);
    // An approval for the one policy is none for the other, and the policy is what it says, not how it came about.
    assert_ne!(old.policy_hash(), new.policy_hash());
    let back = after.apply([], ["blocked(b)"]).unwrap();
    assert_eq!(old.policy_hash(), bind(&back).policy_hash());
    let other_way = back.apply(["blocked(c)", "blocked(b)"], []).unwrap();
    let other_way = other_way.apply([], ["blocked(c)"]).unwrap();
    assert_eq!(new.policy_hash(), bind(&other_way).policy_hash());
}

#[test]
fn arithmetic_under_a_negation_loses_its_value_too() {
    let rules = ":- dynamic e1/1, e0/0.
        p1(X) :- f2(X, Y), \\+ ( e1(X), ( X < 0 ; e0 ) ), e1(Y).
        f2(c, 1). e0.";
    let model = evaluate(rules);
    assert!(!model.query("p1(c)").unwrap().holds());
    let broken = model.apply(["e1(c)"], []).unwrap();
    assert!(broken.query("p1(c)").is_err());
}

#[test]
fn many_small_updates_are_one_large_one() {
    // Enough of them that versions are settled and constants are merged on the way.
    let model = evaluate(&format!("{CLOSURE}e(a, b)."));
    let facts: Vec<String> = (0..1_500).map(|n| format!("e(b, n{n})")).collect();
    let at_once = model.apply(facts.iter().map(String::as_str), []).unwrap();
    let mut one_by_one = model.clone();
    for fact in &facts {
        one_by_one = one_by_one.apply([fact.as_str()], []).unwrap();
    }
    let key: PredicateKey = "t/2".parse().unwrap();
    assert_eq!(one_by_one.tuples(&key), at_once.tuples(&key));
    let back = one_by_one
        .apply([], facts.iter().map(String::as_str))
        .unwrap();
    assert_eq!(back.tuples(&key), model.tuples(&key));
}

#[test]
fn only_ground_facts_of_dynamic_predicates_are_taken() {
    let model = evaluate(":- dynamic p/1. p(a). fixed(a).");
    let refused = |fact: &str| model.apply([fact], []).unwrap_err();
    assert!(matches!(refused("p(X)"), UpdateError::NotGround(_)));
    assert!(matches!(refused("7"), UpdateError::Syntax { .. }));
    assert!(matches!(refused("p(a"), UpdateError::Syntax { .. }));
    assert!(matches!(refused("p(a). p(b)"), UpdateError::Syntax { .. }));
    assert!(matches!(
        refused("fixed(b)"),
        UpdateError::NotDynamic { .. }
    ));
    assert!(matches!(refused("p(a, b)"), UpdateError::NotDynamic { .. }));
    assert!(matches!(
        refused("p(b), p(c)"),
        UpdateError::NotDynamic { .. } | UpdateError::NotGround(_)
    ));
    assert!(matches!(
        refused("p(b) :- true"),
        UpdateError::NotDynamic { .. } | UpdateError::Syntax { .. } | UpdateError::NotGround(_)
    ));
    let text = refused("fixed(b)").to_string();
    assert_eq!(text, "`fixed/1` is not declared `dynamic`");
}

#[test]
fn a_budget_that_runs_out_leaves_the_model_as_it_was() {
    let rules = ":- dynamic d/1. p(X, Y) :- d(X), d(Y). d(1). d(2).";
    let tight = Budget {
        tuples: 10,
        ..Budget::default()
    };
    let model = load(rules).evaluate(&tight).unwrap();
    assert!(matches!(
        model.apply(["d(3)"], []),
        Err(UpdateError::Budget(_))
    ));
    assert_eq!(solutions(&model, "p(X, Y)").len(), 4);
    let same = model.apply(["d(3)"], ["d(1)"]).unwrap();
    assert_eq!(solutions(&same, "p(X, Y)").len(), 4);
}
