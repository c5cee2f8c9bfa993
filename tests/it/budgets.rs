//! Budgets: each kind of growth is counted, and running out says how far it came and where. Nothing here is timed.

use crate::demand::{Said, said};
use crate::programs::{goal, plain_program, program};
use horngate::{
    Budget, BudgetExceeded, Code, Loader, Program, Rulebase, Severity, Source, Sources,
};
use proptest::prelude::*;

fn load(rules: &str) -> Rulebase {
    Rulebase::load([Source::new("rules.pl", rules)]).unwrap()
}

fn tuples(tuples: u64) -> Budget {
    Budget {
        tuples,
        ..Budget::default()
    }
}

fn firings(firings: u64) -> Budget {
    Budget {
        firings,
        ..Budget::default()
    }
}

fn exceeded(rules: &str, budget: &Budget) -> BudgetExceeded {
    match load(rules).evaluate(budget) {
        Ok(_) => panic!("the budget is enough for {rules}"),
        Err(exceeded) => exceeded,
    }
}

/// `fact(0). fact(1). …`
fn numbered(name: &str, count: usize) -> String {
    (0..count)
        .map(|number| format!("{name}({number}).\n"))
        .collect()
}

fn start(rules: &str, error: &BudgetExceeded) -> String {
    load(rules).sources().start(error.span).to_string()
}

#[test]
fn running_out_says_what_how_far_and_where() {
    let rules = "d(1). d(2). d(3).\n\n  p(X, Y) :- d(X), d(Y).\n";
    let error = exceeded(rules, &tuples(5));
    assert_eq!(
        (error.what, error.limit, &*error.predicate),
        ("tuples", 5, "p/2")
    );
    assert!(error.reached > 5, "{error}");
    assert_eq!(start(rules, &error), "3:3");
    let said = error.diagnostic();
    assert_eq!(
        (said.code, said.predicate.as_deref()),
        (Code::Budget, Some("p/2"))
    );
    assert_eq!(
        said.help.as_deref(),
        Some("if the rules need more, raise `--max-tuples`")
    );

    let error = exceeded(rules, &firings(4));
    assert_eq!(
        (error.what, error.limit, &*error.predicate),
        ("firings", 4, "p/2")
    );
    assert_eq!(start(rules, &error), "3:3");

    // Facts stand in no clause that is at work: the first of them is the place.
    let error = exceeded("q(0).\nd(1). d(2). d(3).", &tuples(2));
    assert_eq!((error.reached, &*error.predicate), (4, "d/1"));
    assert_eq!(start("q(0).\nd(1). d(2). d(3).", &error), "2:1");
}

#[test]
fn every_form_of_evaluation_counts_tuples_in_its_clause() {
    let edges = "e(1, 2). e(2, 3). e(3, 4). e(4, 1).\n";
    let cases = [
        // Batches, recursion value by value, other recursion, terms, alternatives.
        "p(X, Y) :- e(X, _), e(Y, _).",
        "p(X, Y) :- e(X, Y).\np(X, Z) :- p(X, Y), e(Y, Z).",
        "p(X, Y) :- e(X, Y).\np(X, Z) :- p(X, Y), e(Y, W), e(W, Z).",
        "p(f(X), Y) :- e(X, _), e(Y, _).",
        "p(X, Y) :- e(X, _), ( e(Y, _) ; e(_, Y) ).",
    ];
    for rule in cases {
        let rules = format!("{edges}{rule}");
        let error = exceeded(&rules, &tuples(10));
        assert_eq!((error.what, &*error.predicate), ("tuples", "p/2"), "{rule}");
        let line = load(&rules).sources().start(error.span).line;
        assert_eq!(line, 1 + rule.lines().count(), "{rule}");
    }
}

#[test]
fn rows_that_lead_to_nothing_are_firings() {
    let d = numbered("d", 100);
    let pairs: String = (0..2_000)
        .map(|number| format!("e(k, {number}, {}).\nf(k, {number}).\n", number + 1))
        .collect();
    let cases = [
        // A product without a result, in batches and tuple by tuple.
        format!("{d} p(X) :- d(X), d(Y), d(Z), X == Y, Y \\== Y."),
        format!("{d} p(X) :- d(X), d(Y), d(Z), Y @< X, X @< Y."),
        // Rows found by a key that do not fit.
        format!("{pairs} s(k). p(X) :- s(X), e(X, Y, Y)."),
        format!("{pairs} s(k). p(X) :- s(X), e(X, f(_), _)."),
        // Rows looked at for a negation.
        format!("{pairs} s(k). p(X) :- s(X), \\+ ( f(X, Y), Y == none )."),
        // Items of a list.
        format!(
            "l([{}]). p(X) :- l(L), member(X, L), X == none.",
            vec!["a"; 2_000].join(",")
        ),
        // A walk through a graph without anything new.
        format!("{} t(X, Y) :- g(X, Y). t(X, Z) :- t(X, Y), g(Y, Z).", {
            let node = |from: usize| (0..20).map(move |to| format!("g({from}, {to}).\n"));
            (0..20).flat_map(node).collect::<String>()
        }),
    ];
    for rules in cases {
        let error = exceeded(&rules, &firings(1_500));
        assert_eq!(error.what, "firings", "{}", rules.lines().last().unwrap());
    }
}

#[test]
fn wide_tuples_and_new_constants_count_as_several() {
    // Eight arguments are two fours.
    let wide = "d(1). d(2). p(X, X, X, X, Y, Y, Y, Y) :- d(X), d(Y).";
    assert_eq!(exceeded(wide, &tuples(9)).reached, 10);
    assert!(load(wide).evaluate(&tuples(10)).is_ok());

    let d = numbered("d", 10);
    let cases = [
        // Numbers and terms that no tuple ever has.
        format!("{d} p(X) :- d(X), d(Y), Z is X * 1000 + Y, Z < 0."),
        format!("{d} p(X) :- d(X), d(Y), Z = f(X, Y), Z == X."),
        format!("{d} p(X) :- d(X), d(Y), f(X, Y) @< X."),
        format!("{d} p(X) :- d(X), d(Y), member(Z, [g(X, Y)]), Z == X."),
    ];
    for rules in cases {
        let error = exceeded(&rules, &tuples(200));
        assert_eq!(
            (error.what, &*error.predicate),
            ("tuples", "p/1"),
            "{rules}"
        );
        assert!(load(&rules).evaluate(&tuples(1_000)).is_ok(), "{rules}");
    }

    // A number of 4,000 digits is no small constant.
    let square = |from: &str, to: &str| format!("{to} is {from} * {from}");
    let steps: Vec<String> = ["X", "A", "B", "C", "D"]
        .windows(2)
        .map(|pair| square(pair[0], pair[1]))
        .collect();
    let rules = format!(
        "d(1{}). p(X) :- d(X), {}, D < 0.",
        "0".repeat(240),
        steps.join(", ")
    );
    assert!(exceeded(&rules, &tuples(100)).reached > 110);
}

#[test]
fn a_batch_holds_no_more_than_a_batch() {
    let facts: String = (0..20_000)
        .map(|number| format!("e(k, {number}).\n"))
        .collect();
    let variables: Vec<String> = (0..30).map(|number| format!("V{number}")).collect();
    let calls: Vec<String> = variables.iter().map(|v| format!("e(K, {v})")).collect();
    for key in ["d(K)", "K = k"] {
        let rules = format!(
            ":- dynamic z/30.\nd(k). p(K, V29) :- {key}, {}, \\+ z({}).\n{facts}",
            calls.join(", "),
            variables.join(", ")
        );
        let rulebase = load(&rules);
        let measured = allocation_counter::measure(|| {
            assert!(rulebase.evaluate(&firings(1_000_000)).is_err());
        });
        assert!(measured.bytes_max < 6_000_000, "{key}: {measured:?}");
    }
}

#[test]
fn once_the_head_is_known_one_solution_is_enough() {
    let facts: String = (0..300)
        .map(|number| format!("e(k, {number}).\n"))
        .collect();
    // The terms leave the rule to be run tuple by tuple; all solutions would be 27 million.
    let rules = "p(K) :- d(f(K)), e(K, A), e(K, B), e(K, C), \\+ z(A, B, C).";
    let rulebase = load(&format!(":- dynamic z/3.\nd(f(k)). {rules}\n{facts}"));
    let model = rulebase.evaluate(&firings(10_000)).unwrap();
    assert!(model.query("p(k)").unwrap().holds());
    // What may have no value is evaluated on all of them.
    let rules = "p(K) :- d(f(K)), e(K, A), e(K, B), e(K, C), A + B + C >= 0.";
    let rulebase = load(&format!("d(f(k)). {rules}\n{facts}"));
    assert!(rulebase.evaluate(&firings(10_000)).is_err());
}

fn places(sources: &Sources, found: &[horngate::Diagnostic]) -> Vec<String> {
    found
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| {
            let (name, start) = (sources.name(found.span), sources.start(found.span));
            format!("{name}:{start}: {} {}", found.code, found.message)
        })
        .collect()
}

#[test]
fn clauses_are_counted_over_all_texts() {
    let files = [
        ("a.pl", ":- dynamic r/1.\np(a). p(b).\n"),
        ("b.pl", "q(a) :- p(a).\n\n q(b).\n"),
    ];
    let cases = [
        (5, None),
        (
            4,
            Some("b.pl:3:2: HG0902 the budget of 4 clauses ran out at 5"),
        ),
        (
            3,
            Some("b.pl:1:1: HG0902 the budget of 3 clauses ran out at 4"),
        ),
        (
            2,
            Some("a.pl:2:7: HG0902 the budget of 2 clauses ran out at 3"),
        ),
        (
            0,
            Some("a.pl:1:1: HG0902 the budget of 0 clauses ran out at 1"),
        ),
    ];
    for (clauses, expected) in cases {
        let budget = Budget {
            clauses,
            ..Budget::default()
        };
        let sources = files.map(|(name, text)| Source::new(name, text));
        let sources_of = Sources::new(sources.clone());
        let checked = Rulebase::check(Program::parse_within(sources, &budget));
        let whole = places(&checked.sources, &checked.diagnostics);
        for size in [1, 4_096] {
            let mut loader = Loader::within(&budget);
            for (name, text) in files {
                loader.begin(name);
                text.as_bytes()
                    .chunks(size)
                    .for_each(|piece| loader.feed(piece));
            }
            let pieces = match loader.finish() {
                Ok(_) => Vec::new(),
                Err(error) => places(&sources_of, error.exceeded.map(|found| *found).as_slice()),
            };
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(whole, expected);
            assert_eq!(pieces, expected, "in pieces of {size}");
        }
        assert_eq!(checked.rulebase.is_ok(), expected.is_none());
    }
}

#[test]
fn nesting_is_bounded_by_the_budget_and_never_beyond_256() {
    let cases = [
        (3, "p(f(g(a))).\n", None),
        (
            2,
            "q(a).\np(f(g(a))).\n",
            Some("a.pl:2:5: HG0203 nested 3 levels deep, and the limit is 2"),
        ),
        (
            2,
            "p(X) :- (((q(X)))).\n",
            Some("a.pl:1:11: HG0203 nested 3 levels deep, and the limit is 2"),
        ),
        (0, "p(a).\n", None),
    ];
    for (depth, text, expected) in cases {
        let budget = Budget {
            depth,
            ..Budget::default()
        };
        let checked = Rulebase::check(Program::parse_within([Source::new("a.pl", text)], &budget));
        let expected: Vec<&str> = expected.into_iter().collect();
        assert_eq!(places(&checked.sources, &checked.diagnostics), expected);
        let mut loader = Loader::within(&budget);
        loader.begin("a.pl");
        loader.feed(text.as_bytes());
        assert_eq!(loader.finish().is_ok(), expected.is_empty(), "{text}");
    }
    let budget = Budget {
        depth: usize::MAX,
        ..Budget::default()
    };
    let text = format!("p({}a{}).", "f(".repeat(5_000), ")".repeat(5_000));
    let program = Program::parse_within([Source::new("a.pl", text)], &budget);
    assert_eq!(
        program.diagnostics()[0].message,
        "nested 257 levels deep, and the limit is 256"
    );
}

#[test]
fn a_probe_has_a_budget_of_its_own() {
    let rules = format!(
        "{}open(_, Y) :- d(Y), d(Z), d(W), Z == W, W == nothing.",
        numbered("d", 50)
    );
    let rulebase = load(&rules);
    let error = rulebase.probe("open(a, 1)", &firings(1_000)).unwrap_err();
    let found = &error.diagnostics[0];
    assert_eq!(found.code, Code::Budget);
    assert_eq!(
        found.message,
        "the probe's budget of 1000 steps ran out at 1001 in `open/2`"
    );
    assert_eq!(error.sources.start(found.span).line, 51);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    /// A budget decides whether there is an answer, never which.
    #[test]
    fn a_budget_changes_no_answer(
        program in prop_oneof![program(), plain_program()],
        goals in proptest::collection::vec(goal(), 4),
        limit in 0_u64..400,
        of_tuples in proptest::bool::ANY,
    ) {
        let budget = if of_tuples { tuples(limit) } else { firings(limit) };
        let rulebase = load(&program.to_string());
        let model = rulebase.evaluate(&Budget::default()).unwrap();
        let over = |said: &Said| matches!(said, Err(found) if found.iter().any(|found| found.code == Code::Budget));
        if let Ok(tight) = rulebase.evaluate(&budget) {
            for key in rulebase.predicates() {
                prop_assert_eq!(tight.tuples(key), model.tuples(key));
            }
        }
        for goal in goals {
            let ours = said(rulebase.query(&goal, &budget));
            if !over(&ours) {
                prop_assert_eq!(ours, said(model.query(&goal)), "{} in\n{}", goal, program);
            }
        }
    }
}

#[test]
fn the_alternatives_of_all_clauses_are_counted_together() {
    let disjunctions = ["( d(X) ; e(X) )"; 12].join(", ");
    let mut rules = String::from("d(a). e(a).\n");
    for number in 0..60 {
        rules += &format!("p{number}(X) :- d(X), {disjunctions}.\n");
    }
    let rulebase = load(&rules);
    let refused: Vec<usize> = (0..60)
        .filter(|number| {
            let key = format!("p{number}/1").parse().unwrap();
            let faults = rulebase.faults_of(&key);
            assert!(
                faults
                    .iter()
                    .all(|fault| fault.code == Code::TooManyAlternatives)
            );
            !faults.is_empty()
        })
        .collect();
    // Each is 4,096 alternatives of 14 literals, the head included.
    assert_eq!(refused, (34..60).collect::<Vec<_>>());
    assert!(rulebase.query("p0(a)", &Budget::default()).unwrap().holds());
}

/// What stands in a row is read in one go: no part moves all the others.
#[test]
fn long_rows_are_read_in_one_go() {
    let row = |part: &str| format!("p :- {} q.\nq.\n", part.repeat(20_000));
    for (part, derived) in [
        ("q ;", true),
        ("( q -> fail ; fail ) ;", true),
        ("q,", false),
    ] {
        let rulebase = Rulebase::load([Source::new("a.pl", row(part))]).unwrap();
        match rulebase.evaluate(&Budget::default()).unwrap().query("p") {
            Ok(answers) => assert!(derived && answers.holds(), "{part}"),
            Err(error) => assert!(!derived, "{part}: {error}"),
        }
    }
}
