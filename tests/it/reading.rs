//! Random texts: whatever horngate reads, SWI-Prolog reads as the same terms and writes in the same way.
//!
//! The long run: `HORNGATE_TEXTS=20000 cargo test --release --test it reading`.

use crate::peer;
use horngate::syntax::{Clause, ClauseKind, Term, TermKind, parse};
use horngate::{Source, Sources};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// How many texts of each kind to try.
fn texts() -> usize {
    std::env::var("HORNGATE_TEXTS").ok().map_or(400, |text| {
        text.parse().expect("HORNGATE_TEXTS is a number")
    })
}

const LAYOUT: &[&str] = &["", "", "", " ", " ", "\n", "\t", "/**/", " % c\n"];

const TOKENS: &[&str] = &[
    "a", "b", "foo", "X", "_", "_x", "1", "0", "42", "1.5", "0'a", "0x1F", "'q a'", "'A'", "''",
    "\"s\"", "[]", "{}", "(", ")", "[", "]", "{", "}", ",", "|", ";", "!", ".", ":-", "?-", "-->",
    "=>", "->", "*->", "\\+", "=", "\\=", "<", "is", "+", "-", "*", "/", "mod", "**", "^", ":",
    "dynamic", "table", "\\", "@", "<-", "f(", "-(", "\\+(", "'-'(", "','", "'|'", "'[]'", "'[]'(",
    "{}(", ":=", "=..", "$", "not", ".\n", ". ", "é", "É", "日", "0'", "16'F",
];

const ATOMIC: &[&str] = &[
    "a",
    "b",
    "X",
    "Y",
    "_",
    "1",
    "-1",
    "- 1",
    "1.5",
    "-2.0",
    "1e10",
    "'A'",
    "'-'",
    "-",
    "+",
    "*",
    "mod",
    "dynamic",
    ":-",
    "\\+",
    "=",
    "[]",
    "{}",
    "!",
    "\"s\"",
    "0'a",
    "'hello world'",
    "','",
    "'|'",
    "'[]'",
    "'{}'",
    ";",
    "->",
    "is",
    "@",
    "$",
    "'dynamic'",
    "'\\\\+'",
    "table",
    "élan",
    "'→'",
    "''",
];

const PREFIXES: &[&str] = &[
    "- ", "-", "+", "\\ ", "\\+ ", "\\+", ":- ", "?- ", "dynamic ", "table ", "- (", "-(", "\\+(",
];

const INFIXES: &[&str] = &[
    ":-", "-->", "=>", ";", "->", "*->", ",", ":=", "=", "\\=", "==", "<", "is", "as", "=..", ":",
    "+", "-", "*", "/", "//", "mod", "rem", "xor", "**", "^", "<<", "/\\", "\\/", "@<", "=@=",
];

const FUNCTORS: &[&str] = &[
    "f", "'g h'", "-", "\\+", "=", "mod", "dynamic", ":-", ";", "'[]'", "'|'", "','", "'{}'", "{}",
    "'[|]'", "!", "'$'",
];

const QUOTED: &[&str] = &[
    "\\",
    "\\\\",
    "\\n",
    "\\x41\\",
    "\\x41",
    "\\101\\",
    "\\10",
    "\\u0041",
    "\\u00",
    "\\U00000041",
    "\\e",
    "\\s",
    "\\z",
    "\\c",
    " ",
    "\n",
    "a",
    "b",
    "'",
    "''",
    "\"",
    "`",
    "\\'",
    "\\\"",
    "\t",
    "\\\n",
    "\\\n ",
    "é",
    "%",
    "/*",
    "*/",
    ".",
    ". ",
    "(",
    "0'",
    "\\0\\",
    "\\8",
    "日",
    "_",
    "\\`",
    "\\\r\n",
];

const NUMERIC: &[&str] = &[
    "\\x41\\", "\\101\\", "+", "(", ",", "%", "/", "*", ".", "0", "1", "2", "7", "9", "16", "36",
    "'", "_", "e", "E", "-", "x", "o", "b", "0x", "0o", "0b", "0'", "a", "F", "Z", "r", "Inf",
    "NaN", "\\n", "\\\\", "''", " ", "1.0", "1e", "e10", "000", "é", "\"", "`",
];

fn soup() -> impl Strategy<Value = String> {
    vec((select(TOKENS), select(LAYOUT)), 1..10).prop_map(|parts| {
        parts
            .into_iter()
            .map(|(token, layout)| format!("{token}{layout}"))
            .collect::<String>()
            + ".\n"
    })
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = select(ATOMIC).prop_map(str::to_owned);
    let layout = || select(vec!["", "", " ", " ", "\n"]);
    let term = leaf.prop_recursive(4, 32, 3, move |inner| {
        let row = vec(inner.clone(), 1..4).prop_map(|items| items.join(", "));
        prop_oneof![
            4 => (inner.clone(), layout(), select(INFIXES), layout(), inner.clone())
                .prop_map(|(a, before, name, after, b)| format!("{a}{before}{name}{after}{b}")),
            2 => (select(PREFIXES), inner.clone()).prop_map(|(name, operand)| {
                let close = if name.ends_with('(') { ")" } else { "" };
                format!("{name}{operand}{close}")
            }),
            2 => (select(FUNCTORS), row.clone()).prop_map(|(name, row)| format!("{name}({row})")),
            1 => (row, option::of(inner.clone())).prop_map(|(row, tail)| match tail {
                Some(tail) => format!("[{row}|{tail}]"),
                None => format!("[{row}]"),
            }),
            2 => (layout(), inner.clone()).prop_map(|(layout, inner)| format!("({layout}{inner})")),
            1 => inner.prop_map(|inner| format!("{{{inner}}}")),
        ]
    });
    term.prop_map(|term| format!("{term} .\n"))
}

fn quoted() -> impl Strategy<Value = String> {
    (select(vec!["'", "\""]), vec(select(QUOTED), 0..6))
        .prop_map(|(quote, parts)| format!("f({quote}{}{quote}).\n", parts.concat()))
}

fn number() -> impl Strategy<Value = String> {
    let around = select(vec![
        ("f(", ")"),
        ("f(-", ")"),
        ("f(- ", ")"),
        ("f(a-", ")"),
        ("x = ", ""),
    ]);
    (
        around,
        vec(select(NUMERIC), 1..6),
        select(vec![".\n", " .\n", ".", ".%"]),
    )
        .prop_map(|((open, close), parts, end)| format!("{open}{}{close}{end}", parts.concat()))
}

/// The conformance cases with a few changes.
fn changed() -> impl Strategy<Value = String> {
    let sources: Vec<String> = include_str!("../cases/conformance.jsonl")
        .lines()
        .map(|line| {
            let case: Value = serde_json::from_str(line).expect("a case");
            case["source"].as_str().expect("a source").to_owned()
        })
        .filter(|source| !source.starts_with(['#', '\u{feff}']))
        .collect();
    let change = (any::<Index>(), 0..4usize, option::of(select(TOKENS)));
    (select(sources), vec(change, 1..4)).prop_map(|(source, changes)| {
        let mut characters: Vec<char> = source.chars().collect();
        for (at, removed, piece) in changes {
            let at = at.index(characters.len() + 1);
            let end = (at + removed).min(characters.len());
            characters.splice(at..end, piece.unwrap_or("").chars());
        }
        characters.into_iter().collect()
    })
}

#[test]
fn whatever_is_read_is_read_as_swi_prolog_reads_it() {
    if !peer::present() {
        return;
    }
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(1),
        ..Config::default()
    });
    let kinds = [
        soup().boxed(),
        expression().boxed(),
        quoted().boxed(),
        number().boxed(),
        changed().boxed(),
    ];
    let mut accepted = Vec::new();
    for kind in kinds {
        let before = accepted.len();
        for _ in 0..texts() {
            let text = kind.new_tree(&mut runner).expect("a text").current();
            // What follows an op/3 directive is not read here, and a `#!` line only at the start of a file there.
            if text.contains("op(") || text.starts_with("#!") {
                continue;
            }
            accepted.extend(reading(&text).map(|reading| (text, reading)));
        }
        assert!(
            (accepted.len() - before) * 100 > texts(),
            "too few are read to compare"
        );
    }
    let theirs = peer_readings(accepted.iter().map(|(text, _)| text));
    for ((text, ours), theirs) in accepted.iter().zip(theirs) {
        assert_eq!(*ours, theirs, "{text:?}");
    }
}

/// What horngate reads, in the form of `tests/peers/read.pl`; nothing if it refuses.
fn reading(text: &str) -> Option<Value> {
    let mut sources = Sources::default();
    let id = sources.push(Source::new("random.pl", text));
    let parsed = parse(id, sources.get(id)?);
    if !parsed.diagnostics.is_empty() {
        return None;
    }
    let clauses: Vec<_> = parsed
        .clauses
        .into_iter()
        .map(whole)
        .map(|term| [term.to_string(), structure(&term)])
        .collect();
    Some(json!({ "clauses": clauses }))
}

fn peer_readings<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/read.pl");
    let mut child = peer::swipl()
        .args(["-q", "-f", "none"])
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("swipl starts");
    let mut input = child.stdin.take().expect("a pipe");
    let lines: Vec<String> = texts.map(|text| json!(text).to_string()).collect();
    let writer = std::thread::spawn(move || {
        for line in lines {
            writeln!(input, "{line}").expect("the peer listens");
        }
    });
    let output = child.wait_with_output().expect("the peer answers");
    writer.join().expect("the peer listens");
    String::from_utf8(output.stdout)
        .expect("UTF-8")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn whole(clause: Clause) -> Term {
    let (name, args) = match clause.kind {
        ClauseKind::Fact(head) => return head,
        ClauseKind::Rule(head, body) => (":-", vec![head, body]),
        ClauseKind::Grammar(head, body) => ("-->", vec![head, body]),
        ClauseKind::SingleSided(head, body) => ("=>", vec![head, body]),
        ClauseKind::Directive(goal) => (":-", vec![goal]),
        ClauseKind::Query(goal) => ("?-", vec![goal]),
    };
    Term {
        kind: TermKind::Compound(name.into(), args),
        span: clause.span,
    }
}

fn structure(term: &Term) -> String {
    match &term.kind {
        TermKind::Variable(name) => format!("v({name})"),
        TermKind::Nil => "nil".to_owned(),
        TermKind::Atom(name) => format!("a({})", codes(name)),
        TermKind::Integer(value) => format!("i({value})"),
        TermKind::Float(_) => format!("f({term})"),
        TermKind::String(text) => format!("s({})", codes(text)),
        TermKind::Compound(name, args) => {
            let args: Vec<_> = args.iter().map(structure).collect();
            format!("c({},{})", codes(name), args.join(","))
        }
        TermKind::List(items, tail) => {
            let tail = tail.as_deref().map_or("nil".to_owned(), structure);
            nested("[|]", items, tail)
        }
        TermKind::Conjunction(items) => row(",", items),
        TermKind::Disjunction(items) => row(";", items),
    }
}

fn row(name: &str, items: &[Term]) -> String {
    let (last, items) = items.split_last().expect("at least two");
    nested(name, items, structure(last))
}

fn nested(name: &str, items: &[Term], last: String) -> String {
    let pair = |rest, item| format!("c({},{},{rest})", codes(name), structure(item));
    items.iter().rev().fold(last, pair)
}

fn codes(name: &str) -> String {
    let codes: Vec<_> = name
        .chars()
        .map(|c| format!("{:x}", u32::from(c)))
        .collect();
    codes.join(".")
}
