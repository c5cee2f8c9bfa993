//! What demand must leave alone: whether a predicate has a model is a matter of its rules and facts, never of what is
//! asked, so whatever may have no value is evaluated in full.
//!
//! Nothing here looks at a goal's arguments.

use crate::analysis::Data;
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule};
use crate::value::{Constants, MAX_CONSTANT_DEPTH};

/// For each predicate of the slice whether something in its own component may have no value: arithmetic, a list that
/// is demanded, or a term that might nest too deep. `goal` are the goal's rules, whose verdict comes last.
pub(super) fn fallible(
    data: &Data,
    slice: &[bool],
    goal: &[Rule],
    constants: &Constants,
) -> (Vec<bool>, bool) {
    let mut depths = Depths {
        constants,
        deepest: None,
        of: vec![None; slice.len()],
    };
    let mut fallible = vec![false; slice.len()];
    for component in data.graph.components() {
        if !component
            .iter()
            .any(|id| slice.get(id.index()).copied().unwrap_or(false))
        {
            continue;
        }
        let rules = || {
            component
                .iter()
                .filter_map(|id| data.rules_of.get(id.index()))
                .flatten()
                .filter_map(|at| data.rules.get(*at))
        };
        let computes = rules().any(|rule| rule.body.iter().any(Literal::is_arithmetic));
        let (depth, too_deep) = depths.after(rules());
        for id in component {
            if let Some(slot) = depths.of.get_mut(id.index()) {
                *slot = depth;
            }
            if let Some(slot) = fallible.get_mut(id.index()) {
                *slot = computes || too_deep;
            }
        }
    }
    let (_, too_deep) = depths.after(goal.iter());
    (fallible, too_deep)
}

/// How deep the terms of each predicate may nest: no deeper than those of its callees and all that its rules put
/// around them. (A recursive rule puts nothing around what it passes on, but may build a term to look it up.)
struct Depths<'c> {
    constants: &'c Constants,
    /// How deep the constants nest; looked for only when a rule builds terms.
    deepest: Option<u32>,
    /// Of each predicate; `None` stands for the depth of the constants.
    of: Vec<Option<u32>>,
}

impl Depths<'_> {
    /// The depth of what the rules derive, and whether it may be too much.
    fn after<'r>(&mut self, rules: impl Iterator<Item = &'r Rule>) -> (Option<u32>, bool) {
        let (mut below, mut built) = (None, 0);
        for rule in rules {
            for literal in &rule.body {
                literal.each_call(&mut |callee, _, _| {
                    below = below.max(self.of.get(callee.index()).copied().flatten());
                });
            }
            built = built.max(builds(rule));
        }
        if built == 0 {
            return (below, false);
        }
        let deepest = *self.deepest.get_or_insert_with(|| self.constants.deepest());
        let depth = below
            .unwrap_or(deepest)
            .saturating_add(built.saturating_mul(2));
        (Some(depth), depth > MAX_CONSTANT_DEPTH)
    }
}

/// How many levels a rule may put around what it finds.
fn builds(rule: &Rule) -> u32 {
    let head: u32 = rule.args.iter().map(levels).sum();
    head.saturating_add(rule.body.iter().map(builds_literal).sum())
}

fn builds_literal(literal: &Literal) -> u32 {
    match &literal.kind {
        LiteralKind::Not(bodies, _) => bodies.iter().flatten().map(builds_literal).sum(),
        LiteralKind::Unify(_, pattern) => levels(pattern),
        LiteralKind::Identical(_, left, right) | LiteralKind::Order(_, left, right) => {
            levels(left).saturating_add(levels(right))
        }
        LiteralKind::Member(_, list, _) => levels(list),
        LiteralKind::Call(..)
        | LiteralKind::Compare(..)
        | LiteralKind::Is(..)
        | LiteralKind::Fail => 0,
    }
}

fn levels(pattern: &Pattern) -> u32 {
    match pattern {
        Pattern::Constant(_) | Pattern::Variable(_) => 0,
        Pattern::Compound(_, args) => {
            let inner = args.iter().map(levels).max().unwrap_or(0);
            inner.saturating_add(1)
        }
    }
}

/// Marks all that the predicates depend on, themselves included.
pub(super) fn mark(data: &Data, full: &mut [bool], roots: impl Iterator<Item = PredicateId>) {
    for (slot, wanted) in full.iter_mut().zip(data.graph.slice(roots)) {
        *slot |= wanted;
    }
}
