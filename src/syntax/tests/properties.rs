//! Laws: nothing panics, places lie in the text, and what is written reads back.

use super::parse_text;
use crate::budget::MAX_DEPTH;
use crate::diagnostic::Code;
use crate::number::Integer;
use crate::source::{Source, SourceId, Span};
use crate::syntax::build::{Builder, Items, Node};
use crate::syntax::quoted::is_bidirectional;
use crate::syntax::{ClauseKind, Parsed, Term, TermKind, parse, parse_goal, quoted_atom};
use proptest::prelude::*;

/// A program with one of everything.
const PROGRAM: &str = r#"#!/usr/bin/env swipl
:- module(m, [may/2]).
:- dynamic role/2, blocked/1.
/* roles */
role('U:Qa', dev). role(ann, "ops"). % a comment
may(U, T) :- role(U, R), gives(R, T), \+ blocked(U), ( R == dev -> true ; R = ops ).
gives(dev, [read, write|Rest]) :- Rest = [], X is 1 + 2 * -3 - 0'a, X =< 0x1F, X \= 1.5e3.
p({a, b}, -(1), - 1, 'it''s', f(+, (a :- b)), '\x41\', Élan, _) --> [x], !, {y}.
"#;

/// Pieces of which texts are made that are often nearly right.
const PIECES: &[&str] = &[
    "a", "b", "X", "_", "1", "-1", "1.5", "0'a", "'q'", "\"s\"", "[]", "{}", "(", ")", "[", "]",
    "{", "}", ",", ";", "|", "!", ".", ". ", ".\n", ":-", "?-", "-->", "=>", "->", "\\+", "=",
    "==", "is", "mod", "-", "+", "*", "**", "^", ":", ":=", "dynamic ", "f(", "-(", "'", "\"", "`",
    "\\", "/*", "*/", "%", "\n", " ", "é", "\u{202e}", "\r", "\0", "16'", "e10", "0x", "_1",
    "not ", "<-", "..",
];

fn law(text: &str) -> Result<(), TestCaseError> {
    let parsed = parse_text(text);
    check_places(text, &parsed)?;
    let _ = parse_goal(SourceId::default(), &Source::new("goal", text));
    for clause in &parsed.clauses {
        let written = written(&clause.kind);
        let again = parse_text(&written);
        if again
            .diagnostics
            .iter()
            .any(|found| found.code == Code::BadCharacter)
        {
            continue;
        }
        prop_assert_eq!(&again.diagnostics, &[], "{} from {}", &written, text);
        prop_assert_eq!(&again.clauses[0].kind, &clause.kind, "{}", &written);
    }
    Ok(())
}

fn check_places(text: &str, parsed: &Parsed) -> Result<(), TestCaseError> {
    let inside = |span: Span| text.get(span.range()).is_some();
    for found in &parsed.diagnostics {
        prop_assert!(inside(found.span), "{:?}", found);
        prop_assert!(found.labels.iter().all(|label| inside(label.span)));
    }
    for pair in parsed.diagnostics.windows(2) {
        prop_assert!(pair[0].span.start <= pair[1].span.start);
    }
    for clause in &parsed.clauses {
        prop_assert!(inside(clause.span));
    }
    Ok(())
}

fn compound(name: &str, args: &[&Term]) -> Term {
    let args = args.iter().map(|term| (*term).clone()).collect();
    Term {
        kind: TermKind::Compound(name.into(), args),
        span: Span::default(),
    }
}

/// The clause as text. Two kinds of term are written as `writeq/1` does and yet not read: those with `|` or `$` as an
/// operator, and names of symbols beyond ASCII.
fn written(kind: &ClauseKind) -> String {
    match kind {
        ClauseKind::Fact(term) => format!("({term}) .\n"),
        ClauseKind::Rule(head, body) => format!("{} .\n", compound(":-", &[head, body])),
        ClauseKind::Grammar(head, body) => format!("{} .\n", compound("-->", &[head, body])),
        ClauseKind::SingleSided(head, body) => format!("{} .\n", compound("=>", &[head, body])),
        ClauseKind::Directive(goal) => format!("{} .\n", compound(":-", &[goal])),
        ClauseKind::Query(goal) => format!("{} .\n", compound("?-", &[goal])),
    }
}

/// Texts for names and strings, without the characters that are refused everywhere.
fn name() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(vec![
        "a",
        "foo",
        "A b",
        "",
        "[]",
        "{}",
        "!",
        ";",
        ",",
        "|",
        ":-",
        "dynamic",
        "\\+",
        "-",
        "+",
        "mod",
        "is",
        "*",
        ".",
        "/*",
        "%",
        "é",
        "É",
        "日本",
        "don't",
        "\"",
        "`",
        "\\",
        "a\nb",
        "\u{7f}",
        "\u{a0}",
        "end_of_file",
        "[|]",
        "->",
    ]);
    prop_oneof![
        known.prop_map(str::to_owned),
        "[a-zA-Z0-9_ +*é日'\\\\]{0,4}",
        proptest::collection::vec(any::<char>(), 0..4).prop_map(|characters| characters
            .into_iter()
            .filter(|c| !is_bidirectional(*c))
            .collect()),
    ]
}

/// An atom's name that is read as it is written.
fn readable_name() -> impl Strategy<Value = String> {
    name().prop_filter("symbols beyond ASCII", |name| {
        quoted_atom(name).starts_with('\'')
            || name.chars().all(|c| c.is_ascii() || c.is_alphanumeric())
                && !name.starts_with(|c: char| !c.is_ascii() && !c.is_alphabetic())
    })
}

fn node() -> impl Strategy<Value = Node> {
    let atomic = |kind: TermKind| Node::atomic(kind, Span::default());
    let leaf = prop_oneof![
        readable_name().prop_map(move |name| atomic(TermKind::Atom(name.into()))),
        name().prop_map(move |text| atomic(TermKind::String(text.into()))),
        any::<i64>().prop_map(move |value| atomic(TermKind::Integer(Integer::from(value)))),
        (-9i64..9).prop_map(move |value| atomic(TermKind::Integer(Integer::from(value)))),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(move |value| atomic(TermKind::Float(value))),
        "[A-Z][a-z]?|_[a-z]?".prop_map(move |name| atomic(TermKind::Variable(name.into()))),
        Just(atomic(TermKind::Nil)),
    ];
    leaf.prop_recursive(6, 64, 4, |inner| {
        let items = proptest::collection::vec(inner.clone(), 1..4);
        let operators = proptest::sample::select(vec![
            ":-", "-->", "?-", "dynamic", ";", "->", "*->", ",", ":=", "\\+", "=", "is", "=..",
            ":", "+", "-", "\\", "/\\", "*", "//", "mod", "**", "^", "[|]", "{}",
        ]);
        let name = prop_oneof![operators.prop_map(str::to_owned), readable_name()];
        let refused =
            |name: &str, count: usize| matches!((name, count), ("|", 2) | ("$", 1) | (".", _));
        let compound = (name, items.clone()).prop_map(move |(name, items)| {
            let name = if refused(&name, items.len()) {
                "f"
            } else {
                &name
            };
            Builder::new(SourceId::default(), MAX_DEPTH).compound(0, name, row(items), 0)
        });
        let list = (items, proptest::option::of(inner)).prop_map(|(items, tail)| {
            Builder::new(SourceId::default(), MAX_DEPTH).list(0, row(items), tail, 0)
        });
        prop_oneof![3 => compound, 1 => list]
    })
}

fn row(items: Vec<Node>) -> Items {
    items.into_iter().fold(Items::default(), Items::and)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let source = Source::from_bytes("bytes", bytes);
        check_places(source.text(), &parse(SourceId::default(), &source))?;
    }

    #[test]
    fn any_text(text in ".{0,40}") {
        let parsed = parse_text(&text);
        check_places(&text, &parsed)?;
    }

    #[test]
    fn pieces(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..24)) {
        law(&pieces.concat())?;
    }

    #[test]
    fn a_program_with_changes(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), 0..4usize, proptest::sample::select(PIECES)), 1..4)
    ) {
        let mut characters: Vec<char> = PROGRAM.chars().collect();
        for (at, removed, piece) in changes {
            let at = at.index(characters.len());
            let end = (at + removed).min(characters.len());
            characters.splice(at..end, piece.chars());
        }
        law(&characters.into_iter().collect::<String>())?;
    }

    #[test]
    fn what_is_written_reads_back(node in node()) {
        let text = format!("f({}).", format_argument(&node.term));
        let parsed = parse_text(&text);
        prop_assert_eq!(&parsed.diagnostics, &[], "{}", &text);
        match &parsed.clauses[0].kind {
            ClauseKind::Fact(fact) => prop_assert_eq!(&fact.args()[0], &node.term, "{}", &text),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

/// The term as an argument: with the brackets that its operator needs there.
fn format_argument(term: &Term) -> String {
    let whole = compound("f", &[term]).to_string();
    let inner = whole
        .strip_prefix("f(")
        .and_then(|rest| rest.strip_suffix(')'));
    inner.unwrap().to_owned()
}

#[test]
fn the_program_is_read() {
    assert_eq!(parse_text(PROGRAM).diagnostics, []);
}
