//! A goal asked of a rulebase is answered as the full model would answer it, or refused for the same reasons.

use crate::differential::programs;
use crate::programs::{RandomProgram, goal, plain_program, program};
use horngate::{Answers, Budget, Code, Model, QueryError, Rulebase, Source};
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};

fn load(rules: &str) -> Rulebase {
    Rulebase::load([Source::new("rules.pl", rules)])
        .unwrap_or_else(|error| panic!("{error}\n{rules}"))
}

pub type Said = Result<(Vec<String>, u64, Vec<Vec<String>>), Vec<horngate::Diagnostic>>;

pub fn said(answer: Result<Answers, QueryError>) -> Said {
    match answer {
        Ok(answers) => Ok((
            answers.names().iter().map(ToString::to_string).collect(),
            answers.count(),
            answers.solutions(),
        )),
        Err(error) => Err(error.diagnostics),
    }
}

fn full(rulebase: &Rulebase) -> Model {
    rulebase.evaluate(&Budget::default()).unwrap()
}

fn agree(rulebase: &Rulebase, model: &Model, goal: &str) -> (Said, Said) {
    (
        said(rulebase.query(goal, &Budget::default())),
        said(model.query(goal)),
    )
}

/// The plain goals of a program: each predicate with every combination of known and open arguments.
fn plain_goals() -> Vec<String> {
    let arguments = ["a", "b", "1", "2", "X", "f(a)", "nowhere"];
    let mut goals = Vec::new();
    for (name, arity) in RandomProgram::predicates() {
        match arity {
            0 => goals.push(name.to_owned()),
            1 => goals.extend(arguments.iter().map(|arg| format!("{name}({arg})"))),
            _ => goals.extend(arguments.iter().flat_map(|first| {
                ["a", "2", "Y", "X"]
                    .iter()
                    .map(move |second| format!("{name}({first}, {second})"))
            })),
        }
    }
    goals
}

/// Runs `check` on so many programs, or on as many as the environment says.
fn on_programs<S: Strategy>(default: u32, strategy: &S, check: impl Fn(S::Value)) {
    let config = Config {
        cases: programs(default),
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(strategy, |value| {
            check(value);
            Ok(())
        })
        .unwrap();
}

fn check(program: &RandomProgram, goals: &[String]) {
    let rulebase = load(&program.to_string());
    let model = full(&rulebase);
    for goal in goals {
        let (ours, theirs) = agree(&rulebase, &model, goal);
        assert_eq!(ours, theirs, "{goal} in\n{program}");
    }
}

#[test]
fn plain_goals_are_answered_as_by_the_full_model() {
    on_programs(25, &program(), |program| check(&program, &plain_goals()));
    on_programs(25, &plain_program(), |program| {
        check(&program, &plain_goals())
    });
}

#[test]
fn goals_of_every_form_are_answered_as_by_the_full_model() {
    let goals = || proptest::collection::vec(goal(), 12);
    on_programs(100, &(program(), goals()), |(program, goals)| {
        check(&program, &goals)
    });
    on_programs(300, &(plain_program(), goals()), |(program, goals)| {
        check(&program, &goals)
    });
}

/// A budget that the full model exceeds, and goals that it is enough for.
fn enough(rules: &str, budget: &Budget, goals: &[&str]) {
    let rulebase = load(rules);
    assert!(
        rulebase.evaluate(budget).is_err(),
        "the budget is too large"
    );
    let model = full(&rulebase);
    let mut held = 0;
    for goal in goals {
        let answers = rulebase
            .query(goal, budget)
            .unwrap_or_else(|error| panic!("{goal}: {error}"));
        held += usize::from(answers.holds());
        assert_eq!(said(Ok(answers)), said(model.query(goal)), "{goal}");
    }
    assert!(0 < held && held < goals.len(), "of both sorts: {held}");
}

fn firings(firings: u64) -> Budget {
    Budget {
        firings,
        ..Budget::default()
    }
}

/// A ring of 200 nodes, beside another.
fn rings() -> String {
    (0..200)
        .flat_map(|node| {
            let next = (node + 1) % 200;
            [
                format!("edge(a{node}, a{next}).\n"),
                format!("edge(b{node}, b{next}).\n"),
            ]
        })
        .collect()
}

#[test]
fn a_closure_of_which_one_end_is_known_costs_a_walk() {
    let goals = [
        "path(a0, X)",
        "path(X, a0)",
        "path(a0, a7)",
        "path(a0, b7)",
        "path(a0, X), path(X, a3)",
        "edge(a0, X), path(X, Y), \\+ edge(Y, Y)",
    ];
    for recursion in [
        "path(X, Z) :- path(X, Y), edge(Y, Z).",
        "path(X, Z) :- edge(X, Y), path(Y, Z).",
        "path(X, Z) :- path(X, Y), path(Y, Z).",
    ] {
        let rules = format!("path(X, Y) :- edge(X, Y).\n{recursion}\n{}", rings());
        enough(&rules, &firings(20_000), &goals);
    }
}

#[test]
fn a_known_actor_costs_its_own_groups_only() {
    let mut rules = String::from(
        "in(U, G) :- member_of(U, G).
         in(U, G) :- member_of(U, H), in(H, G).
         banned(U, T) :- in(U, G), ban(G, T).
         may(U, T) :- user(U), in(U, G), grants(G, T), \\+ banned(U, T).\n",
    );
    for user in 0..2_000 {
        rules += &format!("user(u{user}). member_of(u{user}, g{}).\n", user % 100);
    }
    for group in 0..100 {
        rules += &format!(
            "grants(g{group}, t{}). ban(g{group}, t{}).\n",
            group % 7,
            group % 11
        );
        if group > 0 {
            rules += &format!("member_of(g{group}, g{}).\n", group / 2);
        }
    }
    enough(
        &rules,
        &firings(12_000),
        &[
            "may(u1, T)",
            "may(u1999, T)",
            "may(nobody, T)",
            "may(u93, t5)",
            "may(u93, T), \\+ banned(u94, T)",
        ],
    );
}

#[test]
fn the_same_generation_is_found_by_going_up_and_down() {
    let mut rules = String::from(
        "sg(X, Y) :- par(P, X), par(P, Y).
         sg(X, Y) :- par(P, X), sg(P, Q), par(Q, Y).\n",
    );
    for node in 1..1_023 {
        rules += &format!("par(n{}, n{node}).\n", (node - 1) / 2);
    }
    enough(
        &rules,
        &firings(20_000),
        &["sg(n14, X)", "sg(n1000, n1001)", "sg(n1, n7)"],
    );
}

/// Each line of rules with goals: the answers are those of the full model.
#[test]
fn points_of_care() {
    let cases: &[(&str, &[&str])] = &[
        // Facts beside rules.
        (
            "p(a, b). p(X, Z) :- p(X, Y), e(Y, Z). e(b, c). e(c, d).",
            &["p(a, X)", "p(X, d)", "p(a, d)", "p(b, X)"],
        ),
        // Constants and repeated variables in heads and goals.
        (
            "p(a, X) :- e(X). p(X, X) :- e(X). e(a). e(b).",
            &["p(a, X)", "p(X, X)", "p(b, X)", "p(X, b)", "p(X, Y), X \\== Y"],
        ),
        // Terms in heads and bodies.
        (
            "p(f(X), Y) :- e(X, Y). q(X) :- p(f(X), _). r(X, g(Y)) :- e(X, Y). e(a, b). e(b, c).",
            &["p(f(a), Y)", "p(f(X), c)", "p(X, b)", "q(a)", "q(X)", "r(a, X)", "r(X, g(c))"],
        ),
        // A call that brings what a rule tests before it binds it.
        (
            "p(X, Y) :- X \\== Y, e(X), e(Y). q(X) :- e(X), p(a, X). e(a). e(b).",
            &["p(a, Y)", "p(X, b)", "p(X, Y)", "q(X)", "q(b)", "\\+ p(a, a)"],
        ),
        // Negation inside the recursion that the demand passes through.
        (
            "in(X, G) :- m(X, G). in(X, G) :- in(X, H), m(H, G), \\+ closed(H).
             closed(H) :- flag(H, F), bad(F). m(u, g). m(g, h). m(h, i). flag(h, red). bad(red).",
            &["in(u, G)", "in(X, i)", "in(u, i)", "in(g, X)"],
        ),
        // A negation of what the negating predicate's own demand comes through.
        (
            "a(X, Y) :- s(X, Y), \\+ b(X, Y). b(X, Y) :- t(X, Y), \\+ c(X, Y). c(X, Y) :- s(Y, X), t(Y, X).
             d(X, Z) :- a(X, Y), b(Y, Z), \\+ c(X, Z). s(1, 2). s(2, 1). s(2, 3). t(1, 2). t(2, 3). t(3, 1).",
            &["a(1, Y)", "a(X, 3)", "b(2, Y)", "d(1, Z)", "d(X, 1)", "d(2, Z)", "\\+ d(1, 2)"],
        ),
        // Nested negations, conditions and disjunctions.
        (
            "ok(X) :- e(X), \\+ ( n(X, Y), \\+ g(Y) ). n(X, Y) :- m(X, Y). n(X, Z) :- n(X, Y), m(Y, Z).
             g(X) :- e(X), ( w(X, Y), g0(Y) -> true ; g0(X) ). w(X, Y) :- n(Y, X).
             e(a). e(b). e(c). m(a, b). m(b, c). g0(b). g0(c).",
            &["ok(a)", "ok(X)", "g(a)", "g(b)", "ok(c), n(a, X)", "w(c, X)"],
        ),
        // Mutual recursion.
        (
            "even(X, Y) :- e(X, Z), odd(Z, Y). even(X, X) :- v(X). odd(X, Y) :- e(X, Z), even(Z, Y).
             v(a). v(b). v(c). e(a, b). e(b, c). e(c, a).",
            &["even(a, X)", "odd(X, a)", "even(a, a)", "odd(b, a), even(b, X)"],
        ),
        // Arithmetic below and above.
        (
            "age(X, N) :- born(X, B), N is 2026 - B. adult(X) :- age(X, N), N >= 18. may(X, T) :- adult(X), t(T).
             born(a, 2000). born(b, 2020). t(x). t(y).",
            &["may(a, T)", "may(b, T)", "adult(X)", "age(a, N), N > 3", "may(X, x), age(X, N), M is N * 2"],
        ),
        // No value anywhere in the slice, though the goal does not come to it.
        (
            "bad(X) :- e(X, N), N > 1. p(X) :- f(X), \\+ bad(X). q(X) :- f(X). p2(X, Y) :- p(X), q(Y).
             e(a, one). e(b, 2). f(b). f(c).",
            &["p(b)", "p(c)", "bad(b)", "q(b)", "p2(c, X)", "q(X), \\+ p(X)"],
        ),
        // A test of the goal sees what stands before it, whatever stands behind.
        (
            "n(X, V) :- v(X, V). k(X) :- good(X). v(a, 1). v(b, two). v(c, 3). good(a).",
            &["n(X, V), V > 0", "n(a, V), V > 0", "n(X, V), V > 0, k(X)", "k(X), n(X, V), V > 0", "n(b, V), V > 0"],
        ),
        // Nothing is known, or nothing can hold.
        (
            "p(X) :- e(X), fail. q :- e(a), p2(a). p2(X) :- e(X). r(X) :- member(X, [a, z]), p2(X). e(a). e(b).",
            &["p(a)", "q", "r(X)", "r(a)", "r(z)", "\\+ q", "fail", "true", "X = a, p2(X)", "p2(X), X = b"],
        ),
        // The same predicate asked for a part here and for all there.
        (
            "p(X, Y) :- e(X, Y). p(X, Z) :- e(X, Y), p(Y, Z). q(X) :- p(a, X), p(_, b). e(a, b). e(b, c).",
            &["q(b)", "q(X)", "p(a, X), p(Y, X)", "p(a, X), p(Y, Z)"],
        ),
    ];
    for (rules, goals) in cases {
        let rulebase = load(rules);
        let model = full(&rulebase);
        for goal in *goals {
            let (ours, theirs) = agree(&rulebase, &model, goal);
            assert_eq!(ours, theirs, "{goal} in\n{rules}");
        }
    }
}

#[test]
fn a_budget_names_what_ran_out_and_where() {
    let rulebase = load("d(1). d(2). d(3). p(X, Y) :- d(X), d(Y).");
    let tight = Budget {
        tuples: 5,
        ..Budget::default()
    };
    let error = rulebase.query("p(1, Y), p(X, 2)", &tight).unwrap_err();
    assert_eq!(error.diagnostics[0].code, Code::Budget);
    assert_eq!(error.diagnostics[0].predicate.as_deref(), Some("p/2"));
}

#[test]
fn what_does_not_parse_or_is_not_there_is_refused() {
    let rulebase = load("p(a). q(X).");
    for goal in ["p(", "r(X)", "q(a)", "p(a), q(X)", "p(X), X < Y"] {
        let error = rulebase.query(goal, &Budget::default()).unwrap_err();
        let model = full(&rulebase);
        assert_eq!(
            error.diagnostics,
            model.query(goal).unwrap_err().diagnostics,
            "{goal}"
        );
        assert!(error.sources.iter().count() == 2, "{goal}");
    }
}
