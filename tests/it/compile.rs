//! Compiling rules to Rust, as far as text goes: what comes out, what is refused, and that it is the same each time. That
//! the modules derive what the engine derives is tested in `crates/compile-tests`, where they are compiled.

use crate::programs::program;
use horngate::{Code, Loader, PredicateKey, Rulebase, Source, compile};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;

fn load(rules: &str) -> Rulebase {
    Rulebase::load([Source::new("rules.pl", rules)]).unwrap()
}

/// The module without its first line, which has the version.
fn module(rules: &str) -> String {
    let module = compile::module(&load(rules)).unwrap();
    let (first, rest) = module.split_once('\n').unwrap();
    assert!(first.starts_with("// Made by horngate "), "{first}");
    rest.to_owned()
}

/// The clauses of the `crepe!` program.
fn clauses(rules: &str) -> Vec<String> {
    module(rules)
        .lines()
        .filter(|line| line.contains(" <- "))
        .map(|line| line.trim().to_owned())
        .collect()
}

#[test]
fn a_whole_module() {
    insta::assert_snapshot!(module(
        "% A comment.
:- dynamic blocked/2.
role(ann, dev).
may_execute_tool('U:Qa', tool_repl).
may_execute_tool(Agent, Tool) :-
    role(Agent, Role), team_tool(Role, Tool),
    \\+ blocked(Agent, Tool).
team_tool(dev, tool_repl).
team_tool(Role, 'a tool') :- role(_, Role).
anybody(_).
:- begin_tests(rules).
test(no_policy) :- team_tool(dev, _).
:- end_tests(rules).
"
    ));
}

/// One clause for each construct, as it comes out.
#[test]
fn every_construct() {
    let rules = [
        "p(X) :- e(X, X).",
        "p(X) :- e(X, Y), e(Y, _).",
        "p(X) :- e(f(X), a).",
        "p(X) :- e(X, Y), e(f(X), Y).",
        "p(f(X)) :- n(X).",
        "p(X) :- n(X), X = a.",
        "p(X) :- n(Y), X = g(Y).",
        "p(X) :- n(X), X \\= f(_).",
        "p(X) :- n(X), X \\== a, X @< b.",
        "p(X) :- n(X), X > 1.",
        "p(X) :- n(Y), X is Y * 2 + 1.",
        "p(X) :- n(L), member(X, L).",
        "p(X) :- n(X), memberchk(X, [a, b]).",
        "p(X) :- n(X), n(L), memberchk(X, L).",
        "p(X) :- n(X), \\+ e(X, _).",
        "p(X) :- n(X), \\+ e(f(X), X).",
        "p(X) :- n(X), \\+ e(f(_), X).",
        "p(X) :- n(X), \\+ ( e(X, Y), n(Y) ).",
        "p(X) :- n(X), \\+ ( e(_, Y), X @< Y ).",
        "p(X) :- n(X), ( e(X, _) -> true ; n(a) ).",
        "p(X) :- n(X), ( e(X, a) ; X == b ).",
        "p(X) :- n(X), fail.",
        "p(X) :- p(Y), e(Y, X), \\+ ( n(X), e(Y, a) ).",
        "p :- n(_).",
    ];
    let mut text = String::new();
    for rule in rules {
        let compiled = clauses(&format!(":- dynamic e/2, n/1.\n{rule}"));
        text.push_str(rule);
        for clause in compiled {
            text.push_str("\n    ");
            text.push_str(&clause);
        }
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

/// What share of programs near the edges of the language can be compiled, and what stands in the way of the others.
#[test]
fn nearly_all_programs_can_be_compiled() {
    let mut runner = TestRunner::deterministic();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let total = 300;
    for _ in 0..total {
        let rules = program()
            .new_tree(&mut runner)
            .unwrap()
            .current()
            .to_string();
        let text = || compile::module(&load(&rules)).map_err(|error| error.diagnostics);
        let first = text();
        assert_eq!(first, text(), "the same rules give the same text");
        for found in first.err().into_iter().flatten() {
            assert_eq!(found.code, Code::NotCompiled, "{}", found.message);
            assert!(found.predicate.is_some() && found.help.is_some());
            *refused.entry(found.message).or_default() += 1;
        }
    }
    assert!(refused.values().sum::<usize>() * 50 < total, "{refused:?}");
}

#[test]
fn only_some_predicates() {
    let rulebase = load("p(X) :- q(X). q(a). r(X) :- s(X), \\+ p(X). s(b). open(_).");
    let key = |name: &str| PredicateKey::new(name, 1);
    let module = compile::slice(&rulebase, &[key("p")]).unwrap();
    assert!(module.contains("P_1") && module.contains("Q_1"));
    assert!(!module.contains("pub const R_1") && !module.contains("S_1"));
    let error = compile::slice(&rulebase, &[key("p"), key("open"), key("nosuch")]).unwrap_err();
    let codes: Vec<Code> = error.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(codes, [Code::OpenFact, Code::UndefinedCall]);
}

#[test]
fn rules_whose_text_was_not_kept_are_refused() {
    let mut loader = Loader::new();
    loader.begin("rules.pl");
    loader.feed(b"p(a).\nq(X) :- p(X).\n");
    let error = compile::module(&loader.finish().unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the rules were loaded piece by piece, and their text was not kept"
    );
}

/// Whatever stands in quotes, the module is Rust: the text of the rules is read back from its literals.
#[test]
fn any_text_can_stand_in_a_rule() {
    let rules = "p(X) :- q(X), X \\== 'a\\\\b\"{}\\n\\r\\t\\x7f\\\u{e9}\u{4eba}', X \\== \"*/ // #\".\nq(a).\n";
    let text = module(rules);
    let literal = text
        .lines()
        .find(|line| line.trim_start().starts_with("\"p(X) :- "))
        .unwrap()
        .trim()
        .trim_end_matches(',');
    let read: String = unescaped(literal);
    assert_eq!(read, format!("{}\n", rules.lines().next().unwrap()));
}

/// A Rust string literal, read.
fn unescaped(literal: &str) -> String {
    let inner = &literal[1..literal.len() - 1];
    let mut out = String::new();
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            assert_ne!(c, '"');
            out.push(c);
            continue;
        }
        out.push(match rest.next().unwrap() {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            'u' => {
                let code: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap()
            }
            same => same,
        });
    }
    out
}
