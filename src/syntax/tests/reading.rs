//! What is read, what is refused, and where.

use super::{findings, parse_text, read};
use crate::source::{Source, SourceId};
use crate::syntax::{ClauseKind, TermKind, parse_goal};

#[test]
fn clauses_have_kinds() {
    let parsed = parse_text("p. p :- q. :- q. ?- q. p --> q. p => q. (p :- q). :-(p, q).");
    assert_eq!(parsed.diagnostics, []);
    let kinds: Vec<_> = parsed
        .clauses
        .iter()
        .map(|clause| match clause.kind {
            ClauseKind::Fact(_) => 'f',
            ClauseKind::Rule(..) => 'r',
            ClauseKind::Directive(_) => 'd',
            ClauseKind::Query(_) => 'q',
            ClauseKind::Grammar(..) => 'g',
            ClauseKind::SingleSided(..) => 's',
        })
        .collect();
    assert_eq!(kinds, ['f', 'r', 'd', 'q', 'g', 's', 'r', 'r']);
}

#[test]
fn equal_terms_have_one_form() {
    for (one, other) in [
        ("a, (b, c)", "','(a, ','(b, c))"),
        ("a ; (b ; c)", "';'(a, ';'(b, c))"),
        ("[a|[b]]", "'[|]'(a, [b])"),
        ("[a|[b|C]]", "[a, b|C]"),
        ("{a, b}", "'{}'((a, b))"),
        ("- 1", "-(1)"),
        ("[ ]", "[]"),
        ("a- 1", "a-1"),
        ("a -1", "-(a, 1)"),
        ("'\\x41\\'", "'A'"),
        ("X is 3 -1", "X is 3 - 1"),
        ("-(2)^2", "(- 2)^2"),
    ] {
        assert_eq!(read(one), read(other), "{one} {other}");
    }
    assert_ne!(read("','(a, (b, c))"), read("(a, b), c"));
    assert_ne!(read("- 1"), read("-1"));
    assert_ne!(read("'[]'"), read("[]"));
    assert_ne!(read("1"), read("1.0"));
    assert_ne!(read("a"), read("\"a\""));
}

#[test]
fn operators_that_stand_alone_are_atoms() {
    for (text, written) in [
        ("[-, +|*]", "[-,+|*]"),
        ("f(:-, dynamic, \\+)", "f(:-,dynamic,\\+)"),
        ("f(-discontiguous)", "f(- (discontiguous))"),
        ("(- , a)", "(-),a"),
        ("(a, dynamic)", "a,(dynamic)"),
        ("X = - ; b", "X=(-);b"),
        ("X = - ;(b)", "X= -;(b)"),
        ("X = \\+, b", "X=(\\+),b"),
        ("{;}", "{;}"),
    ] {
        assert_eq!(read(text).to_string(), written, "{text}");
    }
    // SWI-Prolog refuses the first four, too, and reads the last two otherwise than one might think.
    for refused in [
        "p :- X = dynamic, b.",
        "p((dynamic, b)).",
        "p(- mod).",
        "p(,).",
        "p :- - = x.",
        "p :- - ',' .",
    ] {
        assert_eq!(findings(refused), [("HG0201", 1)], "{refused}");
    }
}

#[test]
fn long_rows_are_flat_and_deep_terms_refused() {
    let many = vec!["q(X)"; 10_000];
    let parsed = parse_text(&format!(
        "p :- {}. p :- {}.",
        many.join(", "),
        many.join(" ; ")
    ));
    assert_eq!(parsed.diagnostics, []);
    let lengths: Vec<_> = parsed
        .clauses
        .iter()
        .map(|clause| match &clause.kind {
            ClauseKind::Rule(_, body) => match &body.kind {
                TermKind::Conjunction(items) | TermKind::Disjunction(items) => items.len(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lengths, [10_000, 10_000]);
    let list = format!("p([{}]).", vec!["a"; 100_000].join(","));
    assert_eq!(findings(&list), []);
    for deep in [
        format!("p({}a).", "- ".repeat(100_000)),
        format!("p :- {}a.", "\\+ ".repeat(100_000)),
        format!("p({}", "(".repeat(100_000)) + &")".repeat(100_000) + ").",
        format!("p({}).", vec!["1"; 100_000].join("+")),
        format!("p :- {}.", vec!["a"; 100_000].join(" -> ")),
        format!("p({}).", vec!["a"; 100_000].join(":")),
    ] {
        assert_eq!(findings(&deep), [("HG0203", 1)], "{deep:.20}");
    }
    let limit = |depth: usize| format!("p({}a{}).", "f(".repeat(depth), ")".repeat(depth));
    assert_eq!(findings(&limit(255)), []);
    assert_eq!(findings(&limit(256)), [("HG0203", 1)]);
}

#[test]
fn every_fault_of_a_file_is_reported_in_order() {
    let text = "p(a b).\nq('\\z').\nr(c).\ns(.\nt(a)\nu(b).\nv(`x`).\nw";
    let expected = [
        ("HG0201", 1),
        ("HG0104", 2),
        ("HG0201", 4),
        ("HG0201", 6),
        ("HG0311", 7),
        ("HG0202", 8),
    ];
    assert_eq!(findings(text), expected);
    assert_eq!(parse_text(text).clauses.len(), 1);
}

#[test]
fn an_op_directive_hides_the_syntax_errors_behind_it() {
    assert_eq!(
        findings("a b.\n:- op(700, xfx, says).\nann says ok.\n"),
        [("HG0201", 1)]
    );
    assert_eq!(
        findings(":- op(700, xfx, says).\np('\\z').\n"),
        [("HG0104", 2)]
    );
    assert_eq!(
        findings(":- a, op(700, xfx, says).\nann says ok.\n"),
        [("HG0201", 2)]
    );
}

#[test]
fn the_start_of_a_file() {
    assert_eq!(findings("\u{feff}#!/usr/bin/env swipl\np(a).\n"), []);
    assert_eq!(findings("#! p(a b).\n"), []);
    assert_eq!(findings("p(a).\n\u{feff}p(b).\n"), [("HG0106", 2)]);
    assert_eq!(findings("p(a).\n#!\np(b).\n"), [("HG0206", 2)]);
}

#[test]
fn goals() {
    let goal = |text: &str| {
        parse_goal(SourceId::default(), &Source::new("goal", text))
            .map(|term| term.to_string())
            .map_err(|found| found[0].code.as_str())
    };
    assert_eq!(goal("p(X), \\+ q(X)"), Ok("p(X),\\+q(X)".to_owned()));
    assert_eq!(goal("p(X). % all\n"), Ok("p(X)".to_owned()));
    assert_eq!(goal("?- p."), Ok("p".to_owned()));
    assert_eq!(goal("X"), Ok("X".to_owned()));
    assert_eq!(goal("p. q."), Err("HG0201"));
    assert_eq!(goal("p :- q"), Err("HG0201"));
    assert_eq!(goal(":- q"), Err("HG0201"));
    assert_eq!(goal("1"), Err("HG0209"));
    assert_eq!(goal(""), Err("HG0201"));
    assert_eq!(goal("p("), Err("HG0201"));
    assert_eq!(goal("'p"), Err("HG0101"));
}

#[test]
fn what_is_no_rule_file_is_left_early() {
    for text in [
        "p(a b).\n".repeat(20_000),
        "¡".repeat(20_000),
        "p. ¡\n".repeat(20_000),
    ] {
        let found = parse_text(&text).diagnostics;
        assert_eq!(found.len(), 10_001);
        assert_eq!(found.last().map(|last| last.code.as_str()), Some("HG0109"));
    }
}

#[test]
fn unreadable_sources() {
    let bytes = Source::from_bytes("latin1.pl", b"p(a).\nq('\xe9').".to_vec());
    let parsed = super::parse(SourceId::default(), &bytes);
    assert_eq!(parsed.diagnostics.len(), 1);
    assert_eq!(parsed.diagnostics[0].code.as_str(), "HG0108");
    assert_eq!(parsed.diagnostics[0].span.start, 9);
    assert_eq!(parsed.clauses, []);
}
