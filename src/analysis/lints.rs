//! Accidents that are legal: each is a warning with advice, none changes an answer.
//!
//! Nothing here refuses a clause.

use super::Facts;
use super::is_call;
use super::near;
use super::predicate::Predicates;
use super::rule::{PredicateId, Rule};
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::program::Program;
use crate::source::Span;
use crate::syntax::{Clause, ClauseKind, Term, TermKind};
use crate::value::{Constant, Constants, Value};
use std::collections::{HashMap, HashSet};

/// How many near names are shown.
const MAX_NEAR_NAMES: usize = 20;

/// What the lints look at.
pub(crate) struct Subject<'a> {
    pub(crate) program: &'a Program,
    pub(crate) clauses: &'a [(PredicateId, &'a Clause)],
    pub(crate) predicates: &'a Predicates,
    pub(crate) facts: &'a [Facts],
    pub(crate) constants: &'a Constants,
    /// The clauses that have a fault.
    pub(crate) faulty: &'a HashSet<Span>,
}

/// All lints of the rule set.
pub(crate) fn all(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (id, clause) in subject.clauses {
        let key = subject.predicates.key(*id);
        if !subject.faulty.contains(&clause.span) {
            singletons(clause, &key, &mut found);
        }
        swallowed(subject, clause, &key, &mut found);
        mutations(subject, clause, &key, &mut found);
    }
    for (id, known) in subject.predicates.iter() {
        if let Some(facts) = subject.facts.get(id.index()) {
            columns(subject.constants, facts, &known.key, &mut found);
            duplicates(facts, &known.key, &mut found);
        }
    }
    near_names(subject, &mut found);
    other_arities(subject, &mut found);
    found
}

/// The warning for a rule that tests a head variable before a literal binds it.
pub(crate) fn negation_before_binding(rule: &Rule, span: Span, key: &PredicateKey) -> Diagnostic {
    let calls = rule
        .body
        .iter()
        .any(|literal| literal.span == span && is_call(&literal.kind));
    let (message, help) = match calls {
        true => (
            "this calls a predicate that tests its argument first with a head variable that is not bound yet",
            "bind the variable by a literal before this one, or mend the called predicate",
        ),
        false => (
            "this tests a head variable that only a later literal binds",
            "move the test behind the literal that binds the variable; the answers stay the same",
        ),
    };
    Diagnostic::new(Code::NegationBeforeBinding, span, message)
        .label(rule.head_span, format!("callers of `{key}` must bind it"))
        .help(help)
        .of(key)
}

/// The variables of a clause in order of their first occurrence, with how often each occurs.
fn variables(clause: &Clause) -> Vec<(&str, Span, usize)> {
    fn walk<'t>(
        term: &'t Term,
        found: &mut Vec<(&'t str, Span, usize)>,
        index: &mut HashMap<&'t str, usize>,
    ) {
        match &term.kind {
            TermKind::Variable(name) => {
                let at = *index.entry(name).or_insert_with(|| {
                    found.push((name, term.span, 0));
                    found.len() - 1
                });
                if let Some(entry) = found.get_mut(at) {
                    entry.2 += 1;
                }
            }
            TermKind::Compound(_, args) => args.iter().for_each(|arg| walk(arg, found, index)),
            TermKind::Conjunction(parts) | TermKind::Disjunction(parts) => {
                parts.iter().for_each(|part| walk(part, found, index));
            }
            TermKind::List(items, tail) => {
                items.iter().for_each(|item| walk(item, found, index));
                if let Some(tail) = tail {
                    walk(tail, found, index);
                }
            }
            _ => {}
        }
    }
    let (mut found, mut index) = (Vec::new(), HashMap::new());
    match &clause.kind {
        ClauseKind::Fact(head) => walk(head, &mut found, &mut index),
        ClauseKind::Rule(head, body) => {
            walk(head, &mut found, &mut index);
            walk(body, &mut found, &mut index);
        }
        _ => {}
    }
    found
}

fn singletons(clause: &Clause, key: &PredicateKey, found: &mut Vec<Diagnostic>) {
    for (name, span, times) in variables(clause) {
        if times == 1 && !name.starts_with('_') {
            found.push(
                Diagnostic::new(
                    Code::SingletonVariable,
                    span,
                    format!("variable `{name}` occurs only once"),
                )
                .help(format!(
                    "write `_{name}` if any value will do, or mend its name"
                ))
                .of(key),
            );
        }
    }
}

fn swallowed(
    subject: &Subject<'_>,
    clause: &Clause,
    key: &PredicateKey,
    found: &mut Vec<Diagnostic>,
) {
    let ClauseKind::Rule(_, body) = &clause.kind else {
        return;
    };
    let TermKind::Conjunction(parts) = &body.kind else {
        return;
    };
    for part in parts.iter().skip(1) {
        if subject.program.sources().starts_line(part.span) && part.functor().is_some() {
            found.push(
                Diagnostic::new(
                    Code::SwallowedClause,
                    part.span,
                    "this literal of a rule's body starts a line, as a clause would",
                )
                .label(clause.span, "part of this clause")
                .help(
                    "end the line before with a dot if a new clause is meant; indent it otherwise",
                )
                .of(key),
            );
        }
    }
}

/// Goals that assert or retract predicates of the set.
fn mutations(
    subject: &Subject<'_>,
    clause: &Clause,
    key: &PredicateKey,
    found: &mut Vec<Diagnostic>,
) {
    fn walk<'t>(term: &'t Term, visit: &mut impl FnMut(&'t Term, &'t Term)) {
        if let TermKind::Compound(name, args) = &term.kind {
            let mutates = matches!(
                &**name,
                "assert" | "asserta" | "assertz" | "retract" | "retractall" | "abolish"
            );
            if let (true, [subject]) = (mutates, &**args) {
                visit(term, subject);
            }
        }
        let parts = match &term.kind {
            TermKind::Compound(_, parts)
            | TermKind::Conjunction(parts)
            | TermKind::Disjunction(parts) => parts,
            _ => return,
        };
        parts.iter().for_each(|part| walk(part, visit));
    }
    let ClauseKind::Rule(_, body) = &clause.kind else {
        return;
    };
    walk(body, &mut |goal, changed| {
        let head = match &changed.kind {
            TermKind::Compound(neck, args) if &**neck == ":-" => args.first().unwrap_or(changed),
            _ => changed,
        };
        let Some((name, arity)) = head.functor() else {
            return;
        };
        let target = PredicateKey::new(name, arity);
        if subject
            .predicates
            .find(&target)
            .and_then(|id| subject.predicates.get(id))
            .is_some_and(|known| known.is_defined())
        {
            found.push(
                Diagnostic::new(
                    Code::MutatedElsewhere,
                    goal.span,
                    format!("in Prolog this changes `{target}` while the program runs; here nothing does"),
                )
                .help("load the facts from a file that the program writes, and load it again after each change")
                .of(key),
            );
        }
    });
}

fn columns(constants: &Constants, facts: &Facts, key: &PredicateKey, found: &mut Vec<Diagnostic>) {
    for column in 0..key.arity() {
        let cells = || {
            facts
                .values
                .iter()
                .skip(column)
                .step_by(key.arity().max(1))
                .zip(&facts.spans)
                .map(|(value, span)| (constants.get(*value), *span))
        };
        let first = |wanted: fn(&Constant) -> bool| {
            cells()
                .find(|(constant, _)| wanted(constant))
                .map(|(_, span)| span)
        };
        let atom = first(|constant| matches!(constant, Constant::Atom(_)));
        let string = first(|constant| matches!(constant, Constant::String(_)));
        if let (Some(atom), Some(string)) = (atom, string) {
            found.push(
                Diagnostic::new(
                    Code::MixedColumn,
                    atom.max(string),
                    format!("argument {} of `{key}` has atoms and strings, which never match even with the same text", column + 1),
                )
                .label(atom.min(string), "the other kind is here")
                .help("write them all in one way; names are best written as atoms, quoted if need be")
                .of(key),
            );
        }
        let mut floats = cells().filter_map(|(constant, span)| match constant {
            Constant::Float(bits) => Some((f64::from_bits(*bits), span)),
            _ => None,
        });
        if floats.next().is_some() {
            let integers: HashMap<u64, Span> = cells()
                .filter_map(|(constant, span)| match constant {
                    Constant::Integer(value) => Some((value.to_f64().to_bits(), span)),
                    _ => None,
                })
                .collect();
            let clash = cells().find_map(|(constant, span)| match constant {
                Constant::Float(bits) => Some((span, *integers.get(bits)?)),
                _ => None,
            });
            if let Some((float, integer)) = clash {
                found.push(
                    Diagnostic::new(
                        Code::MixedNumbers,
                        float.max(integer),
                        format!("argument {} of `{key}` has an integer and the equal float, which never match", column + 1),
                    )
                    .label(float.min(integer), "the other one is here")
                    .help("write them all in one way")
                    .of(key),
                );
            }
        }
    }
}

fn duplicates(facts: &Facts, key: &PredicateKey, found: &mut Vec<Diagnostic>) {
    let mut seen: HashMap<&[Value], Span> = HashMap::with_capacity(facts.spans.len());
    for (row, span) in facts.rows(key.arity()).zip(&facts.spans) {
        let first = *seen.entry(row).or_insert(*span);
        if first != *span {
            found.push(
                Diagnostic::new(Code::DuplicateClause, *span, "this fact stands here twice")
                    .label(first, "first here")
                    .help("remove one of them")
                    .of(key),
            );
        }
    }
}

/// Declared without a clause, while clauses of that name have another number of arguments: nothing will ever be
/// found there, and a negation of it always holds.
fn other_arities(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for (_, known) in subject.predicates.iter() {
        let (Some(declared), true) = (known.declared.first().copied(), known.defined.is_empty())
        else {
            continue;
        };
        let name = known.key.name();
        let other = subject.predicates.arities(name).iter().find_map(|arity| {
            let key = PredicateKey::new(name, *arity);
            let other = subject.predicates.get(subject.predicates.find(&key)?)?;
            other.defined.first().map(|(_, place)| (key, *place))
        });
        if let Some((other, place)) = other {
            found.push(
                Diagnostic::new(
                    Code::OtherArity,
                    declared,
                    format!("`{}` has no clause, but `{other}` has", known.key),
                )
                .label(place, format!("`{other}` is here"))
                .help("give both the same number of arguments if one predicate is meant")
                .of(&known.key),
            );
        }
    }
}

fn near_names(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let known: Vec<(&PredicateKey, Span)> = subject
        .predicates
        .iter()
        .filter_map(|(_, known)| Some((&known.key, known.place()?)))
        .collect();
    let names: Vec<&str> = known.iter().map(|(key, _)| key.name()).collect();
    let pairs = near::pairs(&names);
    for (a, b) in pairs.into_iter().take(MAX_NEAR_NAMES) {
        let (Some((first, place)), Some((second, span))) = (known.get(a), known.get(b)) else {
            continue;
        };
        if first.arity() != second.arity() {
            continue;
        }
        found.push(
            Diagnostic::new(
                Code::NearName,
                *span,
                format!("`{second}` looks like `{first}`"),
            )
            .label(*place, format!("`{first}` is here"))
            .help("mend the name if the two are meant to be one predicate")
            .of(second),
        );
    }
}
