//! Whether a rule covers another: theta-subsumption, within a number of steps.
//!
//! Nothing here looks at facts: it compares two rules as they are written.

use crate::analysis::rule::{Expression, Literal, LiteralKind, Pattern, Rule, Variable};
use std::collections::HashSet;

/// How many steps one comparison may take.
pub(super) const MAX_STEPS: u32 = 2_000;

/// Whether one rule covers another: with some terms for its variables its head is the other's, and each literal of
/// its body is one of the other's.
pub(super) struct Comparison<'r> {
    general: &'r Rule,
    special: &'r Rule,
    /// What the variables of the general rule stand for.
    binding: Vec<Option<&'r Pattern>>,
    /// The variables that were bound, in order.
    trail: Vec<Variable>,
    steps: u32,
}

impl<'r> Comparison<'r> {
    pub(super) fn new(general: &'r Rule, special: &'r Rule, steps: u32) -> Self {
        Self {
            general,
            special,
            binding: vec![None; general.variables.len()],
            trail: Vec::new(),
            steps,
        }
    }

    pub(super) fn holds(&mut self) -> bool {
        let (general, special) = (self.general, self.special);
        self.patterns(&general.args, &special.args) && self.body(&general.body)
    }

    /// How many steps are left.
    pub(super) fn left(&self) -> u32 {
        self.steps
    }

    fn body(&mut self, rest: &'r [Literal]) -> bool {
        let Some((literal, rest)) = rest.split_first() else {
            return true;
        };
        let special = self.special;
        for other in &special.body {
            let Some(left) = self.steps.checked_sub(1) else {
                return false;
            };
            self.steps = left;
            let mark = self.trail.len();
            if self.literal(literal, other) && self.body(rest) {
                return true;
            }
            for variable in self.trail.drain(mark..) {
                if let Some(slot) = self.binding.get_mut(variable.index()) {
                    *slot = None;
                }
            }
        }
        false
    }

    fn literal(&mut self, general: &'r Literal, special: &'r Literal) -> bool {
        use LiteralKind::{Call, Compare, Fail, Identical, Is, Member, Not, Order, Unify};
        match (&general.kind, &special.kind) {
            (Call(one, args), Call(other, others)) => one == other && self.patterns(args, others),
            (Not(one, _), Not(other, _)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| {
                        one.len() == other.len()
                            && one
                                .iter()
                                .zip(other)
                                .all(|(one, other)| self.literal(one, other))
                    })
                    && self.keeps_locals(general, special)
            }
            (Unify(one, pattern), Unify(other, others)) => {
                self.variable(*one, *other) && self.pattern(pattern, others)
            }
            (Identical(one, a, b), Identical(other, c, d)) => {
                one == other && self.pattern(a, c) && self.pattern(b, d)
            }
            (Order(one, a, b), Order(other, c, d)) => {
                one == other && self.pattern(a, c) && self.pattern(b, d)
            }
            (Compare(one, a, b), Compare(other, c, d)) => {
                one == other && self.expression(a, c) && self.expression(b, d)
            }
            (Is(a, b), Is(c, d)) => self.pattern(a, c) && self.expression(b, d),
            (Member(a, b, one), Member(c, d, other)) => {
                one == other && self.pattern(a, c) && self.pattern(b, d)
            }
            (Fail, Fail) => true,
            _ => false,
        }
    }

    /// Under a negation a variable of its own says "no such": it may only stand for another such variable, each for
    /// one of its own.
    fn keeps_locals(&self, general: &Literal, special: &Literal) -> bool {
        let (own, others) = (locals(self.general, general), locals(self.special, special));
        let mut images = HashSet::new();
        let mut keeps = true;
        general.each_variable(&mut |variable| {
            if !own.contains(&variable) {
                return;
            }
            match self.binding.get(variable.index()).copied().flatten() {
                Some(Pattern::Variable(image)) => {
                    keeps &= others.contains(image);
                    images.insert(*image);
                }
                _ => keeps = false,
            }
        });
        // A variable of the special rule that is bound outside is no "no such".
        keeps && images.len() == own.len() && own.len() == others.len()
    }

    fn patterns(&mut self, general: &'r [Pattern], special: &'r [Pattern]) -> bool {
        general.len() == special.len()
            && general
                .iter()
                .zip(special)
                .all(|(general, special)| self.pattern(general, special))
    }

    fn pattern(&mut self, general: &'r Pattern, special: &'r Pattern) -> bool {
        match (general, special) {
            (Pattern::Variable(variable), _) => match self.binding.get_mut(variable.index()) {
                Some(Some(known)) => *known == special,
                Some(slot) => {
                    *slot = Some(special);
                    self.trail.push(*variable);
                    true
                }
                None => false,
            },
            (Pattern::Compound(one, args), Pattern::Compound(other, others)) => {
                one == other && self.patterns(args, others)
            }
            _ => general == special,
        }
    }

    fn variable(&mut self, general: Variable, special: Variable) -> bool {
        match self.binding.get(general.index()).copied().flatten() {
            Some(known) => *known == Pattern::Variable(special),
            // What is equated was bound by a literal before, or by the head; anything else is left alone.
            None => false,
        }
    }

    fn expression(&mut self, general: &'r Expression, special: &'r Expression) -> bool {
        match (general, special) {
            (Expression::Variable(one), Expression::Variable(other)) => self.variable(*one, *other),
            (Expression::Unary(one, a), Expression::Unary(other, b)) => {
                one == other && self.expression(a, b)
            }
            (Expression::Binary(one, a), Expression::Binary(other, b)) => {
                one == other && self.expression(&a.0, &b.0) && self.expression(&a.1, &b.1)
            }
            _ => general == special,
        }
    }
}

/// The variables of a rule that occur in one literal only.
fn locals(rule: &Rule, inside: &Literal) -> HashSet<Variable> {
    let mut found = HashSet::new();
    inside.each_variable(&mut |variable| {
        found.insert(variable);
    });
    let mut outside = |variable| {
        found.remove(&variable);
    };
    for arg in &rule.args {
        arg.each_variable(&mut outside);
    }
    for literal in &rule.body {
        if !std::ptr::eq(literal, inside) {
            literal.each_variable(&mut outside);
        }
    }
    found
}
