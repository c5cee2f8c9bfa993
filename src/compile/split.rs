//! Rules split into alternatives: a negated conjunction fails where one of its literals does (De Morgan).
//!
//! It is done only where a conjunction cannot have a relation of its own, since each alternative is a rule of its own. Nothing
//! is split that does arithmetic or has variables of its own.

use crate::analysis::rule::{Literal, LiteralKind, Rule};
use crate::source::Span;

/// The rules that together say what `rule` says, each without the negated conjunction at `place`; `None` if there is none
/// that can be split.
pub(super) fn alternatives(rule: &Rule, place: Span) -> Option<Vec<Rule>> {
    let covers = |span: Span| span.start <= place.start && place.end <= span.end;
    let (at, literal) = rule
        .body
        .iter()
        .enumerate()
        .find(|(_, literal)| covers(literal.span) && can_be_split(rule, literal))?;
    let LiteralKind::Not(bodies, origin) = &literal.kind else {
        return None;
    };
    let (which, choices) = bodies
        .iter()
        .enumerate()
        .find_map(|(which, body)| Some((which, choices(body)?)))?;
    let split = choices.into_iter().map(|choice| {
        let mut bodies = bodies.clone();
        if let Some(slot) = bodies.get_mut(which) {
            *slot = choice;
        }
        let mut rule = rule.clone();
        if let Some(slot) = rule.body.get_mut(at) {
            slot.kind = LiteralKind::Not(bodies, *origin);
        }
        rule
    });
    Some(split.collect())
}

/// The conjunctions of which one must fail for this one to fail.
fn choices(body: &[Literal]) -> Option<Vec<Vec<Literal>>> {
    match body {
        [
            Literal {
                kind: LiteralKind::Not(inner, origin),
                span,
            },
        ] if inner.len() > 1 => Some(
            inner
                .iter()
                .map(|one| {
                    let kind = LiteralKind::Not(vec![one.clone()], *origin);
                    vec![Literal { kind, span: *span }]
                })
                .collect(),
        ),
        [_, _, ..] => Some(body.iter().map(|one| vec![one.clone()]).collect()),
        _ => None,
    }
}

/// Whether the literal computes nothing and each of its variables also stands elsewhere in the rule.
fn can_be_split(rule: &Rule, literal: &Literal) -> bool {
    if literal.is_arithmetic() {
        return false;
    }
    let size = rule.variables.len();
    let (mut inside, mut everywhere) = (vec![0_usize; size], vec![0_usize; size]);
    literal.each_variable(&mut |variable| count(&mut inside, variable.index()));
    for arg in &rule.args {
        arg.each_variable(&mut |variable| count(&mut everywhere, variable.index()));
    }
    for other in &rule.body {
        other.each_variable(&mut |variable| count(&mut everywhere, variable.index()));
    }
    inside
        .iter()
        .zip(&everywhere)
        .all(|(inside, all)| *inside == 0 || inside < all)
}

fn count(counts: &mut [usize], at: usize) {
    if let Some(slot) = counts.get_mut(at) {
        *slot += 1;
    }
}
