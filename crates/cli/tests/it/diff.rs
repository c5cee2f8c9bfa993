//! `horngate diff`.

use crate::{folder, root, run, run_with, session};
use insta::assert_snapshot;
use std::fs;

#[test]
fn sessions() {
    let rules = fs::read_to_string(root().join("rules/governance.pl")).unwrap();
    let more = format!("{rules}may_execute_tool('U:Qa', tool_remote_trigger).\n");
    let less = rules.replace("may_execute_tool('J:Junior', tool_repl).\n", "");
    let folder = folder(&[
        ("old.pl", &rules),
        ("more.pl", &more),
        ("less.pl", &less),
        (
            "roles/a.pl",
            "role(ann, dev).\nrole(bob, ops).\ntool(dev, tool_x).\nblocked(eve).\n",
        ),
        (
            "roles/b.pl",
            "may_execute_tool(A, T) :-\n    role(A, R), % the role\n    tool(R, T),\n    \\+ blocked(A).\n\
             may_execute_tool(A, tool_all) :- role(A, ops).\n",
        ),
        (
            "wider/a.pl",
            "role(ann, dev).\nrole(bob, dev).\nrole(eve, dev).\ntool(dev, tool_x).\nblocked(eve).\n",
        ),
        (
            "wider/b.pl",
            "may_execute_tool(A, tool_all) :- role(A, ops).\n\
             may_execute_tool(A, T) :- role(A, R), tool(R, T), \\+ blocked(A).\n",
        ),
        ("open.pl", "may_execute_tool(A, tool_x).\n"),
        ("none.pl", "p(a).\n"),
    ]);
    let json = "--format=json";
    let gate = "--grants-no-more-than";
    assert_snapshot!(session(
        folder.path(),
        &[
            &["diff", "old.pl", "old.pl"],
            &["diff", "old.pl", "old.pl", json],
            &["diff", "old.pl", "more.pl"],
            &["diff", "old.pl", "more.pl", json],
            &["diff", "old.pl", "less.pl"],
            &["diff", "old.pl", "less.pl", gate],
            &["diff", "old.pl", "less.pl", gate, json],
            &["diff", "old.pl", "more.pl", gate],
            &["diff", "less.pl", "more.pl"],
            &["diff", "roles", "wider"],
            &["diff", "roles", "wider", json],
            // No answer.
            &["diff", "old.pl", "open.pl"],
            &["diff", "none.pl", "old.pl", json],
            &["diff", "nosuch.pl", "old.pl", json],
            &["diff", "old.pl", "more.pl", "--max-tuples=1"],
            &["diff", "old.pl"],
        ]
    ));
}

/// What was lost: a fact far below, an absence, a rule.
#[test]
fn what_was_lost() {
    let rules = "lead(ann, qa).\nin(X, T) :- lead(X, T).\ntool(qa, tool_x).\n:- dynamic blocked/1.\n\
        may_execute_tool(A, T) :- in(A, R), tool(R, T), \\+ blocked(A).\n";
    let folder = folder(&[
        ("old.pl", rules),
        ("fact.pl", &rules.replace("lead(ann, qa)", "lead(ann, ops)")),
        ("absence.pl", &format!("{rules}blocked(ann).\n")),
        (
            "rule.pl",
            &rules.replace("in(X, T) :- lead(X, T)", "in(X, T) :- lead(X, T), T \\= qa"),
        ),
        (
            "gone.pl",
            "lead(ann, qa).\n:- dynamic blocked/1.\nmay_execute_tool(A, tool_y) :- lead(A, qa).\n",
        ),
    ]);
    assert_snapshot!(session(
        folder.path(),
        &[
            &["diff", "old.pl", "fact.pl"],
            &["diff", "old.pl", "absence.pl"],
            &["diff", "old.pl", "absence.pl", "--format=json"],
            &["diff", "old.pl", "rule.pl"],
            &["diff", "old.pl", "gone.pl"],
        ]
    ));
}

#[cfg(unix)]
#[test]
fn the_old_rules_may_come_through_a_pipe() {
    let folder = folder(&[("new.pl", "may_execute_tool(ann, tool_x).\n")]);
    let args = ["diff", "/dev/stdin", "new.pl"];
    let old = "may_execute_tool(ann, tool_x).\nmay_execute_tool(bob, tool_y).\n";
    let changed = run_with(folder.path(), &args, old);
    assert_eq!(changed.code, 1);
    assert_eq!(
        changed.stdout,
        "denied: `bob` may no longer run `y`\n  was by /dev/stdin:2: may_execute_tool(bob, tool_y).\n\
         1 pair becomes denied, none allowed\n"
    );
}

/// Names that rules can choose are shown as they are.
#[test]
fn clauses_are_shown_on_one_line_and_safely() {
    let folder = folder(&[
        ("old.pl", ":- dynamic may_execute_tool/2.\n"),
        (
            "new.pl",
            "may_execute_tool('a\\x1b\\[2J', % \u{1F512}\n  'tool_\u{200b}x').\n",
        ),
    ]);
    let changed = run(folder.path(), &["diff", "old.pl", "new.pl"]);
    assert_eq!(
        changed.stdout,
        "allowed: `a\\u{1b}[2J` may now run `\\u{200b}x`\n  \
         by new.pl:1: may_execute_tool('a\\x1b\\[2J', 'tool_\\u{200b}x').\n1 pair becomes allowed, none denied\n"
    );
}
