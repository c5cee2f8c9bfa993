//! Accidents of single clauses and declarations.
//!
//! Nothing here looks at facts.

use super::Subject;
use crate::analysis::is_call;
use crate::analysis::rule::Rule;
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::source::Span;
use crate::syntax::{Clause, ClauseKind, Term, TermKind};
use std::collections::HashMap;

pub(super) fn all(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for (id, clause) in subject.clauses {
        let key = subject.predicates.key(*id);
        if !subject.faulty.contains(&clause.span) {
            singletons(clause, &key, found);
        }
        swallowed(subject, clause, &key, found);
        mutations(subject, clause, found);
    }
    other_arities(subject, found);
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

/// Goals that assert or retract predicates of the set. Each is a matter of the predicate that is changed.
fn mutations(subject: &Subject<'_>, clause: &Clause, found: &mut Vec<Diagnostic>) {
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
                .of(&target),
            );
        }
    });
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
