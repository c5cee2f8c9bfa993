//! Which clause stands where, for the verifier.
//!
//! Nothing here is shared with what writes proofs.

use super::document::Clause;
use crate::analysis::rule::{PredicateId, Rule};
use crate::analysis::{Data, Rulebase};
use crate::source::{LineColumn, SourceId, Span};
use crate::value::Value;
use std::collections::HashMap;

/// What a clause is to the rulebase.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stated<'c> {
    Fact(PredicateId, &'c [Value]),
    /// One of its alternatives.
    Rule(&'c Rule),
}

/// The clauses of a rulebase by their places.
pub(super) struct Places<'c> {
    data: &'c Data,
    by_place: HashMap<(SourceId, LineColumn), Vec<(Span, Stated<'c>)>>,
}

impl<'c> Places<'c> {
    pub(super) fn new(rulebase: &'c Rulebase) -> Self {
        let data = &rulebase.data;
        let rules = data.rules.iter();
        let mut clauses: Vec<(Span, Stated<'c>)> =
            rules.map(|rule| (rule.span, Stated::Rule(rule))).collect();
        for ((id, known), facts) in data.predicates.iter().zip(&data.facts) {
            let rows = facts.rows(known.key.arity());
            let spans = facts.spans.iter().copied();
            clauses.extend(spans.zip(rows.map(|row| Stated::Fact(id, row))));
        }
        let spans: Vec<Span> = clauses.iter().map(|(span, _)| *span).collect();
        let mut by_place: HashMap<_, Vec<_>> = HashMap::new();
        for (clause, place) in clauses.into_iter().zip(data.sources.starts(&spans)) {
            let (span, _) = clause;
            by_place
                .entry((span.source, place))
                .or_default()
                .push(clause);
        }
        Self { data, by_place }
    }

    /// What the clause states, if it stands where it says.
    pub(super) fn at(&self, clause: &Clause) -> Vec<Stated<'c>> {
        let (Ok(line), Ok(column)) = (clause.line.try_into(), clause.column.try_into()) else {
            return Vec::new();
        };
        let place = LineColumn { line, column };
        let sources = &self.data.sources;
        let files = sources.iter();
        files
            .filter(|(_, source)| is_same_file(source.name(), &clause.file))
            .filter_map(|(id, _)| self.by_place.get(&(id, place)))
            .flatten()
            .filter(|(span, _)| sources.text(*span) == clause.text)
            .map(|(_, stated)| *stated)
            .collect()
    }
}

/// Whether two names are of the same file, as far as that can be said: its folder may be named in another way.
fn is_same_file(name: &str, other: &str) -> bool {
    let last = |name: &str| name.rsplit(['/', '\\']).next().map(str::to_owned);
    name == other || last(name) == last(other)
}
