//! What a search for missing facts has still to show.
//!
//! Nothing here is changed once it is made: the branches of a search share it.

use crate::analysis::rule::{Literal, PredicateId, Rule};
use std::rc::Rc;

/// What is still to be shown: lists that share their tails.
pub(super) type Agenda<'r> = Option<Rc<Cell<'r>>>;

pub(super) struct Cell<'r> {
    pub(super) task: Task<'r>,
    pub(super) next: Agenda<'r>,
}

#[derive(Clone)]
pub(super) enum Task<'r> {
    Literal(Part<'r>),
    /// A rule was entered when so much was supposed: it must have used more, or the model would have the tuple.
    Used(usize),
}

/// A literal of a rule whose variables start at `base`.
#[derive(Clone)]
pub(super) struct Part<'r> {
    pub(super) rule: &'r Rule,
    pub(super) literal: &'r Literal,
    pub(super) base: usize,
    pub(super) path: Path,
}

/// The predicates that are being called, the innermost first.
pub(super) type Path = Option<Rc<Called>>;

pub(super) struct Called {
    pub(super) predicate: PredicateId,
    pub(super) depth: usize,
    pub(super) above: Path,
}

/// A task, and then what comes next.
pub(super) fn then<'r>(task: Task<'r>, next: Agenda<'r>) -> Agenda<'r> {
    Some(Rc::new(Cell { task, next }))
}

/// The literals of a body, and then what comes next.
pub(super) fn body<'r>(
    rule: &'r Rule,
    literals: &'r [Literal],
    base: usize,
    path: &Path,
    next: Agenda<'r>,
) -> Agenda<'r> {
    literals.iter().rev().fold(next, |next, literal| {
        let part = Part {
            rule,
            literal,
            base,
            path: path.clone(),
        };
        then(Task::Literal(part), next)
    })
}
