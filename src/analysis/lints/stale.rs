//! Actors and tools that are named in one place only, in a fact that no rule can use.
//!
//! Nothing here is told of a constant that occurs twice, or of a column that some rule reads without a join.

use super::Subject;
use super::sorts::Sorts;
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Variable};
use crate::analysis::shape;
use crate::diagnostic::{Code, Diagnostic};
use std::collections::{BTreeMap, BTreeSet};

const MAX_FOUND: usize = 20;

/// A column: the predicate and the position of the argument.
type Column = (PredicateId, usize);

/// What the readers of a column join it with.
#[derive(Default)]
struct Readers {
    /// Some reader takes any value.
    free: bool,
    /// For each reader the columns in which it must find the value, too.
    joins: BTreeSet<Vec<Column>>,
}

pub(super) fn all(subject: &Subject<'_>, sorts: &Sorts, found: &mut Vec<Diagnostic>) {
    // Actors and tools are what a predicate that grants speaks of.
    let granting = subject
        .predicates
        .iter()
        .filter(|(_, known)| known.is_defined() && shape::grants(&known.key));
    let wanted: BTreeSet<u32> = granting
        .flat_map(|(id, _)| [(id, 0), (id, 1)])
        .map(|column| sorts.of(column))
        .collect();
    if wanted.is_empty() {
        return;
    }
    let mut readers: BTreeMap<Column, Readers> = BTreeMap::new();
    for rule in subject.rules {
        read(&rule.body, &mut Vec::new(), &mut readers);
    }
    readers.retain(|column, readers| {
        let (id, _) = column;
        let has_facts = subject
            .facts
            .get(id.index())
            .is_some_and(|facts| facts.count > 0);
        has_facts && !readers.free && wanted.contains(&sorts.of(*column))
    });
    let joined: BTreeSet<Column> = readers
        .values()
        .flat_map(|readers| readers.joins.iter().flatten().copied())
        .collect();
    let closed: BTreeSet<Column> = joined
        .into_iter()
        .filter(|column| is_closed(subject, *column))
        .collect();
    let mut findings = Vec::new();
    for ((id, column), readers) in &readers {
        // For each reader a column that must have the value, too, and has it only if a fact says so.
        let lacking: Option<Vec<Column>> = readers
            .joins
            .iter()
            .map(|columns| {
                columns
                    .iter()
                    .copied()
                    .find(|column| closed.contains(column))
            })
            .collect();
        let Some((other, at)) = lacking.and_then(|lacking| lacking.first().copied()) else {
            continue;
        };
        let (Some(facts), key) = (subject.facts.get(id.index()), subject.predicates.key(*id))
        else {
            continue;
        };
        for (row, span) in facts.rows(key.arity()).zip(&facts.spans) {
            let Some(value) = row.get(*column).copied() else {
                continue;
            };
            // It occurs here and nowhere else: the other column lacks it.
            if sorts.count(value) != 1 || subject.constants.atom_text(value).is_none() {
                continue;
            }
            findings.push(
                Diagnostic::new(
                    Code::StaleConstant,
                    *span,
                    format!(
                        "`{}` is named nowhere else: no rule can use this fact, since nothing has it as argument {} of `{}`",
                        subject.constants.text(value),
                        at + 1,
                        subject.predicates.key(other)
                    ),
                )
                .help("mend the name, or remove the fact if it is left over")
                .of(&key),
            );
        }
    }
    findings.sort_by_key(|found| found.span);
    findings.dedup_by_key(|found| found.span);
    findings.truncate(MAX_FOUND);
    found.append(&mut findings);
}

/// The positive calls of a conjunction, and those around it.
type Calls<'r> = Vec<(PredicateId, &'r [Pattern])>;

fn read<'r>(body: &'r [Literal], around: &mut Calls<'r>, readers: &mut BTreeMap<Column, Readers>) {
    /// A longer conjunction is not looked at closely: whatever it reads it may use.
    const MAX_BODY: usize = 64;
    let mark = around.len();
    around.extend(body.iter().filter_map(|literal| match &literal.kind {
        LiteralKind::Call(callee, args) => Some((*callee, &**args)),
        _ => None,
    }));
    for (callee, args) in around.iter().skip(mark) {
        for (column, arg) in args.iter().enumerate() {
            let known = readers.entry((*callee, column)).or_default();
            let joins = match arg {
                Pattern::Variable(variable) if around.len() <= MAX_BODY => {
                    joins(around, *variable, (*callee, column))
                }
                _ => Vec::new(),
            };
            if joins.is_empty() {
                known.free = true;
            } else {
                known.joins.insert(joins);
            }
        }
    }
    for literal in body {
        if let LiteralKind::Not(bodies, _) = &literal.kind {
            for body in bodies {
                read(body, around, readers);
            }
        }
    }
    around.truncate(mark);
}

/// The other columns in which the variable stands.
fn joins(calls: &Calls<'_>, variable: Variable, own: Column) -> Vec<Column> {
    let mut found: Vec<Column> = calls
        .iter()
        .flat_map(|(callee, args)| {
            args.iter()
                .enumerate()
                .filter(move |(_, arg)| **arg == Pattern::Variable(variable))
                .map(|(column, _)| (*callee, column))
        })
        .filter(|column| *column != own)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether the column has what facts say and nothing else, so that a constant without a fact there is not in it.
fn is_closed(subject: &Subject<'_>, (id, column): Column) -> bool {
    let rules = subject.rules_of.get(id.index()).into_iter().flatten();
    let mut heads = rules.filter_map(|at| subject.rules.get(*at)?.args.get(column));
    let unread = subject.unread.get(id.index()).copied().unwrap_or(true);
    // Without any clause the facts come from elsewhere, and the value may be among them.
    let known = subject.predicates.get(id);
    !unread
        && known.is_some_and(|known| !known.defined.is_empty())
        && heads.all(|head| matches!(head, Pattern::Constant(_)))
}
