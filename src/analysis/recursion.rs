//! What recursion must not do: pass through a negation, build new terms, count.
//!
//! Nothing here looks at facts: a program is refused for what its rules could do.

use super::graph::Graph;
use super::is_call;
use super::is_recursive;
use super::predicate::Predicates;
use super::rule::{LiteralKind, Pattern, PredicateId, Rule, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::HashMap;

/// How many negative cycles of one component are told.
const MAX_CYCLES: usize = 10;
/// How many steps of a negative cycle are told before its last one.
const MAX_STEPS: usize = 12;

/// Records the faults of recursive predicates.
pub(crate) fn check(graph: &Graph, rules: &[Rule], predicates: &mut Predicates) {
    let mut calls: HashMap<(PredicateId, PredicateId, bool), Span> = HashMap::new();
    for rule in rules {
        for literal in &rule.body {
            literal.each_call(&mut |callee, negative, span| {
                let under = if negative { literal.span } else { span };
                calls.entry((rule.head, callee, negative)).or_insert(under);
            });
        }
    }
    // One fault taints the whole component; more are for the reader, and each costs a walk through it.
    let mut told: HashMap<u32, usize> = HashMap::new();
    for (caller, callee) in graph.negation_cycles() {
        let times = told.entry(graph.component_of(caller)).or_default();
        *times += 1;
        if *times > MAX_CYCLES {
            continue;
        }
        let fault = negation_cycle(graph, predicates, &calls, caller, callee);
        predicates.fault(caller, fault);
    }
    for rule in rules.iter().filter(|rule| is_recursive(rule, graph)) {
        if let Some(fault) = grows(rule) {
            predicates.fault(rule.head, fault);
        }
    }
}

fn negation_cycle(
    graph: &Graph,
    predicates: &Predicates,
    calls: &HashMap<(PredicateId, PredicateId, bool), Span>,
    caller: PredicateId,
    callee: PredicateId,
) -> Diagnostic {
    let place = |from, to, negative| calls.get(&(from, to, negative)).copied();
    let span = place(caller, callee, true).unwrap_or_default();
    let back = graph.path(callee, caller);
    let mut names = vec![
        format!("`{}`", predicates.key(caller)),
        format!("not `{}`", predicates.key(callee)),
    ];
    let mut diagnostic = Diagnostic::new(Code::NegationCycle, span, "");
    for (at, pair) in back.windows(2).enumerate() {
        let [from, to] = pair else { continue };
        if at >= MAX_STEPS && at + 2 < back.len() {
            continue;
        }
        if at >= MAX_STEPS {
            names.push("…".to_owned());
        }
        let (negative, at) = match place(*from, *to, false) {
            Some(at) => (false, Some(at)),
            None => (true, place(*from, *to, true)),
        };
        let key = predicates.key(*to);
        names.push(format!("{}`{key}`", if negative { "not " } else { "" }));
        if let Some(at) = at {
            diagnostic = diagnostic.label(
                at,
                format!(
                    "`{}` depends on {}`{key}`",
                    predicates.key(*from),
                    if negative { "the absence of " } else { "" }
                ),
            );
        }
    }
    diagnostic.message = format!("a negation depends on itself: {}", names.join(" ← "));
    diagnostic.help(
        "split the predicate, so that what is negated is settled first; for example one predicate for each rule",
    )
}

/// A recursive rule that would make new values without end.
fn grows(rule: &Rule) -> Option<Diagnostic> {
    let key = "recursion must stay within the values that the facts have";
    if rule
        .args
        .iter()
        .any(|arg| matches!(arg, Pattern::Compound(..)))
    {
        return Some(
            Diagnostic::new(
                Code::RecursiveCompound,
                rule.head_span,
                "a recursive rule whose head builds a term could build terms without end",
            )
            .help(key),
        );
    }
    let called = |variable: Variable| {
        rule.body.iter().any(|literal| {
            let mut found = false;
            if is_call(&literal.kind) {
                literal.each_variable(&mut |other| found |= other == variable);
            }
            found
        })
    };
    for literal in &rule.body {
        let (code, what) = match &literal.kind {
            LiteralKind::Is(..) => (
                Code::RecursiveArithmetic,
                "`is` in a recursive rule could count without end",
            ),
            LiteralKind::Unify(variable, Pattern::Compound(..)) if !called(*variable) => (
                Code::RecursiveCompound,
                "a recursive rule that builds a term could build terms without end",
            ),
            LiteralKind::Member(_, list, _) if builds(list) => (
                Code::RecursiveCompound,
                "a recursive rule that builds a term could build terms without end",
            ),
            _ => continue,
        };
        return Some(Diagnostic::new(code, literal.span, what).help(key));
    }
    None
}

/// Whether an item of a list pattern is a compound with variables.
fn builds(list: &Pattern) -> bool {
    match list {
        Pattern::Compound(name, args) if &**name == "[|]" => match &**args {
            [head, tail] => matches!(head, Pattern::Compound(..)) || builds(tail),
            _ => true,
        },
        _ => false,
    }
}
