//! The tuples of a model as explanations see them: by the columns that are known, with the order of derivation.
//!
//! Nothing here derives anything.

use super::Model;
use super::relation::Birth;
use crate::analysis::rule::PredicateId;
use crate::value::Value;
use std::ops::ControlFlow;

/// So many rows are looked at one by one.
const FEW: usize = 64;

impl Model {
    /// Calls `visit` for the tuples of a predicate that have the known values, until it breaks. Of one component, the
    /// births of a tuple's premises are less than its own, for one derivation at least.
    pub(crate) fn matching(
        &self,
        predicate: PredicateId,
        known: &[Option<Value>],
        visit: &mut dyn FnMut(Birth, &[Value]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(relation) = self.data.relations.get(predicate.index()) else {
            return ControlFlow::Continue(());
        };
        let (columns, key): (Vec<usize>, Vec<Value>) = known
            .iter()
            .enumerate()
            .filter_map(|(column, value)| value.map(|value| (column, value)))
            .unzip();
        let mut visit = |at: u32| visit(relation.birth(at), relation.row(at));
        if columns.is_empty() {
            return relation.positions().try_for_each(visit);
        }
        if columns.len() == known.len() {
            if !relation.contains(&key) {
                return ControlFlow::Continue(());
            }
            // The index of the first column serves other calls, too; it will do where a value has few rows.
            let few = key.get(..1).unwrap_or_default();
            for at in relation.find(&[0], few).take(FEW) {
                if relation.row(at) == key {
                    return visit(at);
                }
            }
        }
        relation.find(&columns, &key).try_for_each(visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Rulebase, Source};

    /// Every tuple of a closure but the first ones has an older premise, however the recursion is written.
    #[test]
    fn premises_are_older() {
        for rules in [
            "t(X, Z) :- e(X, Z). t(X, Z) :- t(X, Y), e(Y, Z).",
            "t(X, Z) :- e(X, Z). t(X, Z) :- e(X, Y), t(Y, Z).",
            "t(X, Z) :- e(X, Z). t(X, Z) :- t(X, Y), t(Y, Z).",
            "t(X, Z) :- e(X, Z). t(X, Z) :- s(X, Z). s(X, Z) :- t(X, Y), t(Y, Z).",
        ] {
            let facts = "e(1, 2). e(2, 3). e(3, 1). e(3, 4). e(4, 4). e(5, 1). e(9, 5).";
            let text = format!("{rules}\n{facts}");
            let rulebase = Rulebase::load([Source::new("a.pl", text)]).unwrap();
            let model = rulebase.evaluate(&Budget::default()).unwrap();
            let id = |name: &str| rulebase.data.find(&name.parse().unwrap());
            let (t, e) = (id("t/2").unwrap(), id("e/2").unwrap());
            let s = id("s/2");
            let all = |p: PredicateId, known: &[Option<Value>]| {
                let mut rows = Vec::new();
                let flow = model.matching(p, known, &mut |birth, row| {
                    rows.push((birth, row.to_vec()));
                    ControlFlow::Continue(())
                });
                assert!(flow.is_continue());
                rows
            };
            let tuples = all(t, &[None, None]);
            assert!(tuples.len() > 15);
            for (birth, row) in &tuples {
                let (x, z) = (row[0], row[1]);
                assert_eq!(all(t, &[Some(x), Some(z)]), [(*birth, row.clone())]);
                let is_edge = !all(e, &[Some(x), Some(z)]).is_empty();
                let step = all(t, &[Some(x), None]).iter().any(|(first, path)| {
                    let last = all(t, &[Some(path[1]), Some(z)]);
                    let edge = !all(e, &[Some(path[1]), Some(z)]).is_empty();
                    first < birth && (edge || last.iter().any(|(last, _)| last < birth))
                });
                let left = all(e, &[Some(x), None]).iter().any(|(_, edge)| {
                    let last = all(t, &[Some(edge[1]), Some(z)]);
                    last.iter().any(|(last, _)| last < birth)
                });
                let through = s.is_some_and(|s| {
                    let found = all(s, &[Some(x), Some(z)]);
                    found.iter().any(|(first, _)| first < birth)
                });
                assert!(is_edge || step || left || through, "{rules}: {row:?}");
            }
        }
    }
}
