//! The tests of rule files: plunit gives each the verdict that horngate gives, or horngate refuses it.
//!
//! The long run: `HORNGATE_PROGRAMS=2000 cargo test --release --test it suite -- --nocapture`.

use crate::differential::programs;
use crate::peer;
use crate::programs::{CONSTANTS, RandomProgram, goal, plain_program, program};
use horngate::suite::{Explanation, Failure, Report, Suite, TestResult, Verdict};
use horngate::{Budget, Program, Rulebase, Source};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::fmt::Write;

fn report(files: &[(&str, &str)]) -> Report {
    let sources = files.iter().map(|(name, text)| Source::new(*name, *text));
    let program = Program::parse(sources);
    let suite = Suite::read(&program);
    let rulebase = Rulebase::check(program).rulebase.unwrap();
    suite.run(&rulebase, &Budget::default()).unwrap()
}

fn word(result: &TestResult) -> &'static str {
    match &result.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed(_) => "failed",
        Verdict::Blocked(_) => "blocked",
        Verdict::Skipped(_) => "left out",
        _ => "refused",
    }
}

/// Rules for which order and number of answers differ from what a set would say.
const RULES: &str = "
p(b). p(a). p(b).
q(X) :- p(X).
q(c).
q(X) :- member(X, [d, a]).
r(X) :- p(X), ( X = a ; X = b ).
s(X, Y) :- p(X), ( t(Y) ; u(Y) ).
v(X, Z) :- p(X), ( X == a -> Z = found ; Z = other ).
w(X) :- ( p(X), X \\== b ; u(X) ; p(X) ).
t(1). t(2). u(3).
e(1, 2). e(2, 3). e(1, 3).
tc(X, Y) :- e(X, Y).
tc(X, Z) :- e(X, Y), tc(Y, Z).
open(_, _) :- \\+ never.
early(X) :- \\+ barred(X), p(X).
above(N) :- N > 1, t(N).
barred(a).
:- dynamic never/0.
:- table tab/1.
tab(X) :- p(X).
";

/// Each test with the verdict that it gets; `refused` says nothing of Prolog's.
const TESTS: &[(&str, &str)] = &[
    ("passed", "[all(X == [b, a, b])]) :- p(X)"),
    ("failed", "[all(X == [a, b])]) :- p(X)"),
    ("failed", "all(X == [a, b, b])) :- p(X)"),
    ("passed", "[set(X == [a, b])]) :- p(X)"),
    ("passed", "[set(X == [b, a, b])]) :- p(X)"),
    ("failed", "[set(X == [a])]) :- p(X)"),
    ("passed", "[all(X == [b, a, b, c, d, a])]) :- q(X)"),
    ("passed", "[all(X == [b, a, b])]) :- r(X)"),
    (
        "passed",
        "[all(X-Y == [b-1, b-2, b-3, a-1, a-2, a-3, b-1, b-2, b-3])]) :- s(X, Y)",
    ),
    (
        "passed",
        "[all(X-Z == [b-other, a-found, b-other])]) :- v(X, Z)",
    ),
    ("passed", "[all(X == [a, 3, b, a, b])]) :- w(X)"),
    ("passed", "[all(Y == [2, 3, 3])]) :- tc(1, Y)"),
    (
        "passed",
        "[all(f(X, k) =@= [f(b, k), f(a, k), f(b, k)])]) :- p(X)",
    ),
    ("passed", "[all(x = [x, x, x])]) :- p(_)"),
    ("passed", "[all(X == [1, 2, 1])]) :- member(X, [1, 2, 1])"),
    ("passed", "[all(_X == [b, a, b])]) :- p(_X)"),
    ("passed", "[all(X == [])]) :- p(X), X == c"),
    ("failed", "[all(X == [])]) :- p(X)"),
    ("passed", "X == b) :- p(X)"),
    ("failed", "X == a) :- p(X)"),
    ("passed", "[true(X == a), nondet]) :- p(X), X \\== b"),
    ("passed", "[true(X =:= 2)]) :- e(1, X)"),
    ("passed", "[true(X > 1)]) :- e(1, X)"),
    ("failed", "[true(X > 2)]) :- e(1, X)"),
    ("passed", "[X = b]) :- p(X)"),
    ("failed", "[X == b]) :- p(X), X == c"),
    ("passed", "[true]) :- open(1, 2), \\+ p(zz)"),
    ("failed", "[fail]) :- open(1, 2)"),
    ("passed", "[fail]) :- \\+ open(1, 2)"),
    ("passed", "[]) :- p(a), p(b), 1 < 2"),
    ("passed", "[forall(member(X, [a, b]))]) :- p(X)"),
    ("failed", "[forall(member(X, [a, z]))]) :- p(X)"),
    ("passed", "[forall(p(X)), fail]) :- u(X)"),
    ("passed", "[forall(t(N)), true(M > N)]) :- M is N + 1"),
    ("passed", "[nondet]) :- p(X), \\+ X = zz"),
    ("passed", "[set(X == [a, b])]) :- tab(X)"),
    ("passed", "[]) :- tab(a)"),
    ("passed", "[fail]) :- early(a)"),
    ("passed", "[all(X == [b, b, b, b])]) :- p(X), early(X)"),
    ("passed", "[]) :- above(2)"),
    // Prolog fails where `barred` has any fact, and Datalog does not.
    ("refused", "[set(X == [b])]) :- early(X)"),
    ("refused", "[all(X == [b])]) :- early(X)"),
    ("refused", "[]) :- p(N), above(N)"),
    ("refused", "[]) :- above(_)"),
    ("refused", "[]) :- \\+ p(X)"),
    ("refused", "[]) :- findall(X, p(X), _)"),
    ("refused", "[]) :- p(a), !"),
    ("refused", "[]) :- nosuch(a)"),
    ("refused", "[true(X > 1)]) :- p(X)"),
    ("refused", "[true(Y == 1)]) :- p(_)"),
    ("refused", "[all(Y == [])]) :- p(_)"),
    ("refused", "[all(X =:= [1, 2])]) :- t(X)"),
    ("refused", "[all(X == [a, b])]) :- tab(X)"),
    ("refused", "[forall(p(zz))]) :- p(a)"),
    ("refused", "[error(type_error(_, _))]) :- p(X), X > 1"),
    ("blocked", "[blocked(later)]) :- p(zz)"),
    ("left out", "[condition(p(zz))]) :- p(zz)"),
    ("passed", "[condition(p(a))]) :- p(b)"),
];

/// The tests as a block, each on a line of its own.
fn block(unit: &str, tests: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut text = format!(":- begin_tests({unit}).\n");
    for (at, test) in tests.into_iter().enumerate() {
        writeln!(text, "test(t{at}, {}.", test.as_ref()).unwrap();
    }
    text + &format!(":- end_tests({unit}).\n")
}

/// Asks plunit; `None` where Prolog comes to its limits.
fn plunit(peer: &mut peer::Batch, unit: &str, program: &str, tests: usize) -> Vec<Option<bool>> {
    let names: Vec<String> = (0..tests).map(|at| format!("t{at}")).collect();
    let reply = peer.ask(&json!({"program": program, "unit": unit, "tests": names}));
    let Some(verdicts) = reply["verdicts"].as_array() else {
        panic!("SWI-Prolog does not load what horngate does: {reply}\n{program}");
    };
    verdicts.iter().map(Value::as_bool).collect()
}

#[test]
fn each_form_of_test_has_its_verdict() {
    let tests = block("forms", TESTS.iter().map(|(_, test)| test));
    let report = report(&[("rules.pl", RULES), ("rules_tests.pl", &tests)]);
    assert_eq!(report.results.len(), TESTS.len());
    for (result, (want, test)) in report.results.iter().zip(TESTS) {
        assert_eq!(word(result), *want, "{test}: {:?}", result.verdict);
    }
}

#[test]
fn each_form_of_test_has_plunits_verdict() {
    let Some(mut peer) = peer::Batch::of("plunit.pl") else {
        return;
    };
    let known: Vec<&(&str, &str)> = TESTS
        .iter()
        .filter(|(verdict, _)| matches!(*verdict, "passed" | "failed"))
        .collect();
    let tests = block("forms", known.iter().map(|(_, test)| test));
    let program = format!(":- module(forms, []).\n{RULES}{tests}");
    let theirs = plunit(&mut peer, "forms", &program, known.len());
    for ((want, test), theirs) in known.into_iter().zip(theirs) {
        assert_eq!(theirs, Some(*want == "passed"), "{test}");
    }
}

/// Goals, and choices to make tests of their answers.
type Plan = Vec<(String, usize, Index)>;

fn plan() -> impl Strategy<Value = Plan> {
    let known = prop_oneof![3 => goal(), 1 => proptest::sample::select(&["p1", "q1", "r1"][..])
        .prop_map(|name| format!("{name}(X)")), 1 => proptest::sample::select(&["p2", "q2", "r2"][..])
        .prop_map(|name| format!("{name}(X, Y)"))];
    proptest::collection::vec((known, 0..6_usize, any::<Index>()), 6..14)
}

/// One test of the goal, made of its answers as far as these are known.
fn test_of(rulebase: &Rulebase, goal: &str, kind: usize, pick: Index) -> String {
    let answers = rulebase.query(goal, &Budget::default()).ok();
    let column: Vec<String> = answers.as_ref().map_or(Vec::new(), |answers| {
        let at = answers.names().iter().position(|name| &**name == "X");
        let mut column: Vec<String> = answers
            .iter()
            .filter_map(|row| at.map(|at| row[at].clone()))
            .collect();
        column.dedup();
        column
    });
    let value = match &*column {
        [] => CONSTANTS[pick.index(CONSTANTS.len())].to_owned(),
        column => column[pick.index(column.len())].clone(),
    };
    let mut list = column;
    if pick.index(4) == 0 {
        list.reverse();
        list.pop();
    }
    let list = list.join(", ");
    match kind {
        0 => format!("[]) :- {goal}"),
        1 => format!("[fail]) :- {goal}"),
        2 if goal.contains('X') => format!("[all(X == [{list}])]) :- {goal}"),
        3 if goal.contains('X') => format!("[set(X == [{list}])]) :- {goal}"),
        4 if goal.contains('X') => format!("[true(X == {value})]) :- {goal}"),
        5 => format!("[forall(member(X, [{value}, a]))]) :- {goal}"),
        _ => format!("[all(x == [x])]) :- {goal}"),
    }
}

/// Where the order or the number of answers was wrong, the same test with what was found.
fn mended(test: &str, failure: &Failure) -> Option<String> {
    let (template, rest) = test.strip_prefix("[all(")?.split_once(" == [")?;
    let (_, goal) = rest.split_once(")]) :- ")?;
    let found = failure.found.as_ref()?.join(", ");
    Some(format!("[all({template} == [{found}])]) :- {goal}"))
}

#[test]
fn plunit_agrees_or_horngate_refuses() {
    let Some(mut peer) = peer::Batch::of("plunit.pl") else {
        return;
    };
    let mut runner = TestRunner::deterministic();
    let (mut passed, mut failed, mut refused, mut unanswered) = (0, 0, 0, 0);
    let mut differences: Vec<String> = Vec::new();
    for number in 0..programs(60) {
        let any = prop_oneof![1 => program(), 2 => plain_program()];
        let program: RandomProgram = any.new_tree(&mut runner).unwrap().current();
        let tabled = number % 3 == 0;
        let text = if tabled {
            let keys = program.derived();
            let keys = keys.iter().map(|(name, arity)| format!("{name}/{arity}"));
            let keys = keys.collect::<Vec<_>>().join(", ");
            match keys.as_str() {
                "" => program.to_string(),
                keys => format!(":- table {keys}.\n{program}"),
            }
        } else {
            program.without_recursion().to_string()
        };
        let rulebase = Rulebase::load([Source::new("random.pl", text.as_str())]).unwrap();
        let plan = plan().new_tree(&mut runner).unwrap().current();
        let mut tests: Vec<String> = plan
            .iter()
            .map(|(goal, kind, pick)| test_of(&rulebase, goal, *kind, *pick))
            .collect();
        let unit = format!("u{number}");
        let whole = |tests: &[String]| {
            format!(
                ":- module(m{number}, []).\n{text}{}",
                block(&unit, tests.iter())
            )
        };
        let first = report(&[("random.pl", &whole(&tests))]);
        for (at, result) in first.results.iter().enumerate() {
            if let Verdict::Failed(failure) = &result.verdict
                && let Some(test) = mended(&tests[at], failure)
            {
                tests.push(test);
            }
        }
        let program = whole(&tests);
        let ours = report(&[("random.pl", &program)]).results;
        let theirs = plunit(&mut peer, &unit, &program, tests.len());
        assert_eq!(ours.len(), theirs.len());
        for ((result, theirs), test) in ours.iter().zip(theirs).zip(&tests) {
            let ours = match &result.verdict {
                Verdict::Passed => true,
                Verdict::Failed(_) => false,
                _ => {
                    refused += 1;
                    continue;
                }
            };
            match theirs {
                None => unanswered += 1,
                Some(theirs) if theirs == ours => {
                    *(if ours { &mut passed } else { &mut failed }) += 1;
                }
                Some(_) => differences.push(format!(
                    "{test}: horngate says {:?}\n{program}",
                    result.verdict
                )),
            }
        }
    }
    println!(
        "{passed} passed and {failed} failed in both, {refused} refused, {unanswered} without an answer from Prolog, \
         {} differ",
        differences.len()
    );
    assert!(
        passed > 50 && failed > 50,
        "{passed} passed, {failed} failed"
    );
    assert!(
        differences.is_empty(),
        "{}",
        differences
            .iter()
            .take(3)
            .cloned()
            .collect::<Vec<_>>()
            .join("\n---\n")
    );
}

/// The shipped rules, test for test.
#[test]
fn the_shipped_tests_pass() {
    for (rules, tests) in [
        (
            include_str!("../../rules/governance.pl"),
            include_str!("../../rules/governance_tests.pl"),
        ),
        (
            include_str!("../../rules/roles/roles.pl"),
            include_str!("../../rules/roles/roles_tests.pl"),
        ),
    ] {
        let report = report(&[("rules.pl", rules), ("rules_tests.pl", tests)]);
        assert_eq!(report.results.len(), tests.matches("\ntest(").count());
        for result in &report.results {
            assert!(matches!(result.verdict, Verdict::Passed), "{result:?}");
        }
    }
}

#[test]
fn a_test_in_a_module_may_call_what_it_does_not_export() {
    let rules = ":- module(m, [q/1]).\np(a).\nq(X) :- p(X).\n";
    let tests = block(
        "private",
        ["[]) :- p(a)", "[fail]) :- p(b)", "[fail]) :- p(a)"],
    );
    let inside = report(&[("m.pl", &format!("{rules}{tests}"))]);
    let words: Vec<&str> = inside.results.iter().map(word).collect();
    assert_eq!(words, ["passed", "passed", "failed"]);
    let Verdict::Failed(failure) = &inside.results[2].verdict else {
        panic!("{:?}", inside.results[2]);
    };
    assert!(matches!(&*failure.explanations, [Explanation::Why(_)]));
    let outside = report(&[("m.pl", rules), ("m_tests.pl", &tests)]);
    assert!(
        outside
            .results
            .iter()
            .all(|result| word(result) == "refused")
    );
}

#[test]
fn a_helper_before_the_block_is_part_of_the_tests() {
    let tests = format!("both(X) :- p(X), q(X).\n{}", block("b", ["[]) :- both(a)"]));
    let report = report(&[("r.pl", "p(a). q(a).\n"), ("r_tests.pl", &tests)]);
    assert_eq!(word(&report.results[0]), "passed");
}

#[test]
fn coverage_names_what_no_proof_used() {
    let text = "grant(ann, repl).\ngrant(bob, repl).\nsafe(T) :- tool(T).\ntool(repl).\ntool(shell).\n\
        may(A, T) :- grant(A, T), safe(T).\nmay(A, T) :- root(A), tool(T).\n:- dynamic root/1.\n";
    let tests = "helper(X) :- tool(X).\n:- begin_tests(b).\n\
        test(ann, [all(T == [repl])]) :- may(ann, T).\ntest(eve, [fail]) :- may(eve, _).\n:- end_tests(b).\n";
    let program = Program::parse([Source::new("r.pl", text), Source::new("r_tests.pl", tests)]);
    let suite = Suite::read(&program);
    let rulebase = Rulebase::check(program).rulebase.unwrap();
    let (_, coverage) = suite
        .run_with_coverage(&rulebase, &Budget::default())
        .unwrap();
    let lines: Vec<usize> = coverage.unused().iter().map(|clause| clause.line).collect();
    assert_eq!((coverage.clauses(), lines), (7, vec![2, 5, 7]));
}

/// Deep and long programs are refused or answered; they do not exhaust the stack of a thread.
#[test]
fn deep_and_long_programs_are_bounded() {
    let chain = |length: usize| {
        let edges: String = (0..length)
            .map(|at| format!("e({at}, {}).\n", at + 1))
            .collect();
        format!("{edges}tc(X, Y) :- e(X, Y).\ntc(X, Z) :- e(X, Y), tc(Y, Z).\n")
    };
    let list = |length: usize| {
        let items: Vec<String> = (1..=length).map(|at| at.to_string()).collect();
        block(
            "b",
            [format!("[all(X == [{}])]) :- tc(0, X)", items.join(", "))],
        )
    };
    for (length, want) in [(60, "passed"), (2_000, "refused")] {
        let report = report(&[("r.pl", &chain(length)), ("r_tests.pl", &list(length))]);
        assert_eq!(word(&report.results[0]), want, "{length}");
    }
    let calls: String = (0..3_000)
        .map(|at| format!("p{at}(X) :- p{}(X).\n", at + 1))
        .collect();
    let deep = format!("{calls}p3000(a).\n");
    let nested = format!("[]) :- {}p(a){}", "\\+ ( ".repeat(100), " )".repeat(100));
    let wide = format!("[all(X == [a])]) :- p(X){}", ", p(X)".repeat(200));
    let tests = block(
        "b",
        ["[all(X == [a])]) :- p0(X)", "[]) :- p0(a)", &nested, &wide],
    );
    let report = report(&[("r.pl", &format!("p(a).\n{deep}")), ("r_tests.pl", &tests)]);
    let words: Vec<&str> = report.results.iter().map(word).collect();
    assert_eq!(words, ["refused", "passed", "passed", "passed"]);
}
