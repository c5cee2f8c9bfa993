//! One fact more or fewer: all else stays byte for byte, and exactly one pair is decided otherwise.

use crate::cases;
use horngate::{Allowlist, Budget, Diff, FactEdit, PredicateKey, Rulebase, Source, syntax};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

fn may() -> PredicateKey {
    "may/2".parse().unwrap()
}

fn insert(text: &str, pair: [&str; 2]) -> FactEdit {
    FactEdit::insert(&Source::new("a.pl", text), &may(), pair)
        .unwrap_or_else(|found| panic!("{text:?}: {found:?}"))
}

fn remove(text: &str, pair: [&str; 2]) -> Option<FactEdit> {
    FactEdit::remove(&Source::new("a.pl", text), &may(), pair)
        .unwrap_or_else(|found| panic!("{text:?}: {found:?}"))
}

/// What comes of a text when `may(x,t)` is inserted; and taken out again, all is as it was.
fn with(text: &str) -> String {
    let edit = insert(text, ["x", "t"]);
    let fact = "may(x,";
    for line in &edit.lines {
        let line = edit.text.lines().nth(line - 1).unwrap();
        assert!(line.contains(fact), "{line:?} of {:?}", edit.text);
    }
    assert_eq!(remove(&edit.text, ["x", "t"]).unwrap().text, text);
    edit.text
}

/// What is left of a text when `may(x,t)` is removed.
fn without(text: &str) -> String {
    remove(text, ["x", "t"]).unwrap().text
}

#[test]
fn a_fact_stands_where_its_kin_stand() {
    for (text, expected) in [
        // After the last fact of the actor, else after the last of the predicate.
        (
            "may(x, b).\nmay(z, a).\nmay(y, c).\n",
            "may(x, b).\nmay(x, t).\nmay(z, a).\nmay(y, c).\n",
        ),
        (
            "may(z, b).\nmay(y, c).\nq(a).\n",
            "may(z, b).\nmay(y, c).\nmay(x, t).\nq(a).\n",
        ),
        // In order where they are in order: by the first, or by the second.
        (
            "may(a, u).\nmay(b, s).\nmay(x, a).\nmay(x, z).\nmay(y, a).\n",
            "may(a, u).\nmay(b, s).\nmay(x, a).\nmay(x, t).\nmay(x, z).\nmay(y, a).\n",
        ),
        (
            "may(x, a).\nmay(a, b).\nmay(a, t).\nmay(y, t).\n",
            "may(x, a).\nmay(a, b).\nmay(a, t).\nmay(x, t).\nmay(y, t).\n",
        ),
        (
            "% may\nmay(y, u).\nmay(z, u).\nmay(z, v).\n",
            "% may\nmay(x, t).\nmay(y, u).\nmay(z, u).\nmay(z, v).\n",
        ),
        (
            "may(y, u). may(z, u). may(z, v).\n",
            "may(x, t).\nmay(y, u). may(z, u). may(z, v).\n",
        ),
        (
            "p. may(y, u). may(z, u). may(z, v).",
            "p. may(x, t). may(y, u). may(z, u). may(z, v).",
        ),
        // Behind the rules, the declarations, or at the end.
        (
            "may(A, B) :-\n    p(A, B).\nq(a).\n",
            "may(A, B) :-\n    p(A, B).\nmay(x, t).\nq(a).\n",
        ),
        (
            ":- dynamic may/2.\n:- dynamic q/1.\n\nq(a).\n",
            ":- dynamic may/2.\n:- dynamic q/1.\nmay(x, t).\n\nq(a).\n",
        ),
        (
            ":- dynamic([q/1, may/2]). q(a).",
            ":- dynamic([q/1, may/2]). may(x, t). q(a).",
        ),
        (
            ":- dynamic may/3, maybe/2.\nq(a).\n",
            ":- dynamic may/3, maybe/2.\nq(a).\nmay(x, t).\n",
        ),
        ("", "may(x, t).\n"),
        ("\u{feff}", "\u{feff}\nmay(x, t)."),
        ("% nothing", "% nothing\nmay(x, t)."),
    ] {
        assert_eq!(with(text), expected);
    }
}

#[test]
fn a_fact_is_laid_out_as_its_neighbours_are() {
    for (text, expected) in [
        (
            "may(bob,  a).\nmay(alice,b).\n",
            "may(bob,  a).\nmay(alice,b).\nmay(x,    t).\n",
        ),
        (
            "may(bob,a).\nmay(alice,b).\n",
            "may(bob,a).\nmay(alice,b).\nmay(x,t).\n",
        ),
        (
            "may(bob, a).\nmay(eve, b).\n",
            "may(bob, a).\nmay(eve, b).\nmay(x, t).\n",
        ),
        // Nothing is laid out by a fact of another block.
        (
            "may(alice, a).\nmay(bo,    a).\n:- dynamic q/1.\nmay(eve, b).\n",
            "may(alice, a).\nmay(bo,    a).\n:- dynamic q/1.\nmay(eve, b).\nmay(x, t).\n",
        ),
        (
            "  may(bob,\n      a).  % why\n",
            "  may(bob,\n      a).  % why\n  may(x, t).\n",
        ),
        (
            "\tmay(bob, /* a */ a).\r\n",
            "\tmay(bob, /* a */ a).\r\n\tmay(x, t).\r\n",
        ),
        ("may(bob, a).\r\nq.", "may(bob, a).\r\nmay(x, t).\r\nq."),
        ("q.\r\nmay(bob, a).", "q.\r\nmay(bob, a).\r\nmay(x, t)."),
        (
            "may(bob, a). q :-\n  may(a, b).\n",
            "may(bob, a). may(x, t). q :-\n  may(a, b).\n",
        ),
        (
            "may(bob, a). /* a\n*/ q.\n",
            "may(bob, a). may(x, t). /* a\n*/ q.\n",
        ),
        (
            "may(bob, a). /* a */ % b\nq.\n",
            "may(bob, a). /* a */ % b\nmay(x, t).\nq.\n",
        ),
        ("may(bob, a).%", "may(bob, a).%\nmay(x, t)."),
        (
            "\u{feff}may(bob, a).\n",
            "\u{feff}may(bob, a).\nmay(x, t).\n",
        ),
        // A column that a name is too long for is left.
        (
            "may('',  a).\nmay(é,   a).\n",
            "may('',  a).\nmay(é,   a).\nmay(x,   t).\n",
        ),
    ] {
        assert_eq!(with(text), expected);
    }
    let long = insert("may(a,  a).\nmay(bo, a).\n", ["U:Qa", "tool_x"]);
    assert_eq!(
        long.text,
        "may(a,  a).\nmay(bo, a).\nmay('U:Qa', tool_x).\n"
    );
}

#[test]
fn a_fact_goes_with_its_line_and_what_is_said_of_it_there() {
    for (text, expected) in [
        ("may(a, b).\nmay(x, t).\nq.\n", "may(a, b).\nq.\n"),
        (
            "% above\nmay(x, t). % behind\n% below\n",
            "% above\n% below\n",
        ),
        ("  may( x , t ) . /* behind */ % too\r\nq.\r\n", "q.\r\n"),
        ("may(x,\n    t).\nq.\n", "q.\n"),
        ("q.\r\nmay(x, t).", "q."),
        ("may(x, t).", ""),
        ("\u{feff}may(x, t).\n", "\u{feff}"),
        // Others stand in the line.
        ("p. may(x, t). q. % r\n", "p. q. % r\n"),
        ("p. may(x, t). % r\n", "p. % r\n"),
        ("may(x, t). q.\n", "q.\n"),
        ("/* p */ may(x, t).\n", "/* p */\n"),
        ("may(x, t). /* p\n*/ q.\n", "/* p\n*/ q.\n"),
        // However it is written, wherever it stands, how often so ever.
        ("may('x', 't').\nq.\nmay(\\\n", ""),
        ("'may'(x, 't').\nq.\nmay(x,t).\nmay(x,t). may(x,t).", "q.\n"),
    ] {
        if text.ends_with("\\\n") {
            assert!(FactEdit::remove(&Source::new("a.pl", text), &may(), ["x", "t"]).is_err());
        } else {
            assert_eq!(without(text), expected, "{text:?}");
        }
    }
}

#[test]
fn tests_other_terms_and_other_predicates_are_no_grants() {
    for text in [
        ":- begin_tests(a).\nmay(x, t).\n:- end_tests(a).\n",
        "may(\"x\", t). may(X, t). may([x], t). may(x, t, u). maybe(x, t). may(x, t) :- true.\n",
    ] {
        assert_eq!(remove(text, ["x", "t"]), None, "{text}");
        with(text);
    }
    let text = ":- begin_tests(a).\nmay(x, t).\n:- end_tests(a).\nmay(x, t).\n";
    assert_eq!(
        without(text),
        ":- begin_tests(a).\nmay(x, t).\n:- end_tests(a).\n"
    );
}

#[test]
fn what_does_not_parse_is_not_edited() {
    for text in ["may(a, b", "may(a, b)\nmay(c, d).\n", "may(U:Qa, 'b).\n"] {
        let source = Source::new("a.pl", text);
        assert!(FactEdit::insert(&source, &may(), ["x", "t"]).is_err());
        assert!(FactEdit::remove(&source, &may(), ["x", "t"]).is_err());
    }
    let latin = Source::from_bytes("a.pl", b"may(a, '\xe9').\n".to_vec());
    assert!(FactEdit::insert(&latin, &may(), ["x", "t"]).is_err());
}

#[test]
fn in_the_shipped_rules_the_layout_and_the_order_stay() {
    let text = include_str!("../../rules/governance.pl");
    let key: PredicateKey = "may_execute_tool/2".parse().unwrap();
    for (actor, tool) in [
        ("U:SD", "tool_run_shell"),
        ("A", "tool_a"),
        ("U:Zz", "tool_zz"),
    ] {
        let source = Source::new("governance.pl", text);
        let edit = FactEdit::insert(&source, &key, [actor, tool]).unwrap();
        let formatted = syntax::format(&Source::new("governance.pl", &*edit.text)).unwrap();
        assert_eq!(edit.text, formatted);
        let line = edit.lines[0];
        let expected = ["A", "U:SD", "U:Zz"].iter().position(|name| *name == actor);
        assert_eq!(line, [28, 35, 35][expected.unwrap()], "{actor}");
    }
}

#[test]
fn the_cases_are_edited_and_restored() {
    let texts: Vec<(String, String)> = cases::all().iter().flat_map(cases::Case::texts).collect();
    let edited = texts.iter().filter(|(_, text)| {
        let source = Source::new("a.pl", text.as_str());
        let Ok(edit) = FactEdit::insert(&source, &may(), ["x", "t"]) else {
            return false;
        };
        let back = FactEdit::remove(&Source::new("a.pl", edit.text), &may(), ["x", "t"]);
        assert_eq!(&back.unwrap().unwrap().text, text);
        true
    });
    assert!(edited.count() > 300);
}

const ACTORS: &[&str] = &["a", "bob", "U:Qa", "é", "long_name_of_an_actor"];
const TOOLS: &[&str] = &["t", "tool_x", "tool y", "[]"];

fn pair() -> impl Strategy<Value = [&'static str; 2]> {
    (select(ACTORS), select(TOOLS)).prop_map(|(actor, tool)| [actor, tool])
}

/// A piece of a rule file: a clause, or what stands between clauses.
fn piece() -> impl Strategy<Value = String> {
    let fact = (
        pair(),
        select(vec![",", ", ", ",    ", " , ", ",\n   ", ", % c\n"]),
    )
        .prop_map(|([actor, tool], comma)| {
            let [actor, tool] = [actor, tool].map(syntax::quoted_atom);
            format!("may({actor}{comma}{tool}).")
        });
    let other = select(vec![
        "p(a, b).",
        "may(A, B) :-\n    p(A, B).",
        ":- dynamic q/1, p/2.",
        "p(b, '\n').",
        "% a comment: may(a, t).\n",
        "/* one */",
        "/* may(a, t).\n*/",
        "q(\"may(a, t).\").",
        ":- begin_tests(u).\nmay(a, t).\ntest(a) :- true.\n:- end_tests(u).",
    ]);
    let between = select(vec![
        "\n", "\r\n", " ", "\t", "\n\n", "  ", "\n  ", " % c\n",
    ]);
    (
        prop_oneof![4 => fact, 2 => other.prop_map(str::to_owned)],
        between,
    )
        .prop_map(|(piece, between)| piece + between)
}

fn text() -> impl Strategy<Value = String> {
    let start = select(vec![
        "",
        "",
        "\u{feff}",
        "\n",
        "#!/usr/bin/env swipl\n",
        "  ",
    ]);
    let end = select(vec!["", "", "% end", "\n\n", "p(c, c)."]);
    (start, proptest::collection::vec(piece(), 0..12), end)
        .prop_map(|(start, pieces, end)| format!("{start}{}{end}", pieces.concat()))
}

fn allowlist(text: &str) -> Option<Allowlist> {
    // Also an allowlist without a grant is one.
    let declared = Source::new(
        "b.pl",
        ":- dynamic may/2.\n:- multifile may/2.\n:- dynamic p/2.\n:- multifile p/2.\n",
    );
    let text = format!(
        ":- multifile may/2.\n:- multifile p/2.\n:- discontiguous may/2, p/2, q/1.\n{}",
        text.trim_start_matches('\u{feff}')
    );
    let rulebase = Rulebase::load([Source::new("a.pl", text), declared]).ok()?;
    let model = rulebase.evaluate(&Budget::default()).ok()?;
    Allowlist::bind_with_prefix(&model, "may/2", "").ok()
}

#[test]
fn an_edit_changes_exactly_its_pair_and_is_undone_by_the_other() {
    let (granted, revoked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(600)
    });
    runner
        .run(&(text(), pair()), |(text, pair)| {
            let source = Source::new("a.pl", &*text);
            let Ok(found) = FactEdit::remove(&source, &may(), pair) else {
                return Ok(());
            };
            let old = allowlist(&text);
            let changed = |new: &str| {
                let (old, new) = (old.as_ref()?, allowlist(new)?);
                let diff = Diff::between(old, &new);
                let own = |pairs: Vec<(&str, &str)>| -> BTreeSet<[String; 2]> {
                    pairs
                        .iter()
                        .map(|(a, b)| [(*a).to_owned(), (*b).to_owned()])
                        .collect()
                };
                Some([own(diff.allowed), own(diff.denied)])
            };
            let this = BTreeSet::from([pair.map(str::to_owned)]);
            match found {
                None => {
                    let edit = FactEdit::insert(&source, &may(), pair);
                    let edit = edit.map_err(|found| TestCaseError::fail(format!("{found:?}")))?;
                    let back = FactEdit::remove(&Source::new("a.pl", &*edit.text), &may(), pair);
                    prop_assert_eq!(&back.unwrap().unwrap().text, &text);
                    let was = old
                        .as_ref()
                        .map(|old| old.decide(pair[0], pair[1]).is_allow());
                    if let (Some(changed), Some(was)) = (changed(&edit.text), was) {
                        granted.fetch_add(1, Ordering::Relaxed);
                        let this = if was { BTreeSet::new() } else { this };
                        prop_assert_eq!(changed, [this, BTreeSet::new()]);
                    }
                }
                Some(edit) => {
                    let again = FactEdit::remove(&Source::new("a.pl", &*edit.text), &may(), pair);
                    prop_assert_eq!(again, Ok(None));
                    if let Some([allowed, denied]) = changed(&edit.text) {
                        prop_assert!(allowed.is_empty());
                        // A rule may grant it, too.
                        if denied.is_empty() {
                            prop_assert!(text.contains("may(A, B)"));
                        } else {
                            revoked.fetch_add(1, Ordering::Relaxed);
                            prop_assert_eq!(denied, this);
                        }
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    let counts = [granted, revoked].map(|count| count.load(Ordering::Relaxed));
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}
