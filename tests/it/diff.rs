//! Differences agree with a comparison of all pairs.

use crate::programs::program;
use horngate::explain::{self, Explainer};
use horngate::{Allowlist, Budget, Diff, GrantingClauses, Model, Rulebase, Source};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The atoms of random programs, and one that occurs nowhere.
const NAMES: &[&str] = &["a", "b", "c", "d", "x1", "nowhere"];

fn model(text: &str) -> Option<Model> {
    let rulebase = Rulebase::load([Source::new("a.pl", text)]).ok()?;
    rulebase.evaluate(&Budget::default()).ok()
}

#[test]
fn exactly_the_pairs_that_change() {
    let (compared, differing) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    });
    let strategy = (program(), program(), any::<proptest::sample::Index>(), 0..4);
    runner
        .run(&strategy, |(old, other, line, change)| {
            let old = old.to_string();
            // Another program, or the same one with a line less or more.
            let mut lines: Vec<String> = old.lines().map(str::to_owned).collect();
            let at = line.index(lines.len());
            match change {
                0 => lines = other.to_string().lines().map(str::to_owned).collect(),
                1 => drop(lines.remove(at)),
                2 => lines.push("e2(a, d).".to_owned()),
                _ => lines.push("q2(b, x1).".to_owned()),
            }
            let (Some(old), Some(new)) = (model(&old), model(&lines.join("\n"))) else {
                return Ok(());
            };
            let bind = |model, predicate| Allowlist::bind_with_prefix(model, predicate, "");
            for predicate in ["p2/2", "q2/2", "e2/2"] {
                let (Ok(old), Ok(new)) = (bind(&old, predicate), bind(&new, predicate)) else {
                    continue;
                };
                compared.fetch_add(1, Ordering::Relaxed);
                let (mut allowed, mut denied) = (Vec::new(), Vec::new());
                for actor in NAMES {
                    for tool in NAMES {
                        let was = old.decide(actor, tool).is_allow();
                        let is = new.decide(actor, tool).is_allow();
                        match (was, is) {
                            (false, true) => allowed.push((*actor, *tool)),
                            (true, false) => denied.push((*actor, *tool)),
                            _ => {}
                        }
                    }
                }
                let diff = Diff::between(&old, &new);
                differing.fetch_add(usize::from(!diff.is_empty()), Ordering::Relaxed);
                prop_assert_eq!(&diff, &Diff { allowed, denied });
                // Each has a reason on the side that allows it.
                let mut clauses = GrantingClauses::new(&new, new.sources());
                for (actor, tool) in &diff.allowed {
                    let text = clauses
                        .find(actor, tool)
                        .map(|span| new.sources().text(span));
                    let name = predicate.split('/').next().unwrap_or("");
                    prop_assert!(
                        text.is_some_and(|text| text.starts_with(name)),
                        "{} {} {:?}",
                        actor,
                        tool,
                        text
                    );
                }
                // What becomes denied has lost something.
                let mut explainer = Explainer::new(old.model());
                for (actor, tool) in &diff.denied {
                    let proof = explainer.why_allowed(&old, actor, tool).unwrap().unwrap();
                    let lost = explain::lost(&proof, new.model(), &Budget::default());
                    prop_assert!(!lost.is_empty(), "{} {}", actor, tool);
                    prop_assert_eq!(
                        explain::lost(&proof, old.model(), &Budget::default()),
                        [0; 0]
                    );
                }
                let back = Diff::between(&new, &old);
                prop_assert_eq!((&back.allowed, &back.denied), (&diff.denied, &diff.allowed));
            }
            Ok(())
        })
        .unwrap();
    let (compared, differing) = (compared.into_inner(), differing.into_inner());
    assert!(
        compared > 200 && differing > 50,
        "{compared} compared, {differing} differ"
    );
}
