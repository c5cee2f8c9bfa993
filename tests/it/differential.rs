//! Several engines, one answer: the engine, the naive reference and SWI-Prolog agree on random programs, or
//! horngate refuses the predicate.
//!
//! The long run: `HORNGATE_PROGRAMS=10000 cargo test --release --test it differential -- --nocapture`.

use crate::peer;
use crate::programs::{CONSTANTS, RandomProgram, plain_program, program};
use horngate::explain::Reference;
use horngate::{Budget, Model, PredicateKey, Rulebase, Source};
use proptest::prop_oneof;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many programs to try: a number from the environment, or the default.
pub fn programs(default: u32) -> u32 {
    std::env::var("HORNGATE_PROGRAMS")
        .ok()
        .map_or(default, |text| {
            text.parse().expect("HORNGATE_PROGRAMS is a number")
        })
}

fn load(program: &RandomProgram) -> Rulebase {
    Rulebase::load([Source::new("random.pl", program.to_string())])
        .unwrap_or_else(|error| panic!("{error}\n{program}"))
}

fn keys() -> impl Iterator<Item = PredicateKey> {
    RandomProgram::predicates().map(|(name, arity)| PredicateKey::new(name, arity))
}

#[test]
fn the_engine_agrees_with_the_naive_reference() {
    let config = Config {
        cases: programs(1_000),
        failure_persistence: None,
        ..Config::default()
    };
    let any = prop_oneof![program(), plain_program()];
    TestRunner::new(config)
        .run(&any, |program| {
            let rulebase = load(&program);
            let model = rulebase.evaluate(&Budget::default()).unwrap();
            let reference = Reference::derive(&rulebase, 20_000_000).unwrap();
            for key in keys() {
                let (ours, theirs) = (model.tuples(&key), reference.tuples(&key));
                proptest::prop_assert_eq!(ours, theirs, "{} in\n{}", key, program);
            }
            Ok(())
        })
        .unwrap();
}

/// The ground goals to ask: all of arity 1, a spread of arity 2.
fn goals(model: &Model, program: &RandomProgram) -> Vec<String> {
    let mut goals = Vec::new();
    for (name, arity) in program.derived() {
        if model.count(&PredicateKey::new(name, arity)).is_none() {
            continue;
        }
        for (at, first) in CONSTANTS.iter().enumerate() {
            if arity == 1 {
                goals.push(format!("{name}({first})"));
                continue;
            }
            for step in 0..3 {
                let second = CONSTANTS[(at + step) % CONSTANTS.len()];
                goals.push(format!("{name}({first},{second})"));
            }
        }
    }
    goals
}

#[test]
fn horngate_gives_prologs_answer_or_refuses() {
    let Some(mut prolog) = peer::Batch::start() else {
        return;
    };
    let mut runner = TestRunner::deterministic();
    let (mut asked, mut declined, mut refused, mut raised, mut unanswered) = (0, 0, 0, 0, 0);
    let mut differences: Vec<String> = Vec::new();
    let total = programs(300);
    for number in 0..total {
        if std::env::var_os("HORNGATE_PROGRAMS").is_some() && number == 0 {
            runner = TestRunner::new(Config::default());
        }
        let program = program().new_tree(&mut runner).unwrap().current();
        let model = load(&program).evaluate(&Budget::default()).unwrap();
        let goals = goals(&model, &program);
        refused += program
            .derived()
            .iter()
            .filter(|(name, arity)| model.count(&PredicateKey::new(name, *arity)).is_none())
            .count();
        if goals.is_empty() {
            continue;
        }
        let tabled: Vec<String> = program
            .derived()
            .iter()
            .map(|(name, arity)| format!("{name}/{arity}"))
            .collect();
        let reply = prolog.ask(&json!({
            "program": program.to_string(), "tabled": tabled, "goals": goals,
        }));
        let Some(answers) = reply["answers"].as_array() else {
            panic!("SWI-Prolog does not load what horngate does: {reply}\n{program}");
        };
        assert_eq!(answers.len(), goals.len(), "{reply}");
        for (goal, theirs) in goals.iter().zip(answers) {
            let Ok(ours) = model.query(goal).map(|answers| answers.holds()) else {
                declined += 1;
                continue;
            };
            asked += 1;
            match theirs {
                Value::Bool(theirs) if *theirs == ours => {}
                // Prolog raises on what the call brings; no answer is no leave to allow.
                Value::Object(error) => {
                    let error = error
                        .values()
                        .next()
                        .map(ToString::to_string)
                        .unwrap_or_default();
                    // Out of time or of its own limits, Prolog has no answer at all.
                    let limits = ["time", "inference", "resource"];
                    if limits.iter().any(|limit| error.contains(limit)) {
                        unanswered += 1;
                    } else {
                        raised += 1;
                        if ours {
                            differences
                                .push(format!("{goal}: allowed, Prolog raises {error}\n{program}"));
                        }
                    }
                }
                _ => differences.push(format!("{goal}: ours {ours}, Prolog {theirs}\n{program}")),
            }
        }
    }
    println!(
        "{total} programs, {asked} goals compared, {declined} declined, {} differ, {raised} denied where Prolog raises, \
         {unanswered} without an answer from Prolog, {refused} predicates refused",
        differences.len()
    );
    assert!(asked > 0);
    assert!(
        differences.is_empty(),
        "{} differences, the first:\n{}",
        differences.len(),
        differences
            .iter()
            .take(5)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n---\n")
    );
}

/// What share of the generated predicates is refused, and why: a map of the profile's edge.
#[test]
fn refusals_are_spread_over_the_reasons() {
    let mut runner = TestRunner::deterministic();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..300 {
        let program = program().new_tree(&mut runner).unwrap().current();
        for fault in load(&program).diagnostics() {
            *reasons.entry(fault.code.kind()).or_default() += 1;
        }
    }
    println!("{reasons:?}");
    for kind in ["unsafe", "unstratified", "unsupported"] {
        assert!(
            reasons.contains_key(kind),
            "the generator never meets `{kind}`: {reasons:?}"
        );
    }
}
