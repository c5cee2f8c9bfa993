//! Which tuples are facts, and where they stand.
//!
//! Nothing here knows what is derived.

use crate::analysis::rule::PredicateId;
use crate::engine::Model;
use crate::source::Span;
use crate::value::Value;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::collections::HashMap;
use std::hash::BuildHasher;

/// A fact: where its clause stands, unless it has none or the text was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) clause: Option<Span>,
}

/// The facts of a model, found by their values. A predicate is indexed when it is first asked about.
#[derive(Default)]
pub(super) struct GivenFacts {
    tables: HashMap<PredicateId, HashTable<usize>>,
    hasher: RandomState,
}

impl GivenFacts {
    /// The fact that states the tuple, if there is one: by its first clause, or added since without any.
    pub(super) fn find(
        &mut self,
        model: &Model,
        predicate: PredicateId,
        row: &[Value],
    ) -> Option<Given> {
        if !model.data.facts(predicate).contains(row) {
            return None;
        }
        let facts = model.rulebase().data.facts.get(predicate.index())?;
        let arity = row.len();
        let row_at = |at: usize| {
            let cells = facts.values.get(at * arity..(at + 1) * arity);
            cells.unwrap_or(&[])
        };
        let hasher = &self.hasher;
        let table = self.tables.entry(predicate).or_insert_with(|| {
            let mut table = HashTable::with_capacity(facts.spans.len());
            for at in 0..facts.spans.len() {
                table
                    .entry(
                        hasher.hash_one(row_at(at)),
                        |other| row_at(*other) == row_at(at),
                        |other| hasher.hash_one(row_at(*other)),
                    )
                    .or_insert(at);
            }
            table
        });
        let at = table.find(hasher.hash_one(row), |at| row_at(*at) == row);
        Some(Given {
            clause: at.and_then(|at| facts.spans.get(*at).copied()),
        })
    }
}
