//! Accidents that are legal: each is a warning with advice or a note, none changes an answer.
//!
//! Nothing here refuses a clause, and nothing here runs for a decision.

mod circuit;
mod clauses;
mod columns;
mod cover;
mod kinds;
mod names;
mod never;
mod redundant;
mod silence;
mod sorts;
mod stale;
mod unused;

pub(crate) use clauses::negation_before_binding;
pub use silence::Silenced;
pub(crate) use silence::Silences;

use super::Facts;
use super::graph::Graph;
use super::predicate::Predicates;
use super::rule::{PredicateId, Rule};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::source::{SourceId, Span};
use crate::syntax::Clause;
use crate::value::Constants;
use sorts::Sorts;
use std::collections::HashSet;

/// What the lints look at.
pub(crate) struct Subject<'a> {
    pub(crate) program: &'a Program,
    /// Whether nothing refuses the set: otherwise what seems to be missing may stand in what could not be read.
    pub(crate) complete: bool,
    pub(crate) clauses: &'a [(PredicateId, &'a Clause)],
    pub(crate) predicates: &'a Predicates,
    pub(crate) facts: &'a [Facts],
    pub(crate) rules: &'a [Rule],
    /// The rules of each predicate, as positions in `rules`.
    pub(crate) rules_of: &'a [Vec<usize>],
    pub(crate) graph: &'a Graph,
    pub(crate) constants: &'a Constants,
    /// The file that is a module.
    pub(crate) module: Option<SourceId>,
    /// The clauses that have a fault.
    pub(crate) faulty: &'a HashSet<Span>,
    /// Those of them whose rules are not what they say.
    pub(crate) unread_clauses: &'a HashSet<Span>,
    /// For each predicate whether it has such a clause.
    pub(crate) unread: &'a [bool],
}

/// All lints of the rule set.
pub(crate) fn all(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    clauses::all(subject, &mut found);
    columns::all(subject, &mut found);
    redundant::all(subject, &mut found);
    let sorts = Sorts::new(subject);
    names::all(subject, &sorts, &mut found);
    if subject.complete {
        never::all(subject, &mut found);
        unused::all(subject, &mut found);
        stale::all(subject, &sorts, &mut found);
        kinds::all(subject, &mut found);
    }
    once(&mut found);
    found
}

/// Of several findings that have one cause keeps the one that says most: what a name is mistaken for explains why
/// nothing uses it, and a rule that never fires for a misspelt name says what was meant.
fn once(found: &mut Vec<Diagnostic>) {
    let inside = |inner: Span, outer: Span| {
        inner.source == outer.source && outer.start <= inner.start && inner.end <= outer.end
    };
    let of = |code: Code| -> Vec<Diagnostic> {
        let wanted = found.iter().filter(|found| found.code == code);
        wanted.cloned().collect()
    };
    let (near, dead) = (of(Code::NearName), of(Code::DeadRule));
    found.retain(|finding| match finding.code {
        Code::NearName => !dead.iter().any(|dead| inside(finding.span, dead.span)),
        Code::StaleConstant => !near.iter().any(|near| inside(near.span, finding.span)),
        Code::UnusedPredicate => !near.iter().any(|near| near.span == finding.span),
        _ => true,
    });
}
