//! Accidents of columns: kinds of constant that never match.
//!
//! Nothing here looks at rules.

use super::Subject;
use crate::analysis::Facts;
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::source::Span;
use crate::value::{Constant, Constants};
use std::collections::HashMap;

pub(super) fn all(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for ((_, known), facts) in subject.predicates.iter().zip(subject.facts) {
        columns(subject.constants, facts, &known.key, found);
    }
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
