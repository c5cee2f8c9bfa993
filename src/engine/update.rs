//! Updates: from a model to the model with some facts more and some fewer, at the price of what changes.
//!
//! Component by component, callees first: what may be lost is derived over the tuples before and taken away, what can be
//! derived in another way comes back, and what is gained is derived over the tuples after. Where that would cost more
//! than it saves, or arithmetic has no value, a component is evaluated anew. Nothing here changes the model that is
//! updated: a new one shares with it whatever is the same.

use super::budget::{Budget, BudgetExceeded, Spent};
use super::evaluate::{Evaluator, Failure, Member};
use super::maintain::{Change, Versions};
use super::relation::Relation;
use super::{Model, ModelData, State};
use crate::analysis::rule::{Literal, LiteralKind, PredicateId, Rule};
use crate::diagnostic::Diagnostic;
use crate::key::PredicateKey;
use crate::program::Facts;
use crate::source::{Source, SourceId};
use crate::syntax;
use crate::value::{Constants, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// What is lost before a component is evaluated anew, at least.
const FEW: u64 = 1024;

/// Why a model cannot be updated. The model itself is as it was.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UpdateError {
    /// The text is no term of the language.
    #[error("`{fact}` is no fact: {}", .diagnostic.message)]
    Syntax {
        /// The fact as it was given.
        fact: String,
        /// What is wrong with it; its span is that of the fact alone.
        diagnostic: Box<Diagnostic>,
    },
    /// The text is a term, but not a ground one that names a predicate.
    #[error("`{0}` is no ground fact")]
    NotGround(String),
    /// Only predicates that are declared `dynamic` change.
    #[error("`{predicate}` is not declared `dynamic`")]
    NotDynamic {
        /// The predicate of the fact.
        predicate: PredicateKey,
    },
    /// The budget that the model was derived with ran out.
    #[error(transparent)]
    Budget(#[from] BudgetExceeded),
}

/// The facts of one predicate that change.
#[derive(Clone, Debug)]
struct Edit {
    added: Relation,
    retracted: Relation,
}

impl Model {
    /// The model with the `retracted` facts removed and then the `added` ones there. Facts are written as in rule
    /// files, with or without the dot at the end. To add one that is there, or to retract one that is not, changes
    /// nothing.
    ///
    /// The new model equals the one that a rulebase with these facts would have, and costs about what changes; it
    /// shares the rest with this model, which stays as it is.
    ///
    /// # Errors
    /// [`UpdateError`] when a text is no ground fact of a predicate that is declared `dynamic`, or when the budget
    /// that this model was derived with runs out. No part of the update is made then.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source};
    /// let rules = ":- dynamic blocked/1.
    ///     grant(ann). grant(bob).
    ///     may(U) :- grant(U), \\+ blocked(U).";
    /// let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
    /// let before = rulebase.evaluate(&Budget::default()).unwrap();
    /// let after = before.apply(["blocked(bob)"], []).unwrap();
    /// assert_eq!(before.query("may(U)").unwrap().solutions(), [["ann"], ["bob"]]);
    /// assert_eq!(after.query("may(U)").unwrap().solutions(), [["ann"]]);
    /// assert!(after.apply(["grant(eve)"], []).is_err(), "`grant/1` is not dynamic");
    /// ```
    pub fn apply<'f>(
        &self,
        added: impl IntoIterator<Item = &'f str>,
        retracted: impl IntoIterator<Item = &'f str>,
    ) -> Result<Self, UpdateError> {
        let mut constants = Constants::over(Arc::clone(&self.data.constants));
        let mut edits: BTreeMap<PredicateId, Edit> = BTreeMap::new();
        let mut enter = |text: &str, add: bool| -> Result<(), UpdateError> {
            let (id, row) = self.fact(text, &mut constants)?;
            let edit = edits.entry(id).or_insert_with(|| Edit {
                added: Relation::new(row.len()),
                retracted: Relation::new(row.len()),
            });
            match add {
                true => edit.added.insert(&row),
                false => edit.retracted.insert(&row),
            };
            Ok(())
        };
        retracted
            .into_iter()
            .try_for_each(|text| enter(text, false))?;
        added.into_iter().try_for_each(|text| enter(text, true))?;
        Ok(self.edited(constants, edits, &self.data.budget)?)
    }

    /// The model with facts added of any predicates, to see what would follow from them: at the price of so many firings
    /// for each component.
    pub(crate) fn supposing(
        &self,
        constants: Constants,
        facts: &[(PredicateId, Vec<Value>)],
        firings: u64,
    ) -> Result<Self, BudgetExceeded> {
        let mut edits: BTreeMap<PredicateId, Edit> = BTreeMap::new();
        for (id, row) in facts {
            let none = || Relation::new(row.len());
            let edit = edits.entry(*id).or_insert_with(|| Edit {
                added: none(),
                retracted: none(),
            });
            edit.added.insert(row);
        }
        let mut budget = self.data.budget.clone();
        budget.firings = budget.firings.min(firings);
        self.edited(constants, edits, &budget)
    }

    fn edited(
        &self,
        constants: Constants,
        edits: BTreeMap<PredicateId, Edit>,
        budget: &Budget,
    ) -> Result<Self, BudgetExceeded> {
        let data = &self.data.rulebase.data;
        let versions = Versions::among(self.data.relations.len());
        let name_of = |id| data.predicates.key(versions.of(id)).to_string();
        Update::new(&self.data, constants, edits, budget, &name_of).run()
    }

    /// The predicate and the row of a fact that may change.
    fn fact(
        &self,
        text: &str,
        constants: &mut Constants,
    ) -> Result<(PredicateId, Vec<Value>), UpdateError> {
        let data = &self.data.rulebase.data;
        let trimmed = text.trim_end();
        let trimmed = trimmed.strip_suffix('.').unwrap_or(trimmed);
        let source = Source::new("fact", trimmed);
        let term = syntax::parse_goal(SourceId::default(), &source).map_err(|found| match found
            .into_iter()
            .next()
        {
            Some(diagnostic) => UpdateError::Syntax {
                fact: text.to_owned(),
                diagnostic: Box::new(diagnostic),
            },
            None => UpdateError::NotGround(text.to_owned()),
        })?;
        let not_ground = || UpdateError::NotGround(text.to_owned());
        let (name, arity) = term.functor().ok_or_else(not_ground)?;
        let key = PredicateKey::new(name, arity);
        let id = data
            .find(&key)
            .filter(|id| data.predicates.get(*id).is_some_and(|known| known.dynamic))
            .ok_or(UpdateError::NotDynamic { predicate: key })?;
        let row: Option<Vec<Value>> = term
            .args()
            .iter()
            .map(|arg| constants.intern(arg).ok().flatten())
            .collect();
        Ok((id, row.ok_or_else(not_ground)?))
    }
}

impl ModelData {
    /// How the facts differ from those of the rulebase: as texts, sorted, with `+` or `-` in front.
    pub(crate) fn edits(&self) -> Vec<String> {
        let mut edits = Vec::new();
        for (id, before) in &self.edited {
            let after = self.facts(*id);
            let key = self.rulebase.data.predicates.key(*id);
            let name = syntax::quoted_atom(key.name());
            for (sign, rows) in [('+', after.minus(before)), ('-', before.minus(&after))] {
                edits.extend(rows.rows().map(|row| {
                    let args: Vec<String> = row
                        .iter()
                        .map(|value| self.constants.text(*value))
                        .collect();
                    format!("{sign}{name}({})", args.join(","))
                }));
            }
        }
        edits.sort_unstable();
        edits
    }

    /// The facts of a predicate, updates included.
    pub(crate) fn facts(&self, id: PredicateId) -> Arc<Relation> {
        let make = || self.facts_of_rulebase(id);
        match self.facts.get(id.index()) {
            Some(facts) => Arc::clone(facts.get_or_init(make)),
            None => make(),
        }
    }

    fn facts_of_rulebase(&self, id: PredicateId) -> Arc<Relation> {
        let data = &self.rulebase.data;
        let has_rules = data
            .rules_of
            .get(id.index())
            .is_some_and(|rules| !rules.is_empty());
        match (self.states.get(id.index()), self.relations.get(id.index())) {
            // Updates of it are in its relation.
            (Some(State::Done), Some(relation)) if !has_rules => Arc::clone(relation),
            _ => {
                let arity = data.predicates.key(id).arity();
                Arc::new(match data.facts.get(id.index()) {
                    Some(facts) => Relation::of(arity, facts.count, &facts.values),
                    None => Relation::new(arity),
                })
            }
        }
    }
}

/// How a predicate differs from what it was.
#[derive(Clone, Debug)]
enum Difference {
    None,
    Tuples {
        gained: bool,
        lost: bool,
    },
    /// It had no model, or has none.
    Whole,
}

/// An update under way.
struct Update<'m> {
    before: &'m ModelData,
    budget: &'m Budget,
    versions: Versions,
    /// The facts that change: those added are not there yet, those retracted are, and none is both.
    edits: BTreeMap<PredicateId, Edit>,
    /// The facts of the predicates with edits, as they will be.
    facts: BTreeMap<PredicateId, Arc<Relation>>,
    relations: Vec<Arc<Relation>>,
    states: Vec<State>,
    differences: Vec<Difference>,
    /// Has all versions of all relations.
    evaluator: Evaluator<'m>,
}

impl<'m> Update<'m> {
    fn new(
        before: &'m ModelData,
        constants: Constants,
        edits: BTreeMap<PredicateId, Edit>,
        budget: &'m Budget,
        name_of: &'m dyn Fn(PredicateId) -> String,
    ) -> Self {
        let unchanged = &before.relations;
        let empty = unchanged
            .iter()
            .map(|relation| Arc::new(Relation::new(relation.arity())));
        let empty: Vec<Arc<Relation>> = empty.collect();
        let stores = [unchanged, unchanged, &empty, &empty]
            .into_iter()
            .flatten()
            .cloned();
        let mut evaluator = Evaluator::over_model(constants, stores.collect(), budget, name_of);
        evaluator.step = before.step;
        let mut update = Self {
            before,
            budget,
            versions: Versions::among(unchanged.len()),
            edits: BTreeMap::new(),
            facts: BTreeMap::new(),
            relations: unchanged.clone(),
            states: before.states.clone(),
            differences: vec![Difference::None; unchanged.len()],
            evaluator,
        };
        for (id, edit) in edits {
            update.edit(id, &edit);
        }
        update
    }

    /// Takes in the edit of one predicate as far as it changes anything.
    fn edit(&mut self, id: PredicateId, edit: &Edit) {
        let facts = self.before.facts(id);
        let arity = facts.arity();
        let (mut added, mut retracted) = (Relation::new(arity), Relation::new(arity));
        for row in edit.added.rows().filter(|row| !facts.contains(row)) {
            added.insert(row);
        }
        let goes = |row: &&[Value]| facts.contains(row) && !edit.added.contains(row);
        for row in edit.retracted.rows().filter(goes) {
            retracted.insert(row);
        }
        if added.len() + retracted.len() > 0 {
            let mut after = facts.without(&retracted);
            for row in added.rows() {
                after.insert(row);
            }
            self.facts.insert(id, Arc::new(after.settled()));
            self.edits.insert(id, Edit { added, retracted });
        }
    }

    fn run(mut self) -> Result<Model, BudgetExceeded> {
        let data = &self.before.rulebase.data;
        for component in data.graph.components() {
            self.component(component)?;
        }
        let facts = self.before.facts.iter().zip(0..).map(|(known, at)| {
            match self.facts.get(&PredicateId(at)) {
                Some(changed) => OnceLock::from(Arc::clone(changed)),
                None => known.clone(),
            }
        });
        let mut edited = self.before.edited.clone();
        for id in self.edits.keys() {
            edited.entry(*id).or_insert_with(|| self.before.facts(*id));
        }
        Ok(Model {
            data: Arc::new(ModelData {
                rulebase: self.before.rulebase.clone(),
                facts: facts.collect(),
                edited,
                relations: self.relations,
                states: self.states,
                step: self.evaluator.step,
                constants: std::mem::take(&mut self.evaluator.constants).settled(),
                budget: self.before.budget.clone(),
            }),
        })
    }

    fn difference(&self, id: PredicateId) -> &Difference {
        self.differences
            .get(id.index())
            .unwrap_or(&Difference::None)
    }

    fn component(&mut self, component: &[PredicateId]) -> Result<(), BudgetExceeded> {
        let before = component
            .first()
            .and_then(|id| self.before.states.get(id.index()));
        // What was not evaluated has facts, which changed already, and no tuples.
        let (Some(State::Done | State::Failed(_)), Some(first)) = (before, component.first())
        else {
            return Ok(());
        };
        let rules = self.before.rulebase.data.rules_of_component(component);
        // What changes under a negation may take the value from arithmetic there, for bindings that do not change.
        let may_err_within = |literal: &Literal| {
            matches!(literal.kind, LiteralKind::Not(..)) && literal.is_arithmetic()
        };
        let mut whole = matches!(before, Some(State::Failed(_)))
            || rules
                .iter()
                .any(|rule| rule.body.iter().any(may_err_within));
        let mut changed = component.iter().any(|id| self.edits.contains_key(id));
        for literal in rules.iter().flat_map(|rule| &rule.body) {
            literal.each_call(&mut |callee, _, _| match self.difference(callee) {
                Difference::None => {}
                Difference::Tuples { .. } => changed = true,
                Difference::Whole => (changed, whole) = (true, true),
            });
        }
        if !changed {
            return Ok(());
        }
        // Who may spend less than the model did does not want a component anew.
        let trial = self.budget.firings < self.before.budget.firings;
        match self.maintained(component, &rules, whole) {
            Some(Err(Failure::Budget(exceeded))) if trial => return Err(exceeded),
            Some(Ok(())) => {}
            _ => self.evaluate(component)?,
        }
        self.evaluator.spent.tuples = 0;
        for relation in &self.relations {
            let spent = &mut self.evaluator.spent;
            spent.add_tuples(u64::from(relation.len()), relation.arity());
        }
        match self.evaluator.count_tuples(0, *first) {
            Err(Failure::Budget(exceeded)) => Err(exceeded),
            _ => Ok(()),
        }
    }

    /// [`Update::maintain`], unless the component is to be evaluated as a whole.
    fn maintained(
        &mut self,
        component: &[PredicateId],
        rules: &[&Rule],
        whole: bool,
    ) -> Option<Result<(), Failure>> {
        (!whole).then(|| self.maintain(component, rules))
    }

    /// Brings a component up to date by what changed. After an error the component is as it was.
    fn maintain(&mut self, component: &[PredicateId], rules: &[&Rule]) -> Result<(), Failure> {
        let size: u64 = component
            .iter()
            .map(|id| u64::from(self.relation(*id).len()))
            .sum();
        // What costs more than that is evaluated anew.
        self.evaluator.budget = Budget {
            tuples: FEW + size / 4,
            ..self.budget.clone()
        };
        self.evaluator.spent = Spent::default();
        let done = self
            .lose(component, rules)
            .and_then(|()| self.gain(component, rules));
        self.evaluator.budget = self.budget.clone();
        for id in component {
            let after = self.evaluator.close(self.versions.after(*id));
            match (&done, after) {
                (Ok(()), Some(after)) => self.take(*id, after),
                _ => self.keep(*id),
            }
        }
        done
    }

    /// Derives what the predicates of a component may lose.
    fn lose(&mut self, component: &[PredicateId], rules: &[&Rule]) -> Result<(), Failure> {
        let losses: Vec<Rule> = {
            let changed = |id| self.changed(id);
            let change = Change {
                versions: self.versions,
                component,
                of: &changed,
            };
            rules.iter().flat_map(|rule| change.losses(rule)).collect()
        };
        let facts: Vec<Facts> = component
            .iter()
            .map(|id| {
                self.edits
                    .get(id)
                    .map(|edit| rows_of(&edit.retracted))
                    .unwrap_or_default()
            })
            .collect();
        let members: Vec<Member<'_>> = component
            .iter()
            .zip(&facts)
            .map(|(id, facts)| Member {
                id: self.versions.lost(*id),
                arity: self.relation(*id).arity(),
                facts,
            })
            .collect();
        self.evaluator
            .component(&members, &losses.iter().collect::<Vec<_>>())
    }

    /// Derives the predicates of a component anew from what they do not lose, as far as they change.
    fn gain(&mut self, component: &[PredicateId], rules: &[&Rule]) -> Result<(), Failure> {
        let versions = self.versions;
        let mut seeds: Vec<Rule> = Vec::new();
        let mut rounds: Vec<Rule> = Vec::new();
        {
            let changed = |id| self.changed(id);
            let change = Change {
                versions,
                component,
                of: &changed,
            };
            for rule in rules {
                if self
                    .version(versions.lost(rule.head))
                    .is_some_and(|lost| lost.len() > 0)
                {
                    seeds.push(change.recovery(rule));
                }
                seeds.extend(change.gains(rule));
                rounds.push(change.after(rule));
            }
        }
        for id in component {
            let facts = self.before.facts(*id);
            let edit = self.edits.get(id);
            let Some(lost) = self.evaluator.done(versions.lost(*id)) else {
                continue;
            };
            let mut after = self.relation(*id).without(&lost);
            let end = after.end();
            after.begin_step(self.evaluator.next_step());
            // Lost tuples that are facts were lost as conclusions only.
            let retracted = |row: &[Value]| edit.is_some_and(|edit| edit.retracted.contains(row));
            for row in lost
                .rows()
                .filter(|row| facts.contains(row) && !retracted(row))
            {
                after.insert(row);
            }
            for row in edit.iter().flat_map(|edit| edit.added.rows()) {
                after.insert(row);
            }
            let new = u64::from(after.end() - end);
            self.evaluator.open(versions.after(*id), after);
            self.evaluator.set_range(versions.after(*id), (end, end));
            self.evaluator.count_tuples(new, versions.after(*id))?;
        }
        for rule in &seeds {
            self.evaluator.run_once(rule)?;
        }
        let ids: Vec<PredicateId> = component.iter().map(|id| versions.after(*id)).collect();
        self.evaluator
            .rounds(&ids, &rounds.iter().collect::<Vec<_>>())
    }

    fn changed(&self, id: PredicateId) -> (bool, bool) {
        match self.difference(id) {
            Difference::Tuples { gained, lost } => (*gained, *lost),
            Difference::None | Difference::Whole => (false, false),
        }
    }

    fn relation(&self, id: PredicateId) -> Arc<Relation> {
        self.before
            .relations
            .get(id.index())
            .cloned()
            .unwrap_or_default()
    }

    fn version(&self, id: PredicateId) -> Option<Arc<Relation>> {
        self.evaluator.done(id)
    }

    /// The predicate is as it was.
    fn keep(&mut self, id: PredicateId) {
        let relation = self.relation(id);
        let none = Arc::new(Relation::new(relation.arity()));
        self.evaluator.set(self.versions.after(id), relation);
        self.evaluator
            .set(self.versions.gained(id), Arc::clone(&none));
        self.evaluator.set(self.versions.lost(id), none);
    }

    /// The predicate has another relation, made from the one before.
    fn take(&mut self, id: PredicateId, after: Relation) {
        let before = self.relation(id);
        let (mut gained, mut lost) = (Relation::new(before.arity()), Relation::new(before.arity()));
        for at in after.own().filter(|at| !before.contains(after.row(*at))) {
            gained.insert(after.row(at));
        }
        if let Some(candidates) = self.version(self.versions.lost(id)) {
            for row in candidates.rows().filter(|row| !after.contains(row)) {
                lost.insert(row);
            }
            // Nothing was derived anew: the relation need not be another one.
            if gained.len() + candidates.len() == 0 {
                return self.keep(id);
            }
        }
        self.enter(id, Arc::new(after.settled()), gained, lost);
    }

    fn enter(&mut self, id: PredicateId, after: Arc<Relation>, gained: Relation, lost: Relation) {
        if let Some(slot) = self.differences.get_mut(id.index())
            && gained.len() + lost.len() > 0
        {
            *slot = Difference::Tuples {
                gained: gained.len() > 0,
                lost: lost.len() > 0,
            };
        }
        if let Some(slot) = self.relations.get_mut(id.index()) {
            *slot = Arc::clone(&after);
        }
        self.evaluator.set(self.versions.after(id), after);
        self.evaluator
            .set(self.versions.gained(id), Arc::new(gained));
        self.evaluator.set(self.versions.lost(id), Arc::new(lost));
    }

    /// Evaluates a component anew.
    fn evaluate(&mut self, component: &[PredicateId]) -> Result<(), BudgetExceeded> {
        let data = &self.before.rulebase.data;
        let mut relations = self.relations.clone();
        for id in component {
            if let Some(slot) = relations.get_mut(id.index()) {
                *slot = Arc::new(Relation::new(slot.arity()));
            }
            // It may call itself: what it was says nothing of what it will be.
            if let Some(slot) = self.states.get_mut(id.index()) {
                *slot = State::Skipped;
            }
        }
        let name_of = |id| data.predicates.key(id).to_string();
        let constants = std::mem::take(&mut self.evaluator.constants);
        let mut evaluator = Evaluator::new(constants, relations, self.budget, &name_of);
        evaluator.step = self.evaluator.step;
        let facts: Vec<Facts> = component
            .iter()
            .map(|id| match self.facts.get(id) {
                Some(facts) => rows_of(facts),
                None => rows_of(&self.before.facts(*id)),
            })
            .collect();
        let state = self.before.rulebase.evaluate_component(
            &mut evaluator,
            component,
            &facts,
            &self.states,
        )?;
        self.evaluator.step = evaluator.step;
        let (constants, relations) = evaluator.finish();
        self.evaluator.constants = constants;
        for id in component {
            let before = self.before.states.get(id.index());
            let after = relations.get(id.index()).cloned().unwrap_or_default();
            if let (Some(State::Done), State::Done) = (before, &state) {
                let relation = self.relation(*id);
                self.enter(
                    *id,
                    Arc::clone(&after),
                    after.minus(&relation),
                    relation.minus(&after),
                );
            } else {
                self.enter(*id, after, Relation::default(), Relation::default());
                if let Some(slot) = self.differences.get_mut(id.index()) {
                    *slot = Difference::Whole;
                }
            }
            if let Some(slot) = self.states.get_mut(id.index()) {
                *slot = state.clone();
            }
        }
        Ok(())
    }
}

fn rows_of(relation: &Relation) -> Facts {
    Facts {
        values: relation.rows().flatten().copied().collect(),
        count: relation.len() as usize,
        spans: Vec::new(),
    }
}
