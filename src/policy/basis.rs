//! What a predicate rests on: the facts that feed it, the absences it needs, the rules that can widen it.
//!
//! Nothing here is evaluated; it is read off the rules.

use crate::analysis::Rulebase;
use crate::analysis::rule::PredicateId;
use crate::key::PredicateKey;
use crate::source::Span;
use std::collections::BTreeSet;

/// What the tuples of one predicate rest on.
///
/// ```
/// use horngate::{Rulebase, Source};
/// let rules = ":- dynamic blocked/1.
/// role(ann, dev). role(bob, ops).
/// may(U) :- role(U, _), \\+ blocked(U).";
/// let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
/// let basis = rulebase.basis(&"may/1".parse().unwrap()).unwrap();
/// assert_eq!(basis.facts, [("role/2".parse().unwrap(), 2)]);
/// assert_eq!(basis.absences, ["blocked/1".parse().unwrap()]);
/// assert_eq!(basis.unstated, ["blocked/1".parse().unwrap()]);
/// assert_eq!(rulebase.sources().text(basis.widened_by[0]), "may(U)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// The predicates whose facts can make it hold, with how many there are, sorted; without any only those that are
    /// declared, of which some may come.
    pub facts: Vec<(PredicateKey, usize)>,
    /// The predicates whose absence it needs somewhere, sorted.
    pub absences: Vec<PredicateKey>,
    /// Those of them that have no clause: as the texts are, their absence is certain.
    pub unstated: Vec<PredicateKey>,
    /// The heads of the rules through which it can come to hold for more, in the order of the texts.
    pub widened_by: Vec<Span>,
}

impl Rulebase {
    /// What the predicate rests on; `None` if it is not defined.
    #[must_use]
    pub fn basis(&self, key: &PredicateKey) -> Option<Basis> {
        let data = &self.data;
        let root = data.find(key)?;
        // More tuples of a predicate reached with `true` can only widen the root, with `false` only narrow it.
        let mut seen: BTreeSet<(PredicateId, bool)> = BTreeSet::from([(root, true)]);
        let mut pending = vec![(root, true)];
        let mut absences = BTreeSet::new();
        let mut widened_by = BTreeSet::new();
        while let Some((id, widens)) = pending.pop() {
            for at in data.rules_of.get(id.index()).into_iter().flatten() {
                let Some(rule) = data.rules.get(*at) else {
                    continue;
                };
                if widens {
                    widened_by.insert(rule.head_span);
                }
                for literal in &rule.body {
                    literal.each_signed_call(&mut |callee, negative| {
                        if negative && widens {
                            absences.insert(callee);
                        }
                        let next = (callee, widens != negative);
                        if seen.insert(next) {
                            pending.push(next);
                        }
                    });
                }
            }
        }
        let mut facts: Vec<(PredicateKey, usize)> = seen
            .into_iter()
            .filter(|(_, widens)| *widens)
            .filter_map(|(id, _)| {
                let known = data.predicates.get(id)?;
                let count = data.facts.get(id.index())?.count;
                let may_come = !known.declared.is_empty();
                (count > 0 || may_come).then(|| (known.key.clone(), count))
            })
            .collect();
        facts.sort();
        let keys = |wanted: &dyn Fn(PredicateId) -> bool| {
            let ids = absences.iter().filter(|id| wanted(**id));
            let mut keys: Vec<PredicateKey> = ids.map(|id| data.predicates.key(*id)).collect();
            keys.sort();
            keys
        };
        let is_unstated = |id| {
            let known = data.predicates.get(id);
            known.is_some_and(|known| known.defined.is_empty())
        };
        Some(Basis {
            facts,
            absences: keys(&|_| true),
            unstated: keys(&is_unstated),
            widened_by: widened_by.into_iter().collect(),
        })
    }
}
