//! Closures of which one end is known. Rewritten as they stand, `p(X, Z) :- e(X, Y), p(Y, Z)` asked with `X` would derive
//! what every node on the way reaches; what is reached from `X` alone needs no more than a mark on each.
//!
//! Nothing here knows who asks; [`rules`] are rules like any others.

use super::super::passenger::Closure;
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule, Variable};
use crate::source::Span;
use std::sync::Arc;

/// The predicates that stand for parts of a closure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// The closure itself.
    pub(super) whole: PredicateId,
    /// What it has without recursion.
    pub(super) base: PredicateId,
    /// From a value to what it comes to by any number of steps, none included.
    pub(super) reach: PredicateId,
}

/// The columns of a closure that are worth knowing, of those that are known: one, since the other is only a filter.
/// `spread` says of each how many values it may have for one demand; less is better, and so is the first.
pub(super) fn useful(bound: &[bool], spread: &[u8]) -> Box<[bool]> {
    match (bound, spread) {
        ([true, true], [first, second]) => [first <= second, first > second].into(),
        _ => bound.into(),
    }
}

/// The recursive rules of a closure whose passenger is known: from there step by step.
pub(super) fn along(closure: &Closure, parts: Parts, span: Span) -> Vec<Rule> {
    let [known, before, after] = [Variable(0), Variable(1), Variable(2)];
    closure
        .edges
        .iter()
        .map(|edge| {
            let step = edge.predicate.unwrap_or(parts.base);
            let body = [
                call(parts.whole, oriented(closure.passenger, known, before)),
                call(step, oriented(edge.from, before, after)),
            ];
            rule(
                parts.whole,
                oriented(closure.passenger, known, after),
                body,
                span,
            )
        })
        .collect()
}

/// The rules of a closure whose other end is known: back step by step, and then to what stands before the first step.
pub(super) fn against(closure: &Closure, parts: Parts, span: Span) -> Vec<Rule> {
    let [rider, start, end] = [Variable(0), Variable(1), Variable(2)];
    let body = [
        call(parts.base, oriented(closure.passenger, rider, start)),
        call(parts.reach, [start, end]),
    ];
    vec![rule(
        parts.whole,
        oriented(closure.passenger, rider, end),
        body,
        span,
    )]
}

/// The rules of [`Parts::reach`]. The first holds for any value: it must be asked with the second argument.
pub(super) fn reach(closure: &Closure, parts: Parts, span: Span) -> Vec<Rule> {
    let [start, next, end] = [Variable(0), Variable(1), Variable(2)];
    let mut rules = vec![rule(parts.reach, [end, end], [], span)];
    rules.extend(closure.edges.iter().map(|edge| {
        let step = edge.predicate.unwrap_or(parts.base);
        let body = [
            call(step, oriented(edge.from, start, next)),
            call(parts.reach, [next, end]),
        ];
        rule(parts.reach, [start, end], body, span)
    }));
    rules
}

/// A pair with `first` in the given column.
fn oriented(column: usize, first: Variable, second: Variable) -> [Variable; 2] {
    if column == 0 {
        [first, second]
    } else {
        [second, first]
    }
}

type Call = (PredicateId, [Variable; 2]);

fn call(predicate: PredicateId, args: [Variable; 2]) -> Call {
    (predicate, args)
}

fn rule<const N: usize>(
    head: PredicateId,
    args: [Variable; 2],
    body: [Call; N],
    span: Span,
) -> Rule {
    let literal = |(predicate, args): Call| Literal {
        kind: LiteralKind::Call(predicate, args.map(Pattern::Variable).into()),
        span,
    };
    let names: [Box<str>; 3] = ["_".into(), "_".into(), "_".into()];
    Rule {
        head,
        args: args.map(Pattern::Variable).into(),
        body: body.into_iter().map(literal).collect(),
        postponed: Vec::new(),
        variables: Arc::new(names),
        span,
        head_span: span,
    }
}
