//! When demand applies. That its answers are right is tested from outside, where it may also stand aside.

#[path = "../../../tests/it/programs.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "the tests from outside use all of it"
)]
mod programs;

use super::demanded;
use crate::engine::query::Asked;
use crate::{Budget, Rulebase, Source};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

/// How many rows the goal has by demand; `None` when demand stands aside.
fn rows(rulebase: &Rulebase, goal: &str) -> Option<u32> {
    let asked = Asked::over(rulebase, &rulebase.data.constants, goal).ok()?;
    let data = &rulebase.data;
    let slice = data.graph.slice(asked.callees().into_iter());
    demanded(data, &asked, &slice, &Budget::default()).map(|(_, relation)| relation.len())
}

#[test]
fn demand_applies_where_something_is_known_and_nothing_can_fail() {
    let deep = format!("{}a{}", "f(".repeat(250), ")".repeat(250));
    let cases = [
        ("p(X, Y) :- e(X, Y). e(a, b).", "p(a, X)", true),
        ("p(X, Y) :- e(X, Y). e(a, b).", "p(X, Y)", false),
        ("p(X, Y) :- e(X, Y). e(a, b).", "e(a, X)", false),
        (
            "p(X, Y) :- e(X, Y). e(a, b). few(a).",
            "few(X), p(X, Y)",
            true,
        ),
        (
            "p(X, Y) :- e(X, Y). q(X) :- p(a, X). e(a, b).",
            "q(X)",
            true,
        ),
        // A negation that depends on its own demand unless the sides are kept apart.
        (
            "p(X, Y) :- e(X, Y), \\+ n(Y, X). n(X, Y) :- e(X, Y), d(X). d(b). e(a, b).",
            "p(a, Y), \\+ n(b, Y)",
            true,
        ),
        // Recursion through a negation's demand: all of the negated predicate, a part of the other.
        (
            "p(X, Y) :- e(X, Y). p(X, Z) :- p(X, Y), e(Y, Z), \\+ n(Y). n(X) :- d(X, Y), d(Y, X). d(b, c). e(a, b).",
            "p(a, Y)",
            true,
        ),
        // Arithmetic, and terms that may nest too deep, are evaluated in full.
        ("p(X, Y) :- e(X, Y), Y > 3. e(a, 4).", "p(a, X)", false),
        (
            "q(X, Y) :- e(X, Y). p(X) :- e(X, Y), Y > 3. e(a, 4).",
            "p(a), q(a, X)",
            true,
        ),
        ("p(X, f(Y)) :- e(X, Y). e(a, 4).", "p(a, X)", true),
        (
            &*format!("p(X, f(f(f(f(Y))))) :- e(X, Y). e(a, {deep})."),
            "p(a, X)",
            false,
        ),
        // What is known stays on its side of arithmetic.
        (
            "p(X, Y) :- e(X, Y). few(a). e(a, 4).",
            "p(X, Y), Y > 3, few(X)",
            false,
        ),
        (
            "p(X, Y) :- e(X, Y). few(a). e(a, 4).",
            "few(X), p(X, Y), Y > 3",
            true,
        ),
    ];
    for (rules, goal, applies) in cases {
        let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
        assert_eq!(
            rows(&rulebase, goal).is_some(),
            applies,
            "{goal} in {rules}"
        );
    }
}

#[test]
fn demand_often_applies_to_random_goals() {
    let mut runner = TestRunner::deterministic();
    let (mut asked, mut applied, mut held) = (0, 0, 0);
    for _ in 0..300 {
        let program = programs::plain_program()
            .new_tree(&mut runner)
            .unwrap()
            .current();
        let rulebase = Rulebase::load([Source::new("a.pl", program.to_string())]).unwrap();
        for _ in 0..10 {
            let goal = programs::goal().new_tree(&mut runner).unwrap().current();
            if rulebase.query(&goal, &Budget::default()).is_err() {
                continue;
            }
            asked += 1;
            if let Some(rows) = rows(&rulebase, &goal) {
                applied += 1;
                held += usize::from(rows > 0);
            }
        }
    }
    assert!(applied * 5 > asked, "{applied} of {asked}");
    assert!(held * 8 > applied, "{held} of {applied}");
}
