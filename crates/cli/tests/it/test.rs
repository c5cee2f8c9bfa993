//! `horngate test`.

use crate::{folder, root, run, session};
use insta::assert_snapshot;

const RULES: &str = "\
grant(ann, tool_repl).
grant(bob, tool_shell).
suspended(bob).
may_execute_tool(A, T) :-
    grant(A, T),
    \\+ suspended(A).
open(_, _) :- \\+ closed.
:- dynamic closed/0.
";

const TESTS: &str = "\
:- begin_tests(grants).
test(ann) :- may_execute_tool(ann, tool_repl).
test(bob) :- may_execute_tool(bob, tool_shell).
test(eve, [fail]) :- may_execute_tool(eve, _).
test(nobody, [fail]) :- may_execute_tool(ann, _).
test(who, [all(A == [ann, bob])]) :- may_execute_tool(A, _).
test(who_else, [set(A == [])]) :- may_execute_tool(A, _).
test(first, [A == bob]) :- grant(A, _).
test(order, [all(A == [bob, ann])]) :- grant(A, _).
test(each, [forall(member(A, [ann, bob]))]) :- may_execute_tool(A, _).
test(everybody) :- open(eve, tool_shell).
test(nobody_at_all, [fail]) :- open(eve, tool_shell).
:- end_tests(grants).
:- begin_tests(later, [blocked('not yet')]).
test(carl) :- grant(carl, _).
:- end_tests(later).
";

#[test]
fn sessions() {
    let passing = "\
        :- begin_tests(grants).\n\
        test(ann) :- may_execute_tool(ann, tool_repl).\n\
        test(bob, [fail]) :- may_execute_tool(bob, _).\n\
        test(carl, [condition(grant(carl, _))]) :- may_execute_tool(carl, _).\n\
        :- end_tests(grants).\n";
    let refused = "\
        :- begin_tests(grants).\n\
        test(ann, [throws(_)]) :- may_execute_tool(ann, tool_repl).\n\
        test(bob, [fail]) :- may_excute_tool(bob, _).\n\
        test(carl) :- may_execute_tool(carl, _).\n\
        :- end_tests(grants).\n\
        :- begin_tests(helpers).\n\
        helper(a).\n\
        :- end_tests(helpers).\n";
    let folder = folder(&[
        ("bad/a.pl", RULES),
        ("bad/a_tests.pl", TESTS),
        ("good/a.pl", RULES),
        ("good/a_tests.pl", passing),
        ("refused/a.pl", RULES),
        ("refused/a_tests.pl", refused),
        ("one.pl", &format!("{RULES}{passing}")),
        ("none.pl", RULES),
        ("broken.pl", "p(a.\n"),
        (
            "blocked.pl",
            "p(a).\n:- begin_tests(b).\ntest(p, [blocked(why)]) :- p(b).\n:- end_tests(b).\n",
        ),
        ("notes/readme.txt", "nothing"),
    ]);
    let json = "--format=json";
    assert_snapshot!(session(
        folder.path(),
        &[
            &["test", "good"],
            &["test", "good", json],
            &["test", "good/a.pl", "--coverage"],
            &["test", "one.pl", "--coverage", json],
            &["test", "bad"],
            &["test", "bad", json],
            // No answer.
            &["test", "refused"],
            &["test", "refused", json],
            &["test", "none.pl"],
            &["test", "none.pl", json],
            &["test", "blocked.pl"],
            &["test", "broken.pl"],
            &["test", "notes"],
            &["test", "nosuch.pl", json],
            &["test", "good", "--max-tuples=1"],
            &["test"],
        ]
    ));
}

#[test]
fn the_shipped_rules() {
    let text = session(
        &root(),
        &[
            &["test", "rules"],
            &["test", "rules/roles", "--coverage"],
            &["test", "rules/governance.pl", "--coverage"],
        ],
    );
    assert_snapshot!(text);
    // Every grant is covered.
    let covered = run(&root(), &["test", "rules", "--coverage", "--format=json"]).json();
    let unused = covered["coverage"]["unused"].as_array().unwrap();
    for clause in unused {
        let text = clause["text"].as_str().unwrap();
        assert!(!text.starts_with("may_execute_tool("), "{text}");
    }
}

#[test]
fn a_file_of_tests_stands_beside_its_rules_and_is_read_once() {
    let tests = ":- begin_tests(b).\ntest(p) :- p(a).\n:- end_tests(b).\n";
    let folder = folder(&[
        ("a.pl", "p(a).\n"),
        ("a_tests.pl", tests),
        ("b.pl", "q(a).\n"),
    ]);
    for paths in [
        &["a.pl"][..],
        &["a.pl", "a_tests.pl"],
        &["a_tests.pl", "a.pl"],
        &["."],
        &[".", "a.pl", "b.pl"],
    ] {
        let args: Vec<&str> = ["test"].iter().chain(paths).copied().collect();
        let result = run(folder.path(), &args);
        assert_eq!(
            (result.code, &*result.stdout),
            (0, "ok: 1 test passed\n"),
            "{paths:?}"
        );
    }
    assert_eq!(run(folder.path(), &["test", "b.pl"]).code, 2);
    // Without its rules the tests ask for what nothing defines.
    assert_eq!(run(folder.path(), &["test", "a_tests.pl"]).code, 2);
}

#[cfg(unix)]
#[test]
fn tests_that_cannot_be_read_are_no_absence_of_tests() {
    let tests = ":- begin_tests(b).\ntest(p) :- p(a).\n:- end_tests(b).\n";
    let folder = folder(&[("a.pl", &format!("p(a).\n{tests}"))]);
    assert_eq!(run(folder.path(), &["test", "a.pl"]).code, 0);
    std::os::unix::fs::symlink("nosuch.pl", folder.path().join("a_tests.pl")).unwrap();
    assert_eq!(run(folder.path(), &["test", "a.pl"]).code, 2);
}

#[test]
fn the_tests_that_the_help_shows_pass() {
    let help = run(&root(), &["test", "--help"]).stdout;
    let (_, shown) = help.split_once("rules_tests.pl:\n").unwrap();
    let (tests, _) = shown.split_once("\n\n").unwrap();
    let rules = "may_execute_tool('U:Qa', tool_repl).\n";
    let folder = folder(&[("rules.pl", rules), ("rules_tests.pl", tests)]);
    let told = run(folder.path(), &["test", "rules.pl"]);
    assert_eq!(told.stdout, "ok: 3 tests passed\n");
}
