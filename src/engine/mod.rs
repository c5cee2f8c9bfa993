//! From a rulebase to its model: all that can be derived, and nothing else.
//!
//! Nothing here reads a clock; what an evaluation costs is bounded by counts.

mod arithmetic;
mod batch;
mod csr;
mod demand;
mod evaluate;
mod index;
mod maintain;
mod passenger;
mod plan;
mod query;
pub(crate) mod relation;
mod set;
mod tuples;
mod update;
mod vector;
pub(crate) mod view;

pub(crate) use arithmetic::{Number, compare as compare_numbers, evaluate as evaluate_expression};
pub use query::{Answers, QueryError};
pub use update::UpdateError;

use crate::analysis::rule::PredicateId;
use crate::analysis::{Data, Rulebase};
use crate::budget::{self, Budget, BudgetExceeded};
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::program::Facts;
use crate::source::Span;
use crate::value::Constants;
use evaluate::{Evaluator, Failure, Member};
use relation::Relation;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The perfect model of a rulebase, or of a slice of it.
///
/// It never changes and is cheap to clone and to share between threads.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) data: Arc<ModelData>,
}

#[derive(Debug)]
pub(crate) struct ModelData {
    pub(crate) rulebase: Rulebase,
    pub(crate) constants: Arc<Constants>,
    /// By predicate.
    pub(crate) relations: Vec<Arc<Relation>>,
    pub(crate) states: Vec<State>,
    /// By predicate, the facts: those of the rulebase if nothing is known of them, see [`ModelData::facts`].
    facts: Vec<OnceLock<Arc<Relation>>>,
    /// The predicates whose facts were updated, with their facts before the first update.
    edited: BTreeMap<PredicateId, Arc<Relation>>,
    /// How many steps the evaluation took.
    step: u32,
    budget: Budget,
}

/// Whether a predicate's relation is its part of the model.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Done,
    /// Outside the slice that was evaluated.
    Skipped,
    /// Its slice has a fault.
    Faulty,
    /// Arithmetic without a value in its slice.
    Failed(Arc<Diagnostic>),
}

impl Rulebase {
    /// Derives the model of all predicates whose slice has no fault.
    ///
    /// Arithmetic without a value (a type error, division by zero) is no error of the whole: the predicates
    /// whose slice contains it have no model, and cannot be queried or bound.
    ///
    /// # Errors
    /// [`BudgetExceeded`] when the budget runs out; there is no model then.
    pub fn evaluate(&self, budget: &Budget) -> Result<Model, BudgetExceeded> {
        self.evaluate_where(budget, |_| true)
    }

    /// Derives the model of the slices of `roots` only; other predicates cannot be queried or bound.
    ///
    /// # Errors
    /// [`BudgetExceeded`] when the budget runs out; there is no model then.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source};
    /// let rulebase = Rulebase::load([Source::new("a.pl", "p(a). q(X) :- p(X).")]).unwrap();
    /// let model = rulebase.evaluate_slice(&["p/1".parse().unwrap()], &Budget::default()).unwrap();
    /// assert!(model.query("p(a)").unwrap().holds());
    /// assert!(model.query("q(a)").is_err());
    /// ```
    pub fn evaluate_slice(
        &self,
        roots: &[PredicateKey],
        budget: &Budget,
    ) -> Result<Model, BudgetExceeded> {
        let roots = roots.iter().filter_map(|key| self.data.find(key));
        let slice = self.data.graph.slice(roots);
        self.evaluate_where(budget, |id| slice.get(id.index()).copied().unwrap_or(false))
    }

    fn evaluate_where(
        &self,
        budget: &Budget,
        wanted: impl Fn(PredicateId) -> bool,
    ) -> Result<Model, BudgetExceeded> {
        let data: &Data = &self.data;
        let relations: Vec<Arc<Relation>> = data
            .predicates
            .iter()
            .map(|(_, known)| Arc::new(Relation::new(known.key.arity())))
            .collect();
        let mut states: Vec<State> = vec![State::Skipped; relations.len()];
        let name_of = |id| data.predicates.key(id).to_string();
        let empty = Facts::default();
        let constants = Constants::over(Arc::clone(&data.constants));
        let mut evaluator = Evaluator::new(constants, relations, budget, &name_of);
        for component in data.graph.components() {
            let state = if !component.iter().any(|id| wanted(*id)) {
                State::Skipped
            } else if component.iter().any(|id| data.is_tainted(*id)) {
                State::Faulty
            } else {
                let facts: Vec<&Facts> = component
                    .iter()
                    .map(|id| data.facts.get(id.index()).unwrap_or(&empty))
                    .collect();
                self.evaluate_component(&mut evaluator, component, &facts, &states)?
            };
            for id in component {
                if let Some(slot) = states.get_mut(id.index()) {
                    *slot = state.clone();
                }
            }
        }
        let step = evaluator.step;
        let (constants, relations) = evaluator.finish();
        Ok(Model {
            data: Arc::new(ModelData {
                rulebase: self.clone(),
                constants: constants.settled(),
                facts: vec![OnceLock::new(); relations.len()],
                edited: BTreeMap::new(),
                step,
                relations,
                states,
                budget: budget.clone(),
            }),
        })
    }

    /// Evaluates a component with the facts given, predicate by predicate.
    fn evaluate_component(
        &self,
        evaluator: &mut Evaluator<'_>,
        component: &[PredicateId],
        facts: &[impl std::borrow::Borrow<Facts>],
        states: &[State],
    ) -> Result<State, BudgetExceeded> {
        let data: &Data = &self.data;
        let rules = data.rules_of_component(component);
        // An error in a callee is an error of the caller: it is never a failed negation.
        let mut failed = None;
        for literal in rules.iter().flat_map(|rule| &rule.body) {
            literal.each_call(&mut |callee, _, _| {
                if let Some(State::Failed(diagnostic)) = states.get(callee.index()) {
                    failed.get_or_insert_with(|| Arc::clone(diagnostic));
                }
            });
        }
        if let Some(diagnostic) = failed {
            return Ok(State::Failed(diagnostic));
        }
        let members: Vec<Member<'_>> = component
            .iter()
            .zip(facts)
            .map(|(id, facts)| Member {
                id: *id,
                arity: data.predicates.key(*id).arity(),
                facts: facts.borrow(),
            })
            .collect();
        match evaluator.component(&members, &rules) {
            Ok(()) => Ok(State::Done),
            Err(Failure::Budget(mut exceeded)) => {
                if exceeded.span == Span::default() {
                    // Facts stand in no clause that is at work.
                    let first = component.iter().find_map(|id| {
                        let known = data.predicates.get(*id)?;
                        (known.key.to_string() == exceeded.predicate).then(|| known.place())?
                    });
                    exceeded.span = first.unwrap_or_default();
                }
                Err(exceeded)
            }
            Err(Failure::Evaluation(span, message)) => {
                evaluator.discard(component);
                let key = component.first().map(|id| data.predicates.key(*id));
                let diagnostic = Diagnostic::new(Code::Evaluation, span, message).help(
                    "put a literal before it that leaves out the values it cannot compute with",
                );
                Ok(State::Failed(Arc::new(match key {
                    Some(key) => diagnostic.of(key),
                    None => diagnostic,
                })))
            }
        }
    }
}

impl Model {
    /// The rulebase that this is the model of.
    #[must_use]
    pub fn rulebase(&self) -> &Rulebase {
        &self.data.rulebase
    }

    /// The tuples of a predicate that is defined and has a model.
    pub(crate) fn relation(&self, key: &PredicateKey) -> Option<&Relation> {
        let id = self.data.rulebase.data.find(key)?;
        match self.data.states.get(id.index())? {
            State::Done => self
                .data
                .relations
                .get(id.index())
                .map(|relation| &**relation),
            _ => None,
        }
    }

    /// How many tuples the predicate has; `None` when it is not defined or has no model.
    #[must_use]
    pub fn count(&self, key: &PredicateKey) -> Option<u64> {
        self.relation(key).map(|relation| u64::from(relation.len()))
    }

    /// The tuples of a predicate as `writeq` writes them, sorted as text; `None` when it is not defined or has no
    /// model.
    #[must_use]
    pub fn tuples(&self, key: &PredicateKey) -> Option<Vec<Vec<String>>> {
        let mut rows: Vec<Vec<String>> = self
            .relation(key)?
            .rows()
            .map(|row| {
                row.iter()
                    .map(|value| self.data.constants.text(*value))
                    .collect()
            })
            .collect();
        rows.sort();
        Some(rows)
    }

    /// The evaluation errors of predicates without a model, each once, in the order of the texts.
    #[must_use]
    pub fn failures(&self) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::new();
        for state in &self.data.states {
            if let State::Failed(diagnostic) = state
                && !found.contains(diagnostic)
            {
                found.push((**diagnostic).clone());
            }
        }
        found.sort_by_key(|failure| failure.span);
        found
    }

    /// Why the predicate has no model, if it has none.
    pub(crate) fn refusal(&self, id: PredicateId) -> Option<Vec<Diagnostic>> {
        let data = &self.data.rulebase.data;
        let key = data.predicates.key(id);
        match self.data.states.get(id.index()) {
            Some(State::Done) => None,
            Some(State::Failed(diagnostic)) => Some(vec![(**diagnostic).clone()]),
            Some(State::Faulty) => Some(
                self.data
                    .rulebase
                    .faults_of(&key)
                    .into_iter()
                    .cloned()
                    .collect(),
            ),
            Some(State::Skipped) | None => {
                let span = data.predicates.get(id).and_then(|known| known.place());
                Some(vec![Diagnostic::new(
                    Code::FaultySlice,
                    span.unwrap_or_default(),
                    format!("`{key}` was not evaluated"),
                )])
            }
        }
    }
}
