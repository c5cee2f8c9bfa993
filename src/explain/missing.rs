//! The smallest sets of facts with which a goal would hold: what a search proposes, decided.
//!
//! Nothing is reported here that was not added to a copy of the model, and the goal decided again.

use super::abduce::{Limits, Proposal, Tuple};
use super::logic::Term as Open;
use super::solve::Search;
use super::why::Explainer;
use super::why_not::{Asked, STEPS, propose};
use super::written;
use crate::analysis::rule::PredicateId;
use crate::budget::BudgetExceeded;
use crate::syntax::{Term, TermKind};
use crate::value::{Constants, Value};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

/// How many sets of missing facts are reported.
const MAX_MISSING: usize = 10;
/// How many facts one of them may have.
const MAX_FACTS: usize = 3;
/// How many rows may be looked at to decide a proposal, for each component.
const CHEAP: u64 = 300;
/// How many proposals are decided that cost more, if nothing else does.
const MAX_DEAR: usize = 5;

impl<'m> Explainer<'m> {
    /// The smallest sets of missing facts, and whether the search came to its limits.
    pub(super) fn missing(
        &self,
        search: &mut Search<'m>,
        asked: &Asked<'_>,
        goal: &str,
        own: &HashSet<Value>,
    ) -> (Vec<Vec<String>>, bool) {
        let mut steps = STEPS;
        let mut missing: Vec<Vec<String>> = Vec::new();
        for facts in 1..=MAX_FACTS {
            let limits = Limits { facts, defeats: 0 };
            let mut proposals = propose(search, asked, limits, &mut steps);
            proposals.retain(|proposal| proposal.facts.len() == facts);
            if !missing.is_empty() {
                // When fewer facts do, more must at least be plain ones.
                proposals.retain(|proposal| {
                    self.strange_values(proposal, own) == 0 && shared_variables(proposal).is_empty()
                });
            }
            self.decide(
                search,
                asked,
                goal,
                self.mixed(proposals, own),
                &mut missing,
            );
            if missing.len() >= MAX_MISSING || steps == 0 {
                break;
            }
        }
        (missing, steps == 0)
    }

    /// Adds to the missing sets those with which the goal would hold. What changes much is decided only if nothing else
    /// would do.
    fn decide(
        &self,
        search: &mut Search<'m>,
        asked: &Asked<'_>,
        goal: &str,
        proposals: Vec<Proposal>,
        missing: &mut Vec<Vec<String>>,
    ) {
        let mut dear: Vec<Proposal> = Vec::new();
        for (proposals, firings) in [(Some(proposals), CHEAP), (None, u64::MAX)] {
            let proposals = proposals.unwrap_or_else(|| {
                dear.truncate(MAX_DEAR);
                std::mem::take(&mut dear)
            });
            if firings > CHEAP && !missing.is_empty() {
                return;
            }
            for proposal in proposals {
                let written = self.write(search, &proposal);
                let smaller = |known: &Vec<String>| known.iter().all(|fact| written.contains(fact));
                let enough = missing.len() >= MAX_MISSING;
                if enough || missing.iter().any(smaller) {
                    continue;
                }
                // Others of the kind are dear, too, as a rule.
                if dear.iter().any(|other| kind(other) == kind(&proposal)) {
                    dear.push(proposal);
                    continue;
                }
                match self.would_hold(search, &proposal, asked, goal, firings) {
                    Ok(true) => {
                        let part = parts(&proposal).into_iter().find(|part| {
                            let holds = self.would_hold(search, part, asked, goal, firings);
                            holds.is_ok_and(|holds| holds)
                        });
                        match part {
                            None => missing.push(written),
                            // As a rule a set with variables says so already.
                            Some(part) if missing.is_empty() => {
                                missing.push(self.write(search, &part));
                            }
                            Some(_) => {}
                        }
                    }
                    Ok(false) => {}
                    Err(_) => dear.push(proposal),
                }
            }
        }
    }

    /// First those that use values where they are used already, and of these such about different predicates in turn, so
    /// that many of one kind do not hide the others.
    fn mixed(&self, proposals: Vec<Proposal>, own: &HashSet<Value>) -> Vec<Proposal> {
        let mut rounds: BTreeMap<(usize, Vec<PredicateId>), usize> = BTreeMap::new();
        let mut ranked: Vec<(usize, usize, Proposal)> = proposals
            .into_iter()
            .map(|proposal| {
                let strange = self.strange_values(&proposal, own);
                let round = rounds.entry((strange, kind(&proposal))).or_default();
                *round += 1;
                (strange, *round, proposal)
            })
            .collect();
        ranked.sort_by_key(|(strange, round, _)| (*strange, *round));
        ranked.into_iter().map(|(.., proposal)| proposal).collect()
    }

    /// How many values of a proposal are not the goal's own, and stand in no tuple of the predicate in that column. A
    /// value that stands twice in one fact is strange, too.
    fn strange_values(&self, proposal: &Proposal, own: &HashSet<Value>) -> usize {
        let mut strange = 0;
        for (predicate, args) in &proposal.facts {
            if self.model.count(&self.data().predicates.key(*predicate)) == Some(0) {
                continue;
            }
            for (column, arg) in args.iter().enumerate() {
                let mut known = vec![None; args.len()];
                if let (Open::Value(value), Some(slot)) = (arg, known.get_mut(column)) {
                    let twice = args
                        .get(..column)
                        .is_some_and(|before| before.contains(arg));
                    if twice || own.contains(value) {
                        strange += usize::from(twice);
                        continue;
                    }
                    *slot = Some(*value);
                    let none = |_, _: &[Value]| ControlFlow::Break(());
                    let found = self.model.matching(*predicate, &known, &mut { none });
                    strange += usize::from(found.is_continue());
                }
            }
        }
        strange
    }

    /// Adds what is proposed to a copy of the model and decides again.
    fn would_hold(
        &self,
        search: &mut Search<'m>,
        proposal: &Proposal,
        asked: &Asked<'_>,
        goal: &str,
        firings: u64,
    ) -> Result<bool, BudgetExceeded> {
        let mut any: BTreeMap<usize, Value> = BTreeMap::new();
        let mut facts: Vec<Tuple> = Vec::new();
        for (predicate, args) in &proposal.facts {
            let row = args.iter().map(|arg| ground(search, arg, &mut any));
            match row.collect() {
                Some(row) => facts.push((*predicate, row)),
                None => return Ok(false),
            }
        }
        let constants = search.constants.clone();
        let model = self.model.supposing(constants, &facts, firings)?;
        Ok(match asked {
            Asked::Tuple(predicate, known) => {
                let row: Option<Vec<Value>> = known.iter().copied().collect();
                match row {
                    Some(row) => {
                        let relation = model.data.relations.get(predicate.index());
                        model.refusal(*predicate).is_none()
                            && relation.is_some_and(|relation| relation.contains(&row))
                    }
                    None => model.query(goal).is_ok_and(|answers| answers.holds()),
                }
            }
            Asked::Bodies(_) => model.query(goal).is_ok_and(|answers| answers.holds()),
        })
    }

    /// The facts of a proposal; a variable that stands once is `_`.
    fn write(&self, search: &Search<'m>, proposal: &Proposal) -> Vec<String> {
        let names: BTreeMap<usize, String> = shared_variables(proposal)
            .into_iter()
            .zip(1..)
            .map(|(variable, number)| (variable, format!("X{number}")))
            .collect();
        let mut facts: Vec<String> = proposal
            .facts
            .iter()
            .map(|(predicate, args)| {
                let name = self.data().predicates.key(*predicate);
                let args = args.iter().map(|arg| term(&search.constants, arg, &names));
                written::compound(name.name(), args.collect()).to_string()
            })
            .collect();
        facts.sort();
        facts
    }
}

/// The proposals of some of the facts and not all, the smallest first.
fn parts(proposal: &Proposal) -> Vec<Proposal> {
    let count = proposal.facts.len().min(MAX_FACTS);
    let mut parts: Vec<Proposal> = (1..(1_usize << count) - 1)
        .map(|chosen| Proposal {
            facts: (0..count)
                .filter(|at| chosen & (1 << at) != 0)
                .filter_map(|at| proposal.facts.get(at).cloned())
                .collect(),
            defeats: Vec::new(),
        })
        .collect();
    parts.sort_by_key(|part| part.facts.len());
    parts
}

/// The predicates that a proposal adds facts to.
fn kind(proposal: &Proposal) -> Vec<PredicateId> {
    let facts = proposal.facts.iter();
    facts.map(|(predicate, _)| *predicate).collect()
}

/// The variables that stand more than once.
fn shared_variables(proposal: &Proposal) -> Vec<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let args = proposal.facts.iter().flat_map(|(_, args)| args);
    args.for_each(|arg| count(arg, &mut counts));
    let shared = counts.into_iter().filter(|(_, count)| *count > 1);
    shared.map(|(variable, _)| variable).collect()
}

fn count(arg: &Open, counts: &mut BTreeMap<usize, usize>) {
    match arg {
        Open::Value(_) => {}
        Open::Variable(variable) => *counts.entry(*variable).or_default() += 1,
        Open::Compound(_, args) => args.iter().for_each(|arg| count(arg, counts)),
    }
}

fn term(constants: &Constants, arg: &Open, names: &BTreeMap<usize, String>) -> Term {
    match arg {
        Open::Value(value) => written::constant(constants, *value),
        Open::Variable(variable) => {
            let name = names.get(variable).map_or("_", |name| name);
            written::new(TermKind::Variable(name.into()))
        }
        Open::Compound(name, args) => {
            let args = args.iter().map(|arg| term(constants, arg, names));
            written::compound(name, args.collect())
        }
    }
}

/// The value of an argument; each variable gets one that occurs nowhere.
fn ground(search: &mut Search<'_>, arg: &Open, any: &mut BTreeMap<usize, Value>) -> Option<Value> {
    match arg {
        Open::Value(value) => Some(*value),
        Open::Variable(variable) => Some(*any.entry(*variable).or_insert_with(|| search.unused())),
        Open::Compound(name, args) => {
            let args = args.iter().map(|arg| ground(search, arg, any));
            let args: Option<Vec<Value>> = args.collect();
            search.constants.compound(name, &args?).ok()
        }
    }
}
