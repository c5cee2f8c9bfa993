//! Terms of tests: which variables they have, and terms put in their place.
//!
//! Nothing here knows what a term means.

use crate::source::Span;
use crate::syntax::{Term, TermKind};
use std::collections::{BTreeMap, BTreeSet};

/// Calls `visit` for each named variable.
pub(super) fn each_variable<'t>(term: &'t Term, visit: &mut dyn FnMut(&'t str)) {
    match &term.kind {
        TermKind::Variable(name) => visit(name),
        TermKind::Compound(_, parts)
        | TermKind::Conjunction(parts)
        | TermKind::Disjunction(parts) => parts.iter().for_each(|part| each_variable(part, visit)),
        TermKind::List(items, tail) => {
            items.iter().for_each(|item| each_variable(item, visit));
            if let Some(tail) = tail {
                each_variable(tail, visit);
            }
        }
        _ => {}
    }
}

pub(super) fn is_ground(term: &Term) -> bool {
    let mut ground = true;
    each_variable(term, &mut |_| ground = false);
    ground
}

/// The named variables, `_` left out.
pub(super) fn variables(term: &Term) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    each_variable(term, &mut |name| {
        if name != "_" {
            names.insert(name);
        }
    });
    names
}

/// The term with other terms in the place of some of its variables.
pub(super) fn substitute(term: &Term, values: &BTreeMap<String, Term>) -> Term {
    let each = |parts: &[Term]| parts.iter().map(|part| substitute(part, values)).collect();
    let kind = match &term.kind {
        TermKind::Variable(name) => match values.get(&**name) {
            Some(value) => return moved(value, term.span),
            None => return term.clone(),
        },
        TermKind::Compound(name, parts) => TermKind::Compound(name.clone(), each(parts)),
        TermKind::Conjunction(parts) => {
            let mut parts: Vec<Term> = each(parts);
            // A chain in the last place is the rest of this one.
            match parts.pop() {
                Some(Term {
                    kind: TermKind::Conjunction(rest),
                    ..
                }) => parts.extend(rest),
                last => parts.extend(last),
            }
            TermKind::Conjunction(parts)
        }
        TermKind::Disjunction(parts) => {
            let mut parts: Vec<Term> = each(parts);
            match parts.pop() {
                Some(Term {
                    kind: TermKind::Disjunction(rest),
                    ..
                }) => parts.extend(rest),
                last => parts.extend(last),
            }
            TermKind::Disjunction(parts)
        }
        TermKind::List(items, tail) => {
            let tail = tail.as_ref().map(|tail| Box::new(substitute(tail, values)));
            list(each(items), tail)
        }
        _ => return term.clone(),
    };
    Term {
        kind,
        span: term.span,
    }
}

/// A list, in the one form that it has.
fn list(mut items: Vec<Term>, tail: Option<Box<Term>>) -> TermKind {
    match tail.map(|tail| tail.kind) {
        None | Some(TermKind::Nil) => TermKind::List(items, None),
        Some(TermKind::List(more, rest)) => {
            items.extend(more);
            TermKind::List(items, rest)
        }
        Some(kind) => {
            let span = items.last().map_or_else(Span::default, |item| item.span);
            TermKind::List(items, Some(Box::new(Term { kind, span })))
        }
    }
}

/// The term as if it stood at another place.
fn moved(term: &Term, span: Span) -> Term {
    let each = |parts: &[Term]| parts.iter().map(|part| moved(part, span)).collect();
    let kind = match &term.kind {
        TermKind::Compound(name, parts) => TermKind::Compound(name.clone(), each(parts)),
        TermKind::Conjunction(parts) => TermKind::Conjunction(each(parts)),
        TermKind::Disjunction(parts) => TermKind::Disjunction(each(parts)),
        TermKind::List(items, tail) => TermKind::List(
            each(items),
            tail.as_ref().map(|tail| Box::new(moved(tail, span))),
        ),
        other => other.clone(),
    };
    Term { kind, span }
}

/// What the variables of `pattern` are when it is `value`, a term without variables; `None` if it is not.
pub(super) fn matching(pattern: &Term, value: &Term) -> Option<BTreeMap<String, Term>> {
    let mut found = BTreeMap::new();
    matches(pattern, value, &mut found).then_some(found)
}

fn matches(pattern: &Term, value: &Term, found: &mut BTreeMap<String, Term>) -> bool {
    let mut all = |patterns: &[Term], values: &[Term]| {
        patterns.len() == values.len()
            && patterns
                .iter()
                .zip(values)
                .all(|(pattern, value)| matches(pattern, value, found))
    };
    match (&pattern.kind, &value.kind) {
        (TermKind::Variable(name), _) => {
            if &**name == "_" {
                return true;
            }
            let known = found
                .entry(name.to_string())
                .or_insert_with(|| value.clone());
            known == value
        }
        (TermKind::Compound(name, parts), TermKind::Compound(other, values)) => {
            name == other && all(parts, values)
        }
        (TermKind::Conjunction(parts), TermKind::Conjunction(values))
        | (TermKind::Disjunction(parts), TermKind::Disjunction(values))
        | (TermKind::List(parts, None), TermKind::List(values, None)) => all(parts, values),
        _ => pattern == value,
    }
}

pub(super) fn conjunction(parts: impl IntoIterator<Item = Term>, span: Span) -> Term {
    let mut flat = Vec::new();
    for part in parts {
        match part.kind {
            TermKind::Conjunction(inner) => flat.extend(inner),
            kind => flat.push(Term {
                kind,
                span: part.span,
            }),
        }
    }
    match (flat.pop(), flat.is_empty()) {
        (None, _) => atom("true", span),
        (Some(only), true) => only,
        (Some(last), false) => {
            flat.push(last);
            Term {
                kind: TermKind::Conjunction(flat),
                span,
            }
        }
    }
}

pub(super) fn compound(name: &str, args: Vec<Term>, span: Span) -> Term {
    Term {
        kind: TermKind::Compound(name.into(), args),
        span,
    }
}

pub(super) fn variable(name: &str, span: Span) -> Term {
    Term {
        kind: TermKind::Variable(name.into()),
        span,
    }
}

fn atom(name: &str, span: Span) -> Term {
    Term {
        kind: TermKind::Atom(name.into()),
        span,
    }
}

/// The names of variables that are taken.
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub(super) fn of<'t>(terms: impl IntoIterator<Item = &'t Term>) -> Self {
        let mut names = BTreeSet::new();
        for term in terms {
            names.extend(variables(term).into_iter().map(str::to_owned));
        }
        Self(names)
    }

    /// A name like `wanted` that no variable has yet.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while !self.0.insert(name.clone()) {
            name.push('x');
        }
        name
    }

    /// Renames variables of the options that start with `_` and occur elsewhere, too, so that answers show them.
    pub(super) fn show_hidden(&mut self, options: &mut [Term], body: &mut Term) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for term in options.iter().chain(std::iter::once(&*body)) {
            each_variable(term, &mut |name| *counts.entry(name).or_default() += 1);
        }
        let mut values = BTreeMap::new();
        for option in &*options {
            for name in variables(option) {
                let several = counts.get(name).is_some_and(|count| *count > 1);
                if several && name.starts_with('_') && !values.contains_key(name) {
                    let bare = name.trim_start_matches('_');
                    let shown = match bare.chars().next() {
                        Some(first) if first.is_ascii_uppercase() => bare.to_owned(),
                        _ => format!("V{bare}"),
                    };
                    let shown = self.fresh(&shown);
                    values.insert(name.to_owned(), variable(&shown, option.span));
                }
            }
        }
        if values.is_empty() {
            return;
        }
        for option in options {
            *option = substitute(option, &values);
        }
        *body = substitute(body, &values);
    }
}
