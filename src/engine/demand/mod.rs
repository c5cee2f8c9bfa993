//! Demand: a goal on a rulebase without a model is answered from those tuples that it asks for (magic sets over
//! adorned predicates). The answers, and the refusals, are those of the full model.
//!
//! Nothing here decides: an allowlist is bound to a model. And nothing here fails: where demand does not apply, does
//! not help or comes to an error, the slice is evaluated in full, and that is the answer.

mod closure;
mod full;
mod rewrite;
mod sideways;
#[cfg(test)]
mod tests;

use super::evaluate::{Evaluator, Member};
use super::query::{Answers, Asked, QueryError};
use super::relation::Relation;
use crate::analysis::graph::{Edge, Graph};
use crate::analysis::rule::{PredicateId, Rule};
use crate::analysis::{Data, Rulebase};
use crate::budget::Budget;
use crate::program::Facts;
use crate::value::Constants;
use rewrite::{Given, Rewritten};
use std::collections::HashSet;
use std::sync::Arc;

/// With so many rules a demand is looked for also where the goal itself starts none.
const SMALL: usize = 1_000;

/// How many times a goal is rewritten with fewer predicates asked for a part only.
const ATTEMPTS: usize = 16;

impl Rulebase {
    /// All solutions of a goal, from no more of the model than it needs: as [`Rulebase::evaluate_slice`] of what the
    /// goal calls and [`crate::Model::query`] would answer, error for error.
    ///
    /// A goal that fixes some arguments, as `may_execute_tool('U:Qa', T)` does, is answered from the tuples that have
    /// to do with them. To ask more than a few goals, derive the model once and ask that.
    ///
    /// What part of the model is needed may take up to half of the budget; if that is not enough, the slice is
    /// evaluated within the whole of it.
    ///
    /// # Errors
    /// [`QueryError`] when the goal does not parse, is not safe, calls what is not defined or has no model, or
    /// costs more than the budget.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source};
    /// let rules = "
    ///     edge(a, b). edge(b, c). edge(x, y). edge(y, z).
    ///     path(X, Y) :- edge(X, Y).
    ///     path(X, Z) :- edge(X, Y), path(Y, Z).
    /// ";
    /// let rulebase = Rulebase::load([Source::new("paths.pl", rules)]).unwrap();
    /// let answers = rulebase.query("path(a, Where)", &Budget::default()).unwrap();
    /// assert_eq!(answers.solutions(), [["b"], ["c"]]);
    /// assert!(rulebase.query("paht(a, Where)", &Budget::default()).is_err());
    /// ```
    pub fn query(&self, goal: &str, budget: &Budget) -> Result<Answers, QueryError> {
        let asked = Asked::over(self, &self.data.constants, goal)?;
        let slice = self.data.graph.slice(asked.callees().into_iter());
        if let Some((constants, relation)) = demanded(&self.data, &asked, &slice, budget) {
            return Ok(asked.answers(constants, relation));
        }
        let wanted = |id: PredicateId| slice.get(id.index()).copied().unwrap_or(false);
        match self.evaluate_where(budget, wanted) {
            Ok(model) => model.query(goal),
            Err(exceeded) => Err(asked.refused(vec![exceeded.diagnostic()])),
        }
    }
}

/// The rows of the goal by demand; `None` when the slice is to be evaluated in full.
fn demanded(
    data: &Data,
    asked: &Asked,
    slice: &[bool],
    budget: &Budget,
) -> Option<(Constants, Arc<Relation>)> {
    if !asked.is_clean(data) || !is_worth_a_try(data, asked, slice) {
        return None;
    }
    let (fallible, may_fail) = full::fallible(data, slice, &asked.rules, &asked.constants);
    if may_fail {
        return None;
    }
    let program = Demand::plan(data, &asked.rules, &fallible)?;
    let half = Budget {
        tuples: budget.tuples / 2,
        firings: budget.firings / 2,
        ..budget.clone()
    };
    program.run(data, &asked.constants, &half)
}

/// Whether the goal says anything of a value, or there are few rules that might.
fn is_worth_a_try(data: &Data, asked: &Asked, slice: &[bool]) -> bool {
    let mut rules = slice
        .iter()
        .zip(&data.rules_of)
        .filter(|(wanted, _)| **wanted)
        .flat_map(|(_, rules)| rules);
    rules.nth(SMALL).is_none()
        || asked
            .rules
            .iter()
            .flat_map(|rule| &rule.body)
            .any(|literal| sideways::can_start(data, literal))
}

/// A program of all that a goal needs.
struct Demand<'d> {
    rewritten: Rewritten,
    full: Vec<bool>,
    graph: Graph,
    goal: &'d [Rule],
}

impl<'d> Demand<'d> {
    /// The goal rewritten, if that makes it ask for less than all, and no negation depends on itself.
    ///
    /// A negated predicate is asked like any other, since its copy is complete for what it is asked; but then its
    /// demand must not depend on what negates it. Where it would, the demands under negations are kept apart, and
    /// where that does not help, in recursion through a negation's demand, the predicate is evaluated in full.
    fn plan(data: &'d Data, goal: &'d [Rule], fallible: &[bool]) -> Option<Self> {
        let ids = (0..).map(PredicateId).zip(fallible);
        let mut full = vec![false; fallible.len()];
        full::mark(
            data,
            &mut full,
            ids.filter(|(_, may)| **may).map(|(id, _)| id),
        );
        let mut open: HashSet<PredicateId> = HashSet::new();
        let mut apart = false;
        for _ in 0..ATTEMPTS {
            let given = Given {
                data,
                full: &full,
                open: &open,
                apart,
            };
            let rewritten = rewrite::rewrite(given, goal)?;
            if !rewritten.asks_less {
                return None;
            }
            let graph = graph(data, &rewritten, &full);
            let cycles = graph.negation_cycles();
            if rewritten.asked_twice.is_empty() && cycles.is_empty() {
                return Some(Self {
                    rewritten,
                    full,
                    graph,
                    goal,
                });
            }
            if apart {
                let first = full.len() + 1;
                let negated = cycles.iter().filter_map(|(_, callee)| {
                    let at = callee.index().checked_sub(first)?;
                    rewritten.added.get(at).map(|added| added.of)
                });
                full::mark(data, &mut full, negated);
            }
            apart |= !cycles.is_empty();
            open.extend(rewritten.asked_twice);
        }
        None
    }

    /// Evaluates the goal and what it needs; `None` when that fails.
    fn run(
        &self,
        data: &Data,
        constants: &Constants,
        budget: &Budget,
    ) -> Option<(Constants, Arc<Relation>)> {
        let goal = self.goal.first()?;
        let first = self.full.len() + 1;
        let added = |id: PredicateId| {
            let at = id.index().checked_sub(first)?;
            self.rewritten.added.get(at)
        };
        let known = data.predicates.iter().map(|(_, known)| known.key.arity());
        let added_arities = self.rewritten.added.iter().map(|added| added.arity);
        let arities: Vec<usize> = known
            .chain([goal.args.len()])
            .chain(added_arities)
            .collect();
        let relations = arities
            .iter()
            .map(|arity| Arc::new(Relation::new(*arity)))
            .collect();
        let mut rules_of: Vec<Vec<&Rule>> = vec![Vec::new(); arities.len()];
        for rule in rules(data, &self.rewritten, &self.full) {
            if let Some(list) = rules_of.get_mut(rule.head.index()) {
                list.push(rule);
            }
        }
        let name_of = |id: PredicateId| {
            let id = added(id).map_or(id, |added| added.of);
            data.predicates.key(id).to_string()
        };
        let mut evaluator = Evaluator::new(constants.clone(), relations, budget, &name_of);
        let needed = self.graph.slice([goal.head].into_iter());
        let none = Facts::default();
        for component in self.graph.components() {
            if !component
                .iter()
                .any(|id| needed.get(id.index()).copied().unwrap_or(false))
            {
                continue;
            }
            let members: Vec<Member<'_>> = component
                .iter()
                .map(|id| {
                    let of = match added(*id) {
                        None => Some(*id),
                        Some(added) => added.facts.then_some(added.of),
                    };
                    Member {
                        id: *id,
                        arity: arities.get(id.index()).copied().unwrap_or(0),
                        facts: of
                            .and_then(|of| data.facts.get(of.index()))
                            .unwrap_or(&none),
                    }
                })
                .collect();
            let rules: Vec<&Rule> = component
                .iter()
                .filter_map(|id| rules_of.get(id.index()))
                .flatten()
                .copied()
                .collect();
            evaluator.component(&members, &rules).ok()?;
        }
        let (constants, relations) = evaluator.finish();
        let answers = relations.get(goal.head.index())?;
        Some((constants, Arc::clone(answers)))
    }
}

/// The rules of a rewritten goal: its own, and those of the predicates that are evaluated as they stand.
fn rules<'p>(
    data: &'p Data,
    rewritten: &'p Rewritten,
    full: &'p [bool],
) -> impl Iterator<Item = &'p Rule> {
    let settled = full
        .iter()
        .zip(&data.rules_of)
        .filter(|(full, _)| **full)
        .flat_map(|(_, rules)| rules)
        .filter_map(|at| data.rules.get(*at));
    settled.chain(&rewritten.rules)
}

/// Who calls whom in a rewritten goal.
fn graph(data: &Data, rewritten: &Rewritten, full: &[bool]) -> Graph {
    let mut edges = Vec::new();
    for rule in rules(data, rewritten, full) {
        for literal in &rule.body {
            literal.each_call(&mut |callee, negative, _| {
                edges.push(Edge {
                    caller: rule.head,
                    callee,
                    negative,
                });
            });
        }
    }
    Graph::new(full.len() + 1 + rewritten.added.len(), edges)
}
