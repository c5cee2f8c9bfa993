//! The rules of change: from a rule and the predicates that changed to rules that derive what follows from the change.
//!
//! Every predicate has four versions while a model is brought up to date: its tuples before, its tuples after, and what
//! it gained and lost. Nothing here evaluates.

use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule, Variable};

/// The versions of predicates, as predicates of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions {
    /// How many predicates there are.
    count: u32,
}

impl Versions {
    pub(super) fn among(predicates: usize) -> Self {
        Self {
            count: u32::try_from(predicates).unwrap_or(u32::MAX),
        }
    }

    pub(super) fn after(self, id: PredicateId) -> PredicateId {
        PredicateId(id.0 + self.count)
    }

    pub(super) fn gained(self, id: PredicateId) -> PredicateId {
        PredicateId(id.0 + 2 * self.count)
    }

    pub(super) fn lost(self, id: PredicateId) -> PredicateId {
        PredicateId(id.0 + 3 * self.count)
    }

    /// The predicate that this is a version of.
    pub(super) fn of(self, id: PredicateId) -> PredicateId {
        PredicateId(id.0.checked_rem(self.count).unwrap_or(0))
    }
}

/// What changed, for the rules of one component.
pub(super) struct Change<'c> {
    pub(super) versions: Versions,
    /// The predicates of the component.
    pub(super) component: &'c [PredicateId],
    /// Whether a predicate of another component gained tuples, and whether it lost any.
    pub(super) of: &'c dyn Fn(PredicateId) -> (bool, bool),
}

impl Change<'_> {
    /// Rules for what may be lost: each has a derivation over the tuples before that rests on something lost, or on
    /// the absence of something gained.
    pub(super) fn losses(&self, rule: &Rule) -> Vec<Rule> {
        let before = |id| id;
        let head = self.versions.lost(rule.head);
        let mut rules = Vec::new();
        for (at, literal) in rule.body.iter().enumerate() {
            match &literal.kind {
                LiteralKind::Call(callee, args) => {
                    if self.component.contains(callee) || (self.of)(*callee).1 {
                        let lost = call(self.versions.lost(*callee), args.clone(), literal);
                        rules.push(with_first(rule, head, lost, Some(at), &before));
                    }
                }
                _ => self.within(rule, literal, true, &mut |changed, more| {
                    rules.push(with_variables(
                        with_first(rule, head, changed, None, &before),
                        more,
                    ));
                }),
            }
        }
        rules
    }

    /// Rules for what may be gained: each has a derivation over the tuples after that rests on something gained, or
    /// on the absence of something lost. Calls within the component are left to the rounds.
    pub(super) fn gains(&self, rule: &Rule) -> Vec<Rule> {
        let after = |id| self.versions.after(id);
        let head = after(rule.head);
        let mut rules = Vec::new();
        for (at, literal) in rule.body.iter().enumerate() {
            match &literal.kind {
                LiteralKind::Call(callee, args) => {
                    if !self.component.contains(callee) && (self.of)(*callee).0 {
                        let gained = call(self.versions.gained(*callee), args.clone(), literal);
                        rules.push(with_first(rule, head, gained, Some(at), &after));
                    }
                }
                _ => self.within(rule, literal, false, &mut |changed, more| {
                    rules.push(with_variables(
                        with_first(rule, head, changed, None, &after),
                        more,
                    ));
                }),
            }
        }
        rules
    }

    /// The rule for those of the lost tuples that can be derived after all.
    pub(super) fn recovery(&self, rule: &Rule) -> Rule {
        let after = |id| self.versions.after(id);
        let lost = Literal {
            kind: LiteralKind::Call(self.versions.lost(rule.head), rule.args.clone()),
            span: rule.head_span,
        };
        with_first(rule, after(rule.head), lost, None, &after)
    }

    /// The rule over the tuples after.
    pub(super) fn after(&self, rule: &Rule) -> Rule {
        let after = |id| self.versions.after(id);
        Rule {
            head: after(rule.head),
            body: rule.body.iter().map(|l| mapped(l, &after)).collect(),
            ..rule.clone()
        }
    }

    /// Calls `visit` for each call under a negation whose change may have made the negation false (`losing`) or true,
    /// as a literal that says what changed, with how many variables it needs beyond the rule's own.
    fn within(
        &self,
        rule: &Rule,
        literal: &Literal,
        losing: bool,
        visit: &mut dyn FnMut(Literal, usize),
    ) {
        let LiteralKind::Not(bodies, _) = &literal.kind else {
            return;
        };
        // What is only under this negation is another variable outside.
        let mut outside = vec![false; rule.variables.len()];
        let mut mark = |variable: Variable| {
            if let Some(flag) = outside.get_mut(variable.index()) {
                *flag = true;
            }
        };
        rule.args
            .iter()
            .for_each(|arg| arg.each_variable(&mut mark));
        for other in &rule.body {
            if !std::ptr::eq(other, literal) {
                other.each_variable(&mut mark);
            }
        }
        let mut calls = Vec::new();
        calls_within(bodies, true, &mut calls);
        for (inner, odd) in calls {
            let LiteralKind::Call(callee, args) = &inner.kind else {
                continue;
            };
            let (gained, lost) = (self.of)(*callee);
            // What is gained under one negation makes it false; under two, true again.
            let version = match odd == losing {
                true if gained => self.versions.gained(*callee),
                false if lost => self.versions.lost(*callee),
                _ => continue,
            };
            let mut fresh = Fresh {
                outside: &outside,
                known: Vec::new(),
                next: rule.variables.len(),
            };
            let args = args.iter().map(|arg| fresh.rename(arg)).collect();
            let more = fresh.known.len();
            visit(call(version, args, inner), more);
        }
    }
}

/// Gives variables that are local to a negation other names.
struct Fresh<'f> {
    outside: &'f [bool],
    known: Vec<(Variable, Variable)>,
    next: usize,
}

impl Fresh<'_> {
    fn rename(&mut self, pattern: &Pattern) -> Pattern {
        match pattern {
            Pattern::Constant(value) => Pattern::Constant(*value),
            Pattern::Variable(variable) => {
                if self.outside.get(variable.index()).copied().unwrap_or(true) {
                    return Pattern::Variable(*variable);
                }
                if let Some((_, new)) = self.known.iter().find(|(old, _)| old == variable) {
                    return Pattern::Variable(*new);
                }
                let at = self.next + self.known.len();
                let new = Variable(u32::try_from(at).unwrap_or(u32::MAX));
                self.known.push((*variable, new));
                Pattern::Variable(new)
            }
            Pattern::Compound(name, args) => Pattern::Compound(
                name.clone(),
                args.iter().map(|arg| self.rename(arg)).collect(),
            ),
        }
    }
}

/// All calls under a negation, with whether they stand under an odd number of negations.
fn calls_within<'r>(bodies: &'r [Vec<Literal>], odd: bool, calls: &mut Vec<(&'r Literal, bool)>) {
    for literal in bodies.iter().flatten() {
        match &literal.kind {
            LiteralKind::Call(..) => calls.push((literal, odd)),
            LiteralKind::Not(bodies, _) => calls_within(bodies, !odd, calls),
            _ => {}
        }
    }
}

fn call(predicate: PredicateId, args: Box<[Pattern]>, literal: &Literal) -> Literal {
    Literal {
        kind: LiteralKind::Call(predicate, args),
        span: literal.span,
    }
}

/// The rule with `first` in front, in place of the literal `instead` if there is one, and the others over a version.
fn with_first(
    rule: &Rule,
    head: PredicateId,
    first: Literal,
    instead: Option<usize>,
    to: &dyn Fn(PredicateId) -> PredicateId,
) -> Rule {
    let kept = || (0..rule.body.len()).filter(|at| Some(*at) != instead);
    let others = kept()
        .filter_map(|at| rule.body.get(at))
        .map(|literal| mapped(literal, to));
    Rule {
        head,
        body: std::iter::once(first).chain(others).collect(),
        postponed: (1..)
            .zip(kept())
            .filter(|(_, at)| rule.postponed.contains(at))
            .map(|(at, _)| at)
            .collect(),
        ..rule.clone()
    }
}

fn with_variables(rule: Rule, more: usize) -> Rule {
    let names = rule.variables.iter().cloned();
    let anonymous = std::iter::repeat_n(Box::from("_"), more);
    Rule {
        variables: names.chain(anonymous).collect(),
        ..rule
    }
}

/// The literal over other versions of the predicates that it calls.
fn mapped(literal: &Literal, to: &dyn Fn(PredicateId) -> PredicateId) -> Literal {
    let kind = match &literal.kind {
        LiteralKind::Call(callee, args) => LiteralKind::Call(to(*callee), args.clone()),
        LiteralKind::Not(bodies, origin) => {
            let bodies = bodies
                .iter()
                .map(|body| body.iter().map(|literal| mapped(literal, to)).collect());
            LiteralKind::Not(bodies.collect(), *origin)
        }
        other => other.clone(),
    };
    Literal {
        kind,
        span: literal.span,
    }
}
