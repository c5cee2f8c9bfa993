//! Proofs of goals of every form: what holds has one that verifies, and what verifies holds.

use crate::programs::{goal, literal, plain_program, program};
use horngate::explain::{Explainer, Verifier};
use horngate::{Budget, Rulebase, Source};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::Value;
use std::cell::Cell;

/// What stands for what in a forged goal.
const FORGERIES: &[(&str, &str)] = &[
    ("a", "b"),
    ("b", "c"),
    ("c", "a"),
    ("1", "2"),
    ("2", "1.0"),
    ("0", "1"),
    ("p1(", "q1("),
    ("q1(", "r1("),
    ("r1(", "e1("),
    ("e1(", "p1("),
    ("en(", "e1("),
    ("p2(", "q2("),
    ("q2(", "e2("),
    ("e2(", "r2("),
    ("e2(", "f2("),
    ("f2(", "p2("),
    ("\\+ ", ""),
    ("\\+", "\\+ \\+"),
    ("==", "\\=="),
    (" = ", " \\= "),
    ("=<", ">"),
    (" < ", " >= "),
    (" < ", " + 1 < "),
    ("@", ""),
    ("true", "fail"),
    ("->", ","),
    (";", ","),
    (",", ";"),
    ("X", "Y"),
    ("Y", "X"),
    ("Z", "X"),
];

/// A document for another goal: the same steps with other words, and an honest proof of each fact that has one.
fn forged(document: &Value, explainer: &mut Explainer<'_>, from: &str, to: &str) -> Value {
    let mut forged = document.clone();
    let other = |text: &Value| text.as_str().unwrap_or("").replace(from, to);
    forged["goal"] = other(&document["goal"]).into();
    forged["proof"]["fact"] = other(&document["proof"]["fact"]).into();
    if let Some(steps) = forged["proof"]["because"].as_array_mut() {
        for step in steps {
            for kind in ["absent", "builtin"] {
                if step[kind].is_string() {
                    step[kind] = other(&step[kind]).into();
                }
            }
            if step["fact"].is_string() {
                let fact = other(&step["fact"]);
                match explainer.why(&fact) {
                    Ok(Some(proof)) => {
                        *step = serde_json::from_str(&proof.to_json_node()).unwrap();
                    }
                    _ => step["fact"] = fact.into(),
                }
            }
        }
    }
    forged
}

/// Goals most of which are safe.
fn bound_goal() -> impl Strategy<Value = String> {
    let binder = proptest::sample::select(
        &[
            "e2(X, Y)",
            "p2(X, Y)",
            "q2(X, Y)",
            "p1(X), q1(Y)",
            "en(X), en(Y)",
            "en(X), e1(Y)",
            "e1(X), r2(X, Y)",
        ][..],
    );
    let more = proptest::collection::vec(literal(), 1..3);
    (binder, more).prop_map(|(binder, more)| format!("{binder}, {}", more.join(", ")))
}

#[test]
fn proofs_of_random_goals_verify_and_forged_ones_only_if_the_goal_holds() {
    let cases = std::env::var("HORNGATE_PROGRAMS").map_or(100, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let [refused, proved, rejected, accepted] = [(); 4].map(|()| Cell::new(0));
    let programs = prop_oneof![program(), plain_program()];
    let goals = proptest::collection::vec(prop_oneof![1 => goal(), 2 => bound_goal()], 8..16);
    TestRunner::new(config)
        .run(&(programs, goals), |(program, goals)| {
            let text = program.to_string();
            let rulebase = Rulebase::load([Source::new("a.pl", &*text)]).unwrap();
            let model = rulebase.evaluate(&Budget::default()).unwrap();
            let verifier = Verifier::new(&rulebase);
            let hash = verifier.policy_hash().unwrap();
            let mut explainer = Explainer::new(&model);
            for goal in &goals {
                let Ok(answers) = model.query(goal) else {
                    refused.set(refused.get() + 1);
                    prop_assert!(explainer.why(goal).is_err());
                    continue;
                };
                let proof = explainer
                    .why(goal)
                    .map_err(|error| TestCaseError::fail(format!("{goal}: {error}\n{text}")))?;
                prop_assert_eq!(proof.is_some(), answers.holds(), "{}\n{}", goal, text);
                let Some(proof) = proof else { continue };
                let document = proof.to_json(&hash);
                let verified = verifier.verify(&document);
                prop_assert!(verified.is_ok(), "{goal}: {verified:?}\n{document}\n{text}");
                proved.set(proved.get() + 1);
                let document: Value = serde_json::from_str(&document).unwrap();
                for (from, to) in FORGERIES {
                    let forged = forged(&document, &mut explainer, from, to);
                    if forged == document || verifier.verify(&forged.to_string()).is_err() {
                        rejected.set(rejected.get() + 1);
                        continue;
                    }
                    accepted.set(accepted.get() + 1);
                    let goal = forged["goal"].as_str().unwrap();
                    prop_assert!(
                        model.query(goal).is_ok_and(|answers| answers.holds()),
                        "{goal} verifies\n{forged}\n{text}"
                    );
                }
            }
            Ok(())
        })
        .unwrap();
    println!(
        "{} goals refused, {} proofs, {} forgeries rejected, {} of what holds, too",
        refused.get(),
        proved.get(),
        rejected.get(),
        accepted.get()
    );
    assert!(proved.get() > 50 && accepted.get() > 50);
}

#[test]
fn a_goal_whose_arithmetic_has_no_value_somewhere_has_no_proof() {
    let rulebase = Rulebase::load([Source::new("a.pl", "p(1). q(1). p(a).")]).unwrap();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    let verifier = Verifier::new(&rulebase);
    let proof = Explainer::new(&model).why("q(X), X < 3").unwrap().unwrap();
    let document = proof.to_json(&verifier.policy_hash().unwrap());
    assert!(verifier.verify(&document).is_ok());
    // Every step of this is true, but `a < 3` is an error.
    let forged = document
        .replace("q(", "p(")
        .replace("\"column\":7,", "\"column\":1,");
    assert!(model.query("p(X), X < 3").is_err());
    assert_eq!(
        verifier.verify(&forged).unwrap_err().to_string(),
        "the goal cannot be answered: its arithmetic has no value somewhere"
    );
}

#[test]
fn missing_facts_are_the_fewest_and_values_come_from_comparisons() {
    let missing = |rules: &str, goal: &str| {
        let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
        let model = rulebase.evaluate(&Budget::default()).unwrap();
        let found = horngate::explain::why_not(&model, goal).unwrap().unwrap();
        found.missing().to_vec()
    };
    // Whoever is a member of anything may already: no tool of the group is needed.
    let rules = ":- dynamic member/2, gtool/2.\n\
        member(bob, g2).\n\
        gtool(g2, tool_b).\n\
        level(ann, 2).\n\
        may(U, T) :- member(U, G), gtool(G, T).\n\
        may(U, tool_a) :- level(U, 2), \\+ \\+ member(U, _).\n";
    assert_eq!(missing(rules, "may(ann, tool_a)"), [["member(ann,_)"]]);
    // No level is stated, and one must be as high as needed.
    let rules = ":- dynamic level/2.\n\
        needs(tool_a, 3).\n\
        may(U, T) :- level(U, L), needs(T, N), L > N.\n";
    assert_eq!(missing(rules, "may(cid, tool_a)")[0], ["level(cid,4)"]);
}
