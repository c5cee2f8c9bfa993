//! Why something does not hold: how far each clause gets, what is missing, what stands against it, and what was
//! perhaps meant.
//!
//! Nothing here changes an answer. Every set of facts that it proposes was added to a copy of the model and the goal
//! decided again.

use super::abduce::{Abduction, Limits, Proposal, Tuple};
use super::denial::{Defeat, FailedClause, WhyNot};
use super::proof::ClauseText;
use super::reach::{self, Reached};
use super::solve::Search;
use super::why::{ExplainError, Explainer};
use super::written;
use crate::analysis::near;
use crate::analysis::rule::{LiteralKind, Pattern, PredicateId, Rule};
use crate::engine::Model;
use crate::policy::Allowlist;
use crate::source::{Source, Sources, Span};
use crate::syntax::{Term, TermKind};
use crate::value::{Constants, Value};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// How many clauses are reported.
const MAX_CLAUSES: usize = 100;
/// How many absences may be overlooked to see what stands against a goal.
const MAX_DEFEATS: usize = 3;
/// How many steps each of the two searches may take.
pub(super) const STEPS: u64 = 50_000;
/// How many near names are reported of each name.
const MAX_NEAR: usize = 5;

/// Why the goal does not hold; `None` if it does. See [`Explainer::why_not`].
///
/// # Errors
/// As [`Explainer::why_not`].
pub fn why_not(model: &Model, goal: &str) -> Result<Option<WhyNot>, ExplainError> {
    Explainer::new(model).why_not(goal)
}

/// What was asked, in the form in which it is looked into.
pub(super) enum Asked<'a> {
    /// Is there a tuple with these values?
    Tuple(PredicateId, Vec<Option<Value>>),
    /// Does one of these hold?
    Bodies(&'a [Rule]),
}

impl<'m> Explainer<'m> {
    /// Why the goal does not hold; `None` if it does.
    ///
    /// # Errors
    /// [`ExplainError`] if the goal cannot be answered: see [`Model::query`].
    pub fn why_not(&mut self, goal: &str) -> Result<Option<WhyNot>, ExplainError> {
        let answers = self.model.query_as(goal, self.inside)?;
        if answers.holds() {
            return Ok(None);
        }
        let (term, rules, constants) = self.parsed(goal, answers.constants())?;
        let mut sources = self.data().sources.clone();
        sources.push(Source::new("goal", goal));
        let mut search = Search::new(self.model, constants);
        let asked = match one_call(&mut search, &rules) {
            Some((predicate, known)) => Asked::Tuple(predicate, known),
            None => Asked::Bodies(&rules),
        };
        let mut names = Vec::new();
        atoms(&term, &mut names);
        Ok(Some(self.look_into(
            search,
            goal.trim(),
            &asked,
            &sources,
            &names,
        )))
    }

    /// Why the allowlist does not allow; `None` if it does, or if it is not one of this explainer's model.
    #[must_use]
    pub fn why_denied(&mut self, allowlist: &Allowlist, actor: &str, tool: &str) -> Option<WhyNot> {
        let (predicate, [actor_atom, tool_atom], constants) = self.pair(allowlist, actor, tool)?;
        let search = Search::new(self.model, constants);
        let row = [actor_atom, tool_atom];
        if search.birth(predicate, &row).is_some() {
            return None;
        }
        let goal = written::fact(self.data(), &search.constants, predicate, &row);
        let asked = Asked::Tuple(predicate, row.map(Some).into());
        let sources = self.data().sources.clone();
        let tool = format!("{}{tool}", allowlist.tool_prefix());
        Some(self.look_into(
            search,
            &goal,
            &asked,
            &sources,
            &[actor.into(), tool.into()],
        ))
    }

    fn look_into(
        &mut self,
        mut search: Search<'m>,
        goal: &str,
        asked: &Asked<'_>,
        sources: &Sources,
        names: &[Box<str>],
    ) -> WhyNot {
        let clauses = self.clauses(&mut search, asked, sources);
        let defeated_by = self.defeats(&mut search, asked);
        let mut own: HashSet<Value> = names
            .iter()
            .filter_map(|name| search.constants.find_atom(name))
            .collect();
        if let Asked::Tuple(_, known) = asked {
            own.extend(known.iter().flatten());
        }
        let (missing, exhausted) = self.missing(&mut search, asked, goal, &own);
        WhyNot {
            goal: goal.to_owned(),
            clauses,
            missing,
            defeated_by,
            near: self.near(names),
            exhausted,
        }
    }

    fn clauses(
        &self,
        search: &mut Search<'m>,
        asked: &Asked<'_>,
        sources: &Sources,
    ) -> Vec<FailedClause> {
        let data = self.data();
        let (rules, known): (Vec<&Rule>, &[Option<Value>]) = match asked {
            Asked::Tuple(predicate, known) => {
                let numbers = data.rules_of.get(predicate.index()).into_iter().flatten();
                (
                    numbers.filter_map(|at| data.rules.get(*at)).collect(),
                    known,
                )
            }
            Asked::Bodies(rules) => (rules.iter().collect(), &[]),
        };
        // Of the alternatives of a clause the one that gets furthest, and of those the first.
        let mut furthest: BTreeMap<Span, Reached> = BTreeMap::new();
        for rule in rules {
            let reached = reach::reach(search, rule, known);
            let better = furthest
                .get(&rule.span)
                .is_none_or(|other| other.literals < reached.literals);
            if better {
                furthest.insert(rule.span, reached);
            }
        }
        let mut all: Vec<(Span, Reached)> = furthest.into_iter().collect();
        if all.len() > MAX_CLAUSES {
            all.sort_by_key(|(span, reached)| (std::cmp::Reverse(reached.literals), *span));
            all.truncate(MAX_CLAUSES);
            all.sort_by_key(|(span, _)| *span);
        }
        let spans: Vec<Span> = all.iter().map(|(span, _)| *span).collect();
        all.into_iter()
            .zip(clause_texts(sources, &spans))
            .map(|((_, reached), clause)| FailedClause {
                clause,
                fails_at: reached.text,
                reached: reached.literals,
            })
            .collect()
    }

    /// The tuples that alone stand against the goal: as few as there can be.
    fn defeats(&mut self, search: &mut Search<'m>, asked: &Asked<'_>) -> Vec<Defeat> {
        let mut steps = STEPS;
        for defeats in 1..=MAX_DEFEATS {
            let limits = Limits { facts: 0, defeats };
            let found = propose(search, asked, limits, &mut steps);
            let mut tuples: Vec<Tuple> = found.into_iter().flat_map(|one| one.defeats).collect();
            if tuples.is_empty() {
                continue;
            }
            tuples.sort();
            tuples.dedup();
            let mut defeats: Vec<Defeat> = tuples
                .iter()
                .map(|(predicate, row)| {
                    let given = self.given.find(self.model, *predicate, row);
                    let span = given.and_then(|given| given.clause);
                    let clause =
                        span.and_then(|span| clause_texts(&self.data().sources, &[span]).pop());
                    Defeat {
                        fact: written::fact(self.data(), &search.constants, *predicate, row),
                        clause,
                    }
                })
                .collect();
            defeats.sort_by(|a, b| a.fact.cmp(&b.fact));
            return defeats;
        }
        Vec::new()
    }

    /// Names like those that the rules do not have.
    fn near(&self, names: &[Box<str>]) -> Vec<String> {
        let known = &self.data().constants;
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for name in names {
            if known.find_atom(name).is_some() || !seen.insert(&**name) {
                continue;
            }
            let mut close: Vec<(usize, &str)> = (0..known.len())
                .filter_map(|at| known.atom_text(Value(at)))
                .filter_map(|other| Some((distance(name, other)?, other)))
                .collect();
            close.sort_unstable();
            let close = close.iter().take(MAX_NEAR);
            for (_, name) in close {
                let name = crate::syntax::quoted_atom(name);
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found
    }
}

/// How far apart two names are, if they are close; those that differ in case only are closest.
fn distance(name: &str, other: &str) -> Option<usize> {
    let length = name.len().max(other.len());
    if length > 256 || name.len().abs_diff(other.len()) > 8 {
        return None;
    }
    if name.to_lowercase() == other.to_lowercase() {
        return Some(0);
    }
    match name.chars().count() {
        ..3 => None,
        3..6 => near::distance(name, other, 1),
        _ => near::distance(name, other, 2),
    }
}

pub(super) fn propose(
    search: &mut Search<'_>,
    asked: &Asked<'_>,
    limits: Limits,
    steps: &mut u64,
) -> Vec<Proposal> {
    let abduction = Abduction::new(search, limits, steps);
    match asked {
        Asked::Tuple(predicate, known) => abduction.tuple(*predicate, known),
        Asked::Bodies(rules) => abduction.bodies(rules),
    }
}

/// The predicate and what is known of its columns, if the goal is one call without a variable that occurs twice.
fn one_call(search: &mut Search<'_>, rules: &[Rule]) -> Option<(PredicateId, Vec<Option<Value>>)> {
    let [rule] = rules else { return None };
    let [literal] = &*rule.body else { return None };
    let LiteralKind::Call(callee, args) = &literal.kind else {
        return None;
    };
    let mut seen = HashSet::new();
    let none = vec![None; rule.variables.len()];
    let known: Option<Vec<Option<Value>>> = args
        .iter()
        .map(|arg| match arg {
            Pattern::Variable(variable) => seen.insert(*variable).then_some(None),
            other => search.value(other, &none).map(Some),
        })
        .collect();
    Some((*callee, known?))
}

fn atoms(term: &Term, names: &mut Vec<Box<str>>) {
    match &term.kind {
        TermKind::Atom(name) => names.push(name.clone()),
        TermKind::Compound(_, parts)
        | TermKind::Conjunction(parts)
        | TermKind::Disjunction(parts) => parts.iter().for_each(|part| atoms(part, names)),
        TermKind::List(items, tail) => {
            items.iter().for_each(|item| atoms(item, names));
            if let Some(tail) = tail {
                atoms(tail, names);
            }
        }
        _ => {}
    }
}

pub(crate) fn clause_texts(sources: &Sources, spans: &[Span]) -> Vec<ClauseText> {
    let places = sources.starts(spans);
    let clauses = spans.iter().zip(places).map(|(span, place)| ClauseText {
        file: sources.name(*span).to_owned(),
        line: place.line,
        column: place.column,
        text: sources.text(*span).to_owned(),
    });
    clauses.collect()
}

impl Explainer<'_> {
    /// The predicate of an allowlist, the atoms of a pair, and a pool that knows them.
    pub(super) fn pair(
        &self,
        allowlist: &Allowlist,
        actor: &str,
        tool: &str,
    ) -> Option<(PredicateId, [Value; 2], Constants)> {
        if !Arc::ptr_eq(&self.model.data, &allowlist.model().data) {
            return None;
        }
        let predicate = self.data().find(allowlist.predicate())?;
        let mut constants = Constants::over(Arc::clone(&self.model.data.constants));
        let actor = constants.atom(actor);
        let tool = constants.atom(&format!("{}{tool}", allowlist.tool_prefix()));
        Some((predicate, [actor, tool], constants))
    }
}
