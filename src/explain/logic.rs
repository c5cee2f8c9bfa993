//! Terms with variables that stand for the same thing in several rules, and their unification.
//!
//! Nothing here outlives a search: the numbers of variables are used again once they are undone.

use crate::analysis::rule::Pattern;
use crate::value::{Constant, Constants, Value};
use std::rc::Rc;

/// A term of a search.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    Value(Value),
    Variable(usize),
    Compound(Rc<str>, Rc<[Term]>),
}

/// What the variables of a search stand for.
#[derive(Debug, Default)]
pub(super) struct Store {
    slots: Vec<Option<Term>>,
    /// The variables that were bound, in order.
    trail: Vec<usize>,
}

/// A point to which a store can go back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    slots: usize,
    trail: usize,
}

impl Store {
    /// New variables, so many; the number of the first.
    pub(super) fn open(&mut self, count: usize) -> usize {
        let first = self.slots.len();
        self.slots.resize(first + count, None);
        first
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            slots: self.slots.len(),
            trail: self.trail.len(),
        }
    }

    /// Forgets all that came since.
    pub(super) fn undo(&mut self, mark: Mark) {
        for variable in self.trail.drain(mark.trail.min(self.trail.len())..) {
            if let Some(slot) = self.slots.get_mut(variable) {
                *slot = None;
            }
        }
        self.slots.truncate(mark.slots);
    }

    /// The pattern of a rule whose variables start at `base`.
    pub(super) fn pattern(&self, pattern: &Pattern, base: usize) -> Term {
        match pattern {
            Pattern::Constant(value) => Term::Value(*value),
            Pattern::Variable(variable) => Term::Variable(base + variable.index()),
            Pattern::Compound(name, args) => {
                let args = args.iter().map(|arg| self.pattern(arg, base));
                Term::Compound((&**name).into(), args.collect())
            }
        }
    }

    /// What a term stands for, as far as that is known at its top.
    fn walk(&self, term: &Term) -> Term {
        let mut term = term;
        while let Term::Variable(variable) = term {
            match self.slots.get(*variable) {
                Some(Some(bound)) => term = bound,
                _ => break,
            }
        }
        term.clone()
    }

    /// What a term stands for, as far as that is known.
    pub(super) fn resolve(&self, term: &Term) -> Term {
        match self.walk(term) {
            Term::Compound(name, args) => {
                Term::Compound(name, args.iter().map(|arg| self.resolve(arg)).collect())
            }
            other => other,
        }
    }

    /// The value of a term without open variables.
    pub(super) fn value(&self, term: &Term, constants: &mut Constants) -> Option<Value> {
        match self.walk(term) {
            Term::Value(value) => Some(value),
            Term::Variable(_) => None,
            Term::Compound(name, args) => {
                let args = args.iter().map(|arg| self.value(arg, constants));
                let args: Option<Vec<Value>> = args.collect();
                constants.compound(&name, &args?).ok()
            }
        }
    }

    /// The first open variable of a term.
    pub(super) fn open_in(&self, term: &Term) -> Option<usize> {
        match self.walk(term) {
            Term::Value(_) => None,
            Term::Variable(variable) => Some(variable),
            Term::Compound(_, args) => args.iter().find_map(|arg| self.open_in(arg)),
        }
    }

    fn occurs(&self, variable: usize, term: &Term) -> bool {
        match self.walk(term) {
            Term::Value(_) => false,
            Term::Variable(other) => other == variable,
            Term::Compound(_, args) => args.iter().any(|arg| self.occurs(variable, arg)),
        }
    }

    /// Makes two terms equal, if they can be. What was bound on the way stays bound if not.
    pub(super) fn unify(&mut self, constants: &Constants, left: &Term, right: &Term) -> bool {
        match (self.walk(left), self.walk(right)) {
            (Term::Value(left), Term::Value(right)) => left == right,
            (Term::Variable(left), Term::Variable(right)) if left == right => true,
            (Term::Variable(variable), other) | (other, Term::Variable(variable)) => {
                if self.occurs(variable, &other) {
                    return false;
                }
                if let Some(slot) = self.slots.get_mut(variable) {
                    *slot = Some(other);
                    self.trail.push(variable);
                }
                true
            }
            (Term::Compound(name, args), Term::Value(value))
            | (Term::Value(value), Term::Compound(name, args)) => match constants.get(value) {
                Constant::Compound(other, parts)
                    if **other == *name && parts.len() == args.len() =>
                {
                    let pairs = args.iter().zip(parts);
                    pairs
                        .into_iter()
                        .all(|(arg, part)| self.unify(constants, arg, &Term::Value(*part)))
                }
                _ => false,
            },
            (Term::Compound(name, args), Term::Compound(other, others)) => {
                name == other
                    && args.len() == others.len()
                    && args
                        .iter()
                        .zip(&*others)
                        .all(|(left, right)| self.unify(constants, left, right))
            }
        }
    }

    /// [`Store::unify`] for each pair.
    pub(super) fn unify_all(
        &mut self,
        constants: &Constants,
        left: &[Term],
        right: &[Term],
    ) -> bool {
        left.iter()
            .zip(right)
            .all(|(left, right)| self.unify(constants, left, right))
    }
}
