//! Joins of columns that have no kind of constant in common: what they join never matches.
//!
//! Nothing here compares constants: two columns of atoms may have none in common today and some tomorrow.

use super::Subject;
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::value::{Constant, Value};
use std::collections::BTreeMap;

const MAX_FOUND: usize = 20;
/// A longer conjunction is not looked at.
const MAX_BODY: usize = 64;

const ATOM: u8 = 1;
const STRING: u8 = 2;
const NUMBER: u8 = 4;
const TERM: u8 = 8;

/// What gives a variable its value.
#[derive(Clone, Copy)]
enum Giver {
    Column(PredicateId, usize),
    Constant(Value),
}

/// A place where a variable gets its value, with the kinds that it may be of.
struct Place {
    variable: Variable,
    giver: Giver,
    kinds: u8,
    span: Span,
}

pub(super) fn all(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let mut columns = Columns {
        subject,
        known: BTreeMap::new(),
    };
    let mut findings = Vec::new();
    for rule in subject.rules {
        if findings.len() < MAX_FOUND {
            let mut of_rule = Vec::new();
            conjunction(&mut columns, &rule.body, &mut Vec::new(), &mut of_rule);
            let head = subject.predicates.key(rule.head);
            findings.extend(of_rule.into_iter().map(|finding| finding.of(&head)));
        }
    }
    findings.sort_by_key(|finding| finding.span);
    findings.dedup_by_key(|finding| finding.span);
    found.append(&mut findings);
}

/// The kinds of constants in columns of facts.
struct Columns<'a> {
    subject: &'a Subject<'a>,
    known: BTreeMap<(PredicateId, usize), u8>,
}

impl Columns<'_> {
    /// `None` where rules may give anything, or nothing is stated.
    fn kinds(&mut self, id: PredicateId, column: usize) -> Option<u8> {
        let subject = self.subject;
        let facts = subject.facts.get(id.index())?;
        let has_rules = subject
            .rules_of
            .get(id.index())
            .is_none_or(|rules| !rules.is_empty());
        let unread = subject.unread.get(id.index()).copied().unwrap_or(true);
        if facts.count == 0 || has_rules || unread {
            return None;
        }
        let arity = subject.predicates.key(id).arity().max(1);
        let kinds = self.known.entry((id, column)).or_insert_with(|| {
            let cells = facts.values.iter().skip(column).step_by(arity);
            cells.fold(0, |kinds, value| {
                kinds | kind(subject.constants.get(*value))
            })
        });
        Some(*kinds)
    }
}

fn kind(constant: &Constant) -> u8 {
    match constant {
        Constant::Atom(_) => ATOM,
        Constant::String(_) => STRING,
        Constant::Integer(_) | Constant::Float(_) => NUMBER,
        Constant::Nil | Constant::Compound(..) => TERM,
    }
}

/// Looks at a conjunction inside what stands around it.
fn conjunction(
    columns: &mut Columns<'_>,
    body: &[Literal],
    around: &mut Vec<Place>,
    found: &mut Vec<Diagnostic>,
) {
    let mark = around.len();
    if body.len() > MAX_BODY {
        return;
    }
    for literal in body {
        let span = literal.span;
        match &literal.kind {
            LiteralKind::Call(callee, args) => {
                for (column, arg) in args.iter().enumerate() {
                    if let Pattern::Variable(variable) = arg
                        && let Some(kinds) = columns.kinds(*callee, column)
                    {
                        let giver = Giver::Column(*callee, column);
                        enter(columns, around, found, (*variable, giver, kinds, span));
                    }
                }
            }
            LiteralKind::Identical(true, Pattern::Variable(variable), Pattern::Constant(value))
            | LiteralKind::Identical(true, Pattern::Constant(value), Pattern::Variable(variable))
            | LiteralKind::Unify(variable, Pattern::Constant(value)) => {
                let kinds = kind(columns.subject.constants.get(*value));
                let giver = Giver::Constant(*value);
                enter(columns, around, found, (*variable, giver, kinds, span));
            }
            _ => {}
        }
    }
    for literal in body {
        if let LiteralKind::Not(bodies, _) = &literal.kind {
            for body in bodies {
                conjunction(columns, body, around, found);
            }
        }
    }
    around.truncate(mark);
}

fn enter(
    columns: &Columns<'_>,
    around: &mut Vec<Place>,
    found: &mut Vec<Diagnostic>,
    (variable, giver, kinds, span): (Variable, Giver, u8, Span),
) {
    let other = around
        .iter()
        .find(|place| place.variable == variable && place.kinds & kinds == 0);
    if let Some(other) = other
        && other.span != span
    {
        let message = format!(
            "{}, never matches {}",
            written(columns, giver, kinds),
            written(columns, other.giver, other.kinds)
        );
        found.push(
            Diagnostic::new(Code::MixedColumn, span, message)
                .label(other.span, "the other kind is here")
                .help(
                    "write them all in one way; names are best written as atoms, quoted if need be",
                ),
        );
    }
    around.push(Place {
        variable,
        giver,
        kinds,
        span,
    });
}

fn written(columns: &Columns<'_>, giver: Giver, kinds: u8) -> String {
    let subject = columns.subject;
    match giver {
        Giver::Constant(value) => {
            let text = subject.constants.text(value);
            let kind = match kinds {
                ATOM => "an atom",
                STRING => "a string",
                NUMBER => "a number",
                _ => "a term",
            };
            format!("`{text}`, {kind}")
        }
        Giver::Column(id, column) => {
            let names = [
                (ATOM, "atoms"),
                (STRING, "strings"),
                (NUMBER, "numbers"),
                (TERM, "terms"),
            ];
            let names: Vec<&str> = names
                .into_iter()
                .filter(|(kind, _)| kinds & kind != 0)
                .map(|(_, name)| name)
                .collect();
            format!(
                "argument {} of `{}`, which has {} only",
                column + 1,
                subject.predicates.key(id),
                names.join(" and ")
            )
        }
    }
}
