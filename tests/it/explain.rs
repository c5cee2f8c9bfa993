//! Explanations: every tuple has a proof, every proof passes the independent check, and no forged one does.

use crate::cases;
use crate::programs::{CONSTANTS, RandomProgram, program, update};
use horngate::explain::{self, Claim, Explainer, Verifier, VerifyError};
use horngate::{Budget, Model, PredicateKey, Rulebase, Source};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use proptest::{prop_assert, prop_assert_eq};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

fn load(text: &str) -> Rulebase {
    Rulebase::load([Source::new("a.pl", text)]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn evaluate(text: &str) -> Model {
    load(text).evaluate(&Budget::default()).unwrap()
}

/// All tuples of a random model, as goals; without those that are refused as goals for the arithmetic that they bring.
fn tuples(model: &Model) -> Vec<String> {
    RandomProgram::predicates()
        .flat_map(|(name, arity)| {
            let rows = model.tuples(&PredicateKey::new(name, arity));
            let rows = rows.into_iter().flatten();
            rows.map(move |row| match arity {
                0 => name.to_owned(),
                _ => format!("{name}({})", row.join(",")),
            })
        })
        .filter(|goal| model.query(goal).is_ok())
        .collect()
}

/// The document for a goal that holds, checked against the rules that it is of.
fn proof(model: &Model, goal: &str) -> String {
    let proof = explain::why(model, goal)
        .unwrap_or_else(|error| panic!("{goal}: {error}"))
        .unwrap_or_else(|| panic!("{goal} does not hold, or has no proof"));
    let verifier = Verifier::new(model.rulebase());
    let document = proof.to_json(&verifier.policy_hash().unwrap());
    match verifier.verify(&document) {
        Ok(verified) => assert_eq!(verified.goal, proof.goal()),
        Err(error) => panic!("{goal}: {error}\n{document}"),
    }
    document
}

/// The claims of a proof, in its order.
fn claims(model: &Model, goal: &str) -> Vec<String> {
    proof(model, goal);
    let proof = explain::why(model, goal).unwrap().unwrap();
    let claims = proof.steps().iter().map(|step| step.claim());
    claims
        .map(|claim| match claim {
            Claim::Fact(text) => text.clone(),
            Claim::Absent(text) => format!("absent: {text}"),
            Claim::Test(text) => format!("test: {text}"),
            _ => unreachable!(),
        })
        .collect()
}

#[test]
fn every_tuple_of_random_models_has_a_proof_that_verifies() {
    let cases = std::env::var("HORNGATE_PROGRAMS").map_or(300, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let proved = Cell::new(0);
    TestRunner::new(config)
        .run(&program(), |program| {
            let model = evaluate(&program.to_string());
            let verifier = Verifier::new(model.rulebase());
            let mut explainer = Explainer::new(&model);
            for goal in tuples(&model) {
                let proof = explainer.why(&goal).unwrap();
                let proof = proof.ok_or_else(|| {
                    TestCaseError::fail(format!("no proof of {goal} in\n{program}"))
                })?;
                let document = proof.to_json(&verifier.policy_hash().unwrap());
                let verified = verifier.verify(&document);
                prop_assert!(
                    verified.is_ok(),
                    "{goal}: {verified:?}\n{document}\n{program}"
                );
                proved.set(proved.get() + 1);
            }
            Ok(())
        })
        .unwrap();
    println!("{} proofs", proved.get());
    assert!(proved.get() > 500);
}

#[test]
fn every_goal_of_the_cases_that_holds_has_a_proof_that_verifies() {
    let mut proved = 0;
    for case in cases::all() {
        let Some((model, goals)) = case.goals() else {
            continue;
        };
        for goal in goals {
            if model.query(goal).is_ok_and(|answers| answers.holds()) {
                proof(&model, goal);
                proved += 1;
            } else if let Ok(found) = explain::why(&model, goal) {
                assert!(found.is_none(), "{goal} does not hold");
            }
        }
    }
    println!("{proved} proofs");
    assert!(proved > 500);
}

#[test]
fn every_kind_of_literal_is_explained() {
    let model = evaluate(
        r"
        :- dynamic blocked/2, e/1.
        role(ann, dev). role(bob, ops). level(ann, 3). tags(ann, [a, b, f(c)]). at(ann, p(1, x)).
        senior(U) :- level(U, N), N > 2, M is N * 2 + 1, M =:= 7, M >= N, N =\= 9.
        terms(U, s(X)) :- at(U, p(N, X)), N == 1, X \== y, X @< z, U \= bob, f(N, Z) = f(Y, U), Y =< 1, Z = U.
        items(U, T) :- tags(U, L), member(T, L), memberchk(a, L), member(f(_), L).
        free(U) :- role(U, _), \+ blocked(U, _), \+ ( role(U, R), R = ops ), \+ U = bob.
        all(U) :- role(U, _), \+ ( tags(U, L), \+ member(a, L) ).
        if(U, X) :- role(U, R), ( senior(U) -> X = yes ; R = ops -> X = maybe ; X = no ).
        either(U) :- ( e(U) ; role(U, ops) ; role(U, dev), senior(U) ).
        double(U) :- role(U, _), \+ \+ level(U, _).
        early(U) :- \+ blocked(U, x), U \= eve, role(U, _).
        none.
        truth :- true.
        nobody :- none, truth, \+ role(carl, _), not(e(_)).
        ",
    );
    let mut text = String::new();
    for goal in [
        "senior(ann)",
        "terms(ann, X)",
        "items(ann, f(c))",
        "free(ann)",
        "all(ann)",
        "if(ann, X)",
        "if(bob, X)",
        "either(X)",
        "double(ann)",
        "early(bob)",
        "nobody",
        "role(U, R), \\+ blocked(U, R), (R = ops ; level(U, _N), _N < 2)",
        "1 < 2",
        "\\+ e(_)",
        "X = f(Y), Y = 1",
    ] {
        text += &format!("{goal}\n");
        for claim in claims(&model, goal) {
            text += &format!("    {claim}\n");
        }
    }
    insta::assert_snapshot!(text);
}

fn chain(rules: &str, length: usize, separator: &str) -> String {
    let edges: Vec<String> = (0..length).map(|n| format!("e({n}, {}).", n + 1)).collect();
    format!("{rules}\n{}", edges.join(separator))
}

#[test]
fn a_long_chain_takes_a_proof_as_long() {
    let length = 10_000;
    for rules in [
        "t(X, Z) :- e(X, Z). t(X, Z) :- t(X, Y), e(Y, Z).",
        "t(X, Z) :- e(X, Z). t(X, Z) :- e(X, Y), t(Y, Z).",
    ] {
        // Only what is reached from one end, or the closure would be too large.
        let rules = format!("{rules} r(0). r(Y) :- r(X), e(X, Y).");
        let model = load(&chain(&rules, length, " "))
            .evaluate_slice(&["r/1".parse().unwrap()], &Budget::default())
            .unwrap();
        let document = proof(&model, &format!("r({length})"));
        let nodes = document.matches("\"fact\"").count();
        assert_eq!(nodes, 2 * length + 1);
    }
}

#[test]
fn closures_are_explained_by_short_paths() {
    for rules in [
        "t(X, Z) :- e(X, Z). t(X, Z) :- t(X, Y), e(Y, Z).",
        "t(X, Z) :- e(X, Z). t(X, Z) :- e(X, Y), t(Y, Z).",
        "t(X, Z) :- e(X, Z). t(X, Z) :- t(X, Y), t(Y, Z).",
        "t(X, Z) :- e(X, Z). t(X, Z) :- s(X, Z). s(X, Z) :- t(X, Y), e(Y, Z).",
    ] {
        // A ring with chords: from 0 to 57 by seven chords and one edge.
        let edges: String = (0..100)
            .map(|n| format!("e({n}, {}). e({n}, {}).\n", (n + 1) % 100, (n + 8) % 100))
            .collect();
        let model = evaluate(&format!("{rules}\n{edges}"));
        let document = proof(&model, "t(0, 57)");
        let edges = document.matches("\"fact\":\"e(").count();
        assert_eq!(edges, 8, "{rules}\n{document}");
    }
}

#[test]
fn what_is_shared_is_proved_once() {
    // As a tree the proof doubles with each level.
    let mut rules = "p0(a).\n".to_owned();
    for n in 1..200 {
        rules += &format!(
            "p{n}(X) :- p{m}(X), q{m}(X). q{m}(X) :- p{m}(X).\n",
            m = n - 1
        );
    }
    let model = evaluate(&rules);
    let document = proof(&model, "p199(a)");
    assert!(document.len() < 200_000, "{}", document.len());
    let proof = explain::why(&model, "p199(a)").unwrap().unwrap();
    assert_eq!(proof.tree_size(), usize::MAX);
    assert_eq!(proof.steps().len(), 399);
}

#[test]
fn proofs_verify_after_updates_with_retraction() {
    let cases = std::env::var("HORNGATE_PROGRAMS").map_or(100, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let updates = proptest::collection::vec(update(), 1..4);
    let (proved, stale) = (Cell::new(0), Cell::new(0));
    TestRunner::new(config)
        .run(&(program(), updates), |(program, updates)| {
            let rulebase = load(&program.dynamic());
            let mut model = rulebase.evaluate(&Budget::default()).unwrap();
            let mut verifier = Verifier::new(&rulebase);
            let allowlist: PredicateKey = "may_execute_tool/2".parse().unwrap();
            let mut before: Vec<(String, String)> = Vec::new();
            for (added, retracted) in &updates {
                let old = verifier.policy_hash().unwrap();
                let added = || added.iter().map(String::as_str);
                let retracted = || retracted.iter().map(String::as_str);
                model = model.apply(added(), retracted()).unwrap();
                verifier = verifier.with_facts(added(), retracted());
                let hash = verifier.policy_hash().unwrap();
                prop_assert_eq!(&hash, &model.policy_hash(&allowlist, "tool_").unwrap());
                let mut explainer = Explainer::new(&model);
                let mut now = Vec::new();
                for goal in tuples(&model) {
                    let proof = explainer.why(&goal).unwrap();
                    let proof = proof.ok_or_else(|| {
                        TestCaseError::fail(format!(
                            "no proof of {goal} after {updates:?} of\n{program}"
                        ))
                    })?;
                    let document = proof.to_json(&verifier.policy_hash().unwrap());
                    let verified = verifier.verify(&document);
                    prop_assert!(
                        verified.is_ok(),
                        "{goal}: {verified:?}\n{document}\n{updates:?}\n{program}"
                    );
                    proved.set(proved.get() + 1);
                    now.push((goal, document));
                }
                // An old proof verifies at most for what still holds, also if it claims to be a new one.
                for (goal, document) in &before {
                    let document = &document.replace(&old, &hash);
                    let holds = now.iter().any(|(known, _)| known == goal);
                    if verifier.verify(document).is_err() {
                        stale.set(stale.get() + 1);
                    } else {
                        prop_assert!(holds, "{goal}\n{document}\n{updates:?}\n{program}");
                    }
                }
                before = now;
            }
            Ok(())
        })
        .unwrap();
    println!("{} proofs, {} stale", proved.get(), stale.get());
    assert!(proved.get() > 300 && stale.get() > 0);
}

/// Blanks out one clause, so that the others stay where they are.
fn without(text: &str, clause: &Value) -> String {
    let field = |name: &str| usize::try_from(clause[name].as_u64().unwrap()).unwrap();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let rest = lines.split_off(field("line") - 1).concat();
    let (before, rest) = rest.split_at(field("column") - 1);
    let clause = clause["text"].as_str().unwrap();
    let rest = rest.strip_prefix(clause).unwrap();
    let blanks: String = clause
        .chars()
        .map(|c| if c == '\n' { c } else { ' ' })
        .collect();
    format!("{}{before}{blanks}{rest}", lines.concat())
}

#[test]
fn no_proof_verifies_without_one_of_its_clauses() {
    let cases = std::env::var("HORNGATE_PROGRAMS").map_or(200, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let removed = Cell::new(0);
    TestRunner::new(config)
        .run(&(program(), 0_usize..1_000), |(program, pick)| {
            let text = program.to_string();
            let model = evaluate(&text);
            let goals = tuples(&model);
            if goals.is_empty() {
                return Ok(());
            }
            let goal = &goals[pick % goals.len()];
            let hash = Verifier::new(model.rulebase()).policy_hash().unwrap();
            let document = proof(&model, goal);
            let value: Value = serde_json::from_str(&document).unwrap();
            for path in nodes(&value) {
                let clause = node(&mut value.clone(), &path)["clause"].clone();
                if clause.is_null() {
                    continue;
                }
                let less = load(&without(&text, &clause));
                let verifier = Verifier::new(&less);
                prop_assert!(verifier.verify(&document).is_err());
                // Also if it claims to be of this policy.
                let forged = document.replace(&hash, &verifier.policy_hash().unwrap());
                prop_assert!(
                    verifier.verify(&forged).is_err(),
                    "{clause}\n{forged}\n{text}"
                );
                removed.set(removed.get() + 1);
            }
            Ok(())
        })
        .unwrap();
    assert!(removed.get() > 50, "{}", removed.get());
}

/// The nodes of a document, as paths of premises from its conclusion.
fn nodes(document: &Value) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        let mut copy = document.clone();
        let count = node(&mut copy, &path)["because"]
            .as_array()
            .map_or(0, Vec::len);
        for at in 0..count {
            let mut path = path.clone();
            path.push(at);
            found.push(path);
        }
    }
    found
}

fn node<'v>(document: &'v mut Value, path: &[usize]) -> &'v mut Value {
    let mut node = &mut document["proof"];
    for at in path {
        node = &mut node["because"][at];
    }
    node
}

/// Every way to forge a document at one of its nodes, with what the node was and what was done.
fn forgeries(document: &Value, path: &[usize], other: &[usize]) -> Vec<(&'static str, Value)> {
    let mut out: Vec<(&str, Value)> = Vec::new();
    let original = node(&mut document.clone(), path).clone();
    let elsewhere = node(&mut document.clone(), other).clone();
    let mut forge = |what, change: &dyn Fn(&mut Value)| {
        let mut copy = document.clone();
        change(node(&mut copy, path));
        if copy != *document {
            out.push((what, copy));
        }
    };
    for kind in ["fact", "absent", "builtin"] {
        let Some(text) = original[kind].as_str() else {
            continue;
        };
        for (from, to) in [("a", "zz"), ("b", "a"), ("1", "2"), ("(", "((")] {
            forge("a changed constant", &|node| {
                node[kind] = text.replace(from, to).into();
            });
        }
        forge("another kind", &|node| {
            let fields = node.as_object_mut().unwrap();
            fields.remove(kind);
            fields.insert(
                if kind == "absent" {
                    "builtin"
                } else {
                    "absent"
                }
                .into(),
                text.into(),
            );
        });
        forge("an unknown field", &|node| node["note"] = true.into());
    }
    if original["fact"].is_string() {
        forge("no clause", &|node| {
            drop(node.as_object_mut().unwrap().remove("clause"))
        });
        for field in ["line", "column"] {
            forge("a moved clause", &|node| {
                node["clause"][field] = (node["clause"][field].as_u64().unwrap() + 1_000).into();
            });
        }
        forge("another file", &|node| {
            node["clause"]["file"] = "b.pl".into()
        });
        forge("an edited clause", &|node| {
            let text = node["clause"]["text"].as_str().unwrap().to_owned();
            node["clause"]["text"] = (text + " ").into();
        });
        if elsewhere["clause"]["text"].is_string()
            && elsewhere["clause"]["text"] != original["clause"]["text"]
        {
            forge("a swapped clause", &|node| {
                node["clause"] = elsewhere["clause"].clone()
            });
        }
    }
    let premises = original["because"].as_array().map_or(0, Vec::len);
    for at in 0..premises {
        let because = |node: &mut Value| node["because"].as_array().unwrap().clone();
        forge("a dropped premise", &|node| {
            let mut list = because(node);
            list.remove(at);
            node["because"] = list.into();
        });
        forge("a premise twice", &|node| {
            let mut list = because(node);
            list.insert(at, list[at].clone());
            node["because"] = list.into();
        });
        if at > 0 {
            forge("premises in another order", &|node| {
                let mut list = because(node);
                list.swap(at - 1, at);
                node["because"] = list.into();
            });
        }
        forge("a circle", &|node| {
            let mut circle = node.clone();
            circle.as_object_mut().unwrap().remove("because");
            node["because"][at] = circle;
        });
    }
    if premises > 0 {
        forge("no premises", &|node| {
            drop(node.as_object_mut().unwrap().remove("because"))
        });
        forge("itself as its only premise", &|node| {
            node["because"] = vec![node.clone()].into();
        });
    } else if original["fact"].is_string() {
        forge("a premise for a fact", &|node| {
            node["because"] = vec![elsewhere.clone()].into()
        });
    }
    out
}

#[test]
fn no_forged_proof_verifies() {
    let cases = std::env::var("HORNGATE_PROGRAMS").map_or(200, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let tried = RefCell::new(BTreeMap::<&str, usize>::new());
    let picks = (program(), 0_usize..1_000, 0_usize..1_000, 0_usize..1_000);
    TestRunner::new(config)
        .run(&picks, |(program, tuple, place, other)| {
            let model = evaluate(&program.to_string());
            let derived = program.derived();
            let mut tuples = tuples(&model);
            tuples.retain(|goal| derived.iter().any(|(name, _)| goal.starts_with(name)));
            if tuples.is_empty() {
                return Ok(());
            }
            let text = proof(&model, &tuples[tuple % tuples.len()]);
            let document: Value = serde_json::from_str(&text).unwrap();
            let paths = nodes(&document);
            let (path, other) = (&paths[place % paths.len()], &paths[other % paths.len()]);
            let verifier = Verifier::new(model.rulebase());
            let clause = node(&mut document.clone(), path)["clause"]["text"].clone();
            let has_alternatives = clause.as_str().is_some_and(|text| text.contains(';'));
            for (what, forged) in forgeries(&document, path, other) {
                // Another alternative may need fewer premises, or others.
                if has_alternatives && what.contains("premise") {
                    continue;
                }
                let verified = verifier.verify(&forged.to_string());
                prop_assert!(
                    matches!(verified, Err(VerifyError::Invalid { .. })),
                    "{what} verifies: {verified:?}\n{forged}\n{document}\n{program}"
                );
                *tried.borrow_mut().entry(what).or_default() += 1;
            }
            Ok(())
        })
        .unwrap();
    println!("{:?}", tried.borrow());
    assert!(tried.borrow().len() >= 13, "{:?}", tried.borrow());
}

#[test]
fn documents_that_are_no_proofs_are_rejected() {
    let model = evaluate("p(a). q(X) :- p(X). open(X) :- \\+ r(X). :- dynamic r/1.");
    let verifier = Verifier::new(model.rulebase());
    let good = proof(&model, "q(a)");
    let mut reasons = String::new();
    let hash = verifier.policy_hash().unwrap();
    for (text, by) in [
        ("{\"goal\"", "{\"extra\":1,\"goal\""),
        ("{\"goal\"", "{\"goal\":\"q(a)\",\"goal\""),
        ("\"holds\":true", "\"holds\":false"),
        ("\"holds\":true", "\"holds\":1"),
        ("\"holds\":true,", ""),
        ("\"goal\":\"q(a)\"", "\"goal\":\"q(b)\""),
        ("\"goal\":\"q(a)\"", "\"goal\":\"p(X), q(X)\""),
        ("\"goal\":\"q(a)\"", "\"goal\":\"\\\\+ q(b)\""),
        ("\"goal\":\"q(a)\"", "\"goal\":\"open(a)\""),
        ("\"goal\":\"q(a)\"", "\"goal\":\"q(\""),
        ("\"goal\":\"q(a)\"", "\"goal\":7"),
        (&hash, "sha256:0"),
        ("\"line\":1", "\"line\":01"),
        ("\"line\":1", "\"line\":1.0"),
        ("\"line\":1", "\"line\":-1"),
        ("\"line\":1", "\"line\":99999999999999999999999"),
        ("\"fact\":\"p(a)\"", "\"fact\":\"p(a)\",\"absent\":\"r(a)\""),
        ("\"fact\":\"p(a)\"", "\"fact\":\"p(\\ud800)\""),
        ("\"fact\":\"p(a)\"", "\"fact\":\"p(\\ud83d \\ude00)\""),
        ("\"fact\":\"p(a)\"", "\"fact\":\"p(\\q)\""),
        ("\"fact\":\"p(a)\"", "\"fact\":\"p(\n)\""),
        ("}]}", "}]},"),
        ("}]}", "}]]}"),
        ("}]}", "},]}"),
        ("p(a).\"}", "p(a).\"}} "),
    ] {
        assert!(good.contains(text), "{text} in {good}");
        let forged = good.replace(text, by);
        let error = verifier.verify(&forged).unwrap_err();
        assert!(matches!(error, VerifyError::Invalid { .. }), "{error}");
        reasons += &format!("{by}\n    {error}\n");
    }
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "{\"goal\":\"p(a)\"",
        "\u{feff}{}",
        "{\"a",
    ] {
        let error = verifier.verify(text).unwrap_err();
        reasons += &format!("{text}\n    {error}\n");
    }
    insta::assert_snapshot!(reasons.replace(&hash, "HASH"));
    // Blanks and the order of fields mean nothing.
    let document: Value = serde_json::from_str(&good).unwrap();
    let pretty = serde_json::to_string_pretty(&document).unwrap();
    assert!(verifier.verify(&format!("\n{pretty}\n")).is_ok());
}

#[test]
fn deep_and_long_documents_take_neither_the_stack_nor_long() {
    let model = evaluate("p(a). p(X) :- p(X).");
    let verifier = Verifier::new(model.rulebase());
    let clause = |column: usize, text: &str| {
        format!(
            "\"clause\":{{\"file\":\"a.pl\",\"line\":1,\"column\":{column},\"text\":\"{text}\"}}"
        )
    };
    let rule = clause(7, "p(X) :- p(X).");
    let document = |node: String| {
        let hash = verifier.policy_hash().unwrap();
        format!("{{\"goal\":\"p(a)\",\"holds\":true,\"proof\":{node},\"policy_hash\":\"{hash}\"}}")
    };
    let open = format!("{{\"fact\":\"p(a)\",{rule},\"because\":[");
    let depth = 20_000;
    let leaf = format!("{{\"fact\":\"p(a)\",{}}}", clause(1, "p(a)."));
    let nested = document(open.repeat(depth) + &leaf + &"]}".repeat(depth));
    let error = verifier.verify(&nested).unwrap_err().to_string();
    assert_eq!(error, "`p(a)`: it follows from itself: a circle");
    for hostile in [
        open.repeat(200_000),
        "[".repeat(1_000_000),
        "{\"goal\":".repeat(100_000),
        document(format!("{open}{}", leaf.repeat(100_000))),
        document(format!("{open}{}", "[".repeat(100_000))),
        format!("{{\"goal\":\"{}\"}}", "f(".repeat(500_000)),
        document(leaf.clone()).replace(
            "p(a)\",\"holds",
            &format!("{}\",\"holds", "\\\\+".repeat(200_000)),
        ),
    ] {
        assert!(verifier.verify(&hostile).is_err());
    }
    assert!(verifier.verify(&document(leaf)).is_ok());
}

/// All that is said about a goal that does not hold.
fn denial(model: &Model, goal: &str) -> String {
    let found = explain::why_not(model, goal)
        .unwrap_or_else(|error| panic!("{goal}: {error}"))
        .unwrap_or_else(|| panic!("{goal} holds"));
    let mut text = format!("{goal}: {}\n", found.obstacle().as_str());
    for failed in found.clauses() {
        let reached = failed
            .reached
            .map_or("-".to_owned(), |count| count.to_string());
        let place = (&failed.clause.file, failed.clause.line);
        text += &format!(
            "    {}:{} {reached} fails at {}\n",
            place.0, place.1, failed.fails_at
        );
    }
    for facts in found.missing() {
        text += &format!("    missing {}\n", facts.join(" and "));
    }
    for defeat in found.defeated_by() {
        let line = defeat.clause.as_ref().map(|clause| clause.line);
        text += &format!("    defeated by {} {line:?}\n", defeat.fact);
    }
    if !found.near().is_empty() {
        text += &format!("    near {}\n", found.near().join(", "));
    }
    if found.is_exhausted() {
        text += "    exhausted\n";
    }
    text
}

#[test]
fn denials_say_what_fails_what_is_missing_and_what_forbids() {
    let model = evaluate(
        r"
        :- dynamic blocked/2, suspended/1, approved/2, direct/2.
        member_of(ann, qa). member_of(qa, staff). member_of(bob, dev). member_of(dev, staff). member_of(staff, dev).
        in(A, G) :- member_of(A, G).
        in(A, G) :- in(A, H), member_of(H, G).
        grant(staff, tool_repl). grant(qa, tool_shell).
        blocked(bob, tool_repl).
        may(A, T) :- in(A, G), grant(G, T), \+ blocked(A, T).

        user(ann). user(bob). suspended(bob). level(ann, 2). level(bob, 9). level(eve, x).
        active(U) :- user(U), \+ suspended(U).
        senior(U) :- level(U, N), N \== x, N > 5.
        deploy(U) :- active(U), senior(U).

        required(deploy, security). required(deploy, lead). approved(deploy, lead).
        ready(T) :- required(T, _), \+ ( required(T, A), \+ approved(T, A) ).
        cautious(U) :- user(U), ( suspended(U) -> direct(U, x) ; direct(U, y), U \= bob ).
        only(root, T) :- grant(_, T).
        pair(X, Y) :- direct(X, Z), direct(Z, Y).
        ",
    );
    let mut text = String::new();
    for goal in [
        "may(bob, tool_repl)",
        "may(bob, tool_shell)",
        "may(ann, tool_deploy)",
        "may(anne, tool_repl)",
        "member_of(ann, dev)",
        "deploy(bob)",
        "deploy(ann)",
        "deploy(carl)",
        "ready(deploy)",
        "cautious(bob)",
        "cautious(ann)",
        "only(ann, tool_shell)",
        "pair(a, b)",
        "pair(X, b)",
        "senior(X), suspended(X), direct(X, _)",
        "\\+ user(ann)",
        "1 > 2",
        "X = 1, X > 2",
    ] {
        text += &denial(&model, goal);
    }
    insta::assert_snapshot!(text);
}

/// The facts with a value of one's choice for each variable and each `_`, all different.
fn chosen(facts: &[String], choice: &str) -> Vec<String> {
    let mut number = 2;
    let choose = |fact: &String| {
        let fact = (1..=2).fold(fact.clone(), |fact, at| {
            fact.replace(&format!("X{at}"), &format!("{choice}{at}"))
        });
        let mut parts = fact.split('_');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            number += 1;
            format!("{text}{choice}{number}{part}")
        })
    };
    facts.iter().map(choose).collect()
}

#[test]
fn what_is_missing_makes_the_goal_hold() {
    let cases = std::env::var("HORNGATE_PROGRAMS").map_or(100, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let (denied, mended, forbidden) = (Cell::new(0), Cell::new(0), Cell::new(0));
    TestRunner::new(config)
        .run(&program(), |program| {
            let model = evaluate(&program.dynamic());
            for (name, arity) in program.derived() {
                for (at, first) in CONSTANTS.iter().enumerate().take(4) {
                    let goal = match arity {
                        1 => format!("{name}({first})"),
                        _ => format!("{name}({first},{})", CONSTANTS[(at + 1) % 4]),
                    };
                    let before = model.query(&goal).map(|answers| answers.holds());
                    let Ok(Some(found)) = explain::why_not(&model, &goal) else {
                        prop_assert!(!matches!(before, Ok(false)));
                        continue;
                    };
                    denied.set(denied.get() + 1);
                    let sizes: Vec<usize> = found.missing().iter().map(Vec::len).collect();
                    prop_assert!(sizes.is_sorted() && sizes.len() <= 10);
                    for facts in found.missing() {
                        let holds = ["any", "zoe", "-7", "7"].map(|choice| {
                            let facts = chosen(facts, choice);
                            let after = model.apply(facts.iter().map(String::as_str), []);
                            let answers = after.unwrap().query(&goal);
                            answers.is_ok_and(|answers| answers.holds())
                        });
                        prop_assert!(holds.contains(&true), "{goal} with {facts:?}\n{program}");
                        mended.set(mended.get() + 1);
                    }
                    for defeat in found.defeated_by() {
                        let holds = model.query(&defeat.fact).map(|answers| answers.holds());
                        prop_assert!(!matches!(holds, Ok(false)), "{}", defeat.fact);
                        forbidden.set(forbidden.get() + 1);
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    println!("{denied:?} denied, {mended:?} sets, {forbidden:?} forbid");
    assert!(mended.get() > 100);
}

#[test]
fn long_bodies_and_deep_negations_are_no_trouble() {
    let many = vec!["q(X)"; 499].join(", ");
    let absent = vec!["\\+ r(X, _)"; 249].join(", ");
    let mut deep = "q(X)".to_owned();
    for _ in 0..100 {
        deep = format!("\\+ ( q(X), {deep} )");
    }
    let model = evaluate(&format!(
        ":- dynamic r/2. q(a). q(b).
        many(X) :- {many}.
        late(X) :- {many}, r(X, _).
        absent(X) :- q(X), {absent}.
        deep(X) :- q(X), {deep}.
        other(X) :- q(X), \\+ {deep}.
        most(X, Y) :- q(X), q(Y), X \\= Y, {}.",
        vec!["\\+ \\+ (q(X) ; q(Y))"; 100].join(", ")
    ));
    for goal in ["many(a)", "absent(b)", "deep(a)", "most(a, b)"] {
        proof(&model, goal);
    }
    assert!(denial(&model, "late(a)").contains("499 fails at r(a,_)"));
    denial(&model, "many(c)");
    denial(&model, "other(a)");
}
