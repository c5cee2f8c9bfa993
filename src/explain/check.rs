//! One check of one proof document, node by node, each once what it rests on is proved.
//!
//! Nothing here takes a tuple from the document: every one is read off a clause.

use super::document::{Clause, Node};
use super::fit::{self, Fit, Tuple};
use super::naive::{Known, Naive, Stop};
use super::places::{Places, Stated};
use super::verify::{VerifyError, at, cannot, invalid};
use super::written::{self, Binding};
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule};
use crate::analysis::{Data, Rulebase};
use crate::source::Source;
use crate::syntax::{self, Term};
use crate::value::{Constant, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// One check of one document.
pub(super) struct Check<'c> {
    data: &'c Data,
    places: Places<'c>,
    naive: Naive,
    nodes: &'c [Node],
    /// The tuple of each node that is proved to be one.
    tuples: Vec<Option<Tuple>>,
}

/// What was proved: by the text of the fact its node and the clause that it follows by.
type Proved<'c> = HashMap<&'c str, (usize, Option<&'c Clause>)>;

impl<'c> Check<'c> {
    pub(super) fn new(rulebase: &'c Rulebase, naive: Naive, nodes: &'c [Node]) -> Self {
        Self {
            data: &rulebase.data,
            places: Places::new(rulebase),
            naive,
            nodes,
            tuples: vec![None; nodes.len()],
        }
    }

    /// Checks that the nodes prove the goal.
    pub(super) fn document(&mut self, goal: &str) -> Result<(), VerifyError> {
        self.naive.spend(self.nodes.len())?;
        let Some(conclusion) = self.nodes.first() else {
            return Err(invalid("it has no conclusion"));
        };
        let text = conclusion.fact.as_deref();
        // The conclusion of a goal that is more than one call is no tuple, and has no clause.
        let is_tuple =
            conclusion.clause.is_some() || text.is_some_and(|text| self.added(text).is_some());
        if is_tuple && text == Some(goal) {
            self.steps(is_tuple)?;
            let Some(Some((predicate, row))) = self.tuples.first().cloned() else {
                return Err(at(conclusion, "the conclusion is no fact"));
            };
            let args: Vec<Pattern> = row.into_iter().map(Pattern::Constant).collect();
            return self.may_be_asked(&[(predicate, self.brings_numbers(predicate, &args))].into());
        }
        let (term, rules) = self.goal(goal)?;
        self.steps(is_tuple)?;
        if is_tuple {
            let tuple = self.tuples.first().and_then(Option::as_ref);
            return match (&*rules, tuple) {
                ([rule], Some((predicate, row))) if self.is_asked(rule, *predicate, row) => Ok(()),
                _ => Err(at(conclusion, "the conclusion is not what the goal asks")),
            };
        }
        let because = conclusion.because.as_deref().unwrap_or_default();
        for rule in &rules {
            let fits = self.fit(rule).body(because)?;
            if let Some(binding) = fits
                && let constants = &self.naive.constants
                && text == Some(&written::instance(&term, rule, &binding, constants))
            {
                return Ok(());
            }
        }
        Err(at(conclusion, "the premises do not make up the goal"))
    }

    fn fit<'f>(&'f mut self, rule: &'f Rule) -> Fit<'f> {
        Fit {
            data: self.data,
            naive: &mut self.naive,
            rule,
            nodes: self.nodes,
            tuples: &self.tuples,
        }
    }

    /// The tuple that was added as a fact and is written so.
    fn added(&self, text: &str) -> Option<Tuple> {
        let (data, constants) = (self.data, &self.naive.constants);
        let is = |(id, row): &&Tuple| written::fact(data, constants, *id, row) == text;
        self.naive.edits.added.iter().find(is).cloned()
    }

    /// Whether the rule of a goal is one call, and the tuple answers it.
    fn is_asked(&self, rule: &Rule, predicate: PredicateId, row: &[Value]) -> bool {
        let [literal] = &*rule.body else { return false };
        let LiteralKind::Call(callee, args) = &literal.kind else {
            return false;
        };
        let none: Binding = vec![None; rule.variables.len()];
        *callee == predicate && self.naive.match_all(args, row, &none).is_some()
    }

    /// The goal as rules, if it may be asked of this rulebase and has an answer.
    fn goal(&mut self, goal: &str) -> Result<(Term, Vec<Rule>), VerifyError> {
        let source = Source::new("goal", goal);
        let mut sources = self.data.sources.clone();
        let id = sources.push(source.clone());
        let term = syntax::parse_goal(id, &source).map_err(|found| {
            let first = found.first();
            cannot(first.map_or("it is no goal", |found| &found.message))
        })?;
        let (rules, faults, _) = self.data.goal_rules(&term, &mut self.naive.constants);
        let faults = faults.into_iter().chain(self.data.judge_goal(&rules));
        if let Some(fault) = faults.into_iter().next() {
            return Err(cannot(&fault.message));
        }
        let mut called = BTreeSet::new();
        for literal in rules.iter().flat_map(|rule| &rule.body) {
            literal.each_call(&mut |callee, negative, _| {
                let brought = match &literal.kind {
                    LiteralKind::Call(_, args) if !negative => self.brings_numbers(callee, args),
                    _ => false,
                };
                called.insert((callee, brought));
            });
        }
        self.may_be_asked(&called)?;
        self.computes(&rules)?;
        Ok((term, rules))
    }

    /// Whether predicates, each with whether a goal brings it only what it can compute with, may be asked.
    fn may_be_asked(&mut self, called: &BTreeSet<(PredicateId, bool)>) -> Result<(), VerifyError> {
        for (callee, brings_numbers) in called {
            let known = self.data.predicates.get(*callee);
            let computes = self.data.needs.get(callee.index());
            if known.is_none_or(|known| known.private) {
                return Err(cannot("it calls a predicate that is private to its module"));
            }
            if self.data.is_tainted(*callee) {
                return Err(cannot("a predicate that it calls has a fault"));
            }
            if computes.is_none_or(|needs| needs.arithmetic.is_some()) && !brings_numbers {
                return Err(cannot("it brings to arithmetic what may be no number"));
            }
        }
        self.has_values(called.iter().map(|(callee, _)| *callee))
    }

    /// Whether each argument that the predicate computes with is a number that it only compares.
    fn brings_numbers(&self, callee: PredicateId, args: &[Pattern]) -> bool {
        let Some(needs) = self.data.needs.get(callee.index()) else {
            return false;
        };
        let mut needed = args
            .iter()
            .zip(&needs.bound)
            .filter(|(_, need)| need.is_some());
        needed.all(|(arg, _)| match arg {
            Pattern::Constant(value) => {
                let value = self.naive.constants.get(*value);
                matches!(value, Constant::Integer(_) | Constant::Float(_)) && !needs.computes
            }
            Pattern::Variable(_) => true,
            Pattern::Compound(..) => false,
        })
    }

    /// Whether all that the predicates depend on has a model: arithmetic without a value anywhere in it would leave
    /// them without an answer, however well a proof avoids it.
    fn has_values(&mut self, called: impl Iterator<Item = PredicateId>) -> Result<(), VerifyError> {
        let slice = self.data.graph.slice(called);
        let in_slice = |id: &PredicateId| slice.get(id.index()).copied().unwrap_or(false);
        let rules = self.data.rules.iter();
        let computing: BTreeSet<PredicateId> = rules
            .filter(|rule| rule.body.iter().any(|literal| literal.is_arithmetic()))
            .map(|rule| rule.head)
            .filter(in_slice)
            .collect();
        if computing.is_empty() {
            return Ok(());
        }
        let wanted = self.data.graph.slice(computing.iter().copied());
        self.naive.derive(&wanted)?;
        match computing
            .iter()
            .find(|id| self.naive.known(**id) != Known::Tuples)
        {
            Some(id) => Err(invalid(format!(
                "`{}` has no model: its arithmetic has no value somewhere",
                self.data.predicates.key(*id)
            ))),
            None => Ok(()),
        }
    }

    /// Whether the goal's own arithmetic has a value wherever the goal comes to it, and not only where a proof goes: what
    /// has no answer has no proof.
    fn computes(&mut self, rules: &[Rule]) -> Result<(), VerifyError> {
        let literals = || rules.iter().flat_map(|rule| &rule.body);
        if !literals().any(Literal::is_arithmetic) {
            return Ok(());
        }
        let mut called = BTreeSet::new();
        for literal in literals() {
            literal.each_call(&mut |callee, _, _| {
                called.insert(callee);
            });
        }
        let wanted = self.data.graph.slice(called.into_iter());
        self.naive.derive(&wanted)?;
        for rule in rules {
            match self.naive.exhaust(rule) {
                Err(Stop::NoValue) => return Err(cannot("its arithmetic has no value somewhere")),
                other => other?,
            }
        }
        Ok(())
    }

    /// Checks every fact but a conclusion that is no tuple, in the order in which they are complete.
    fn steps(&mut self, with_conclusion: bool) -> Result<(), VerifyError> {
        self.derive_negated()?;
        let mut proved = Proved::new();
        let mut open: HashSet<&str> = HashSet::new();
        let mut path: Vec<(usize, usize)> = vec![(0, 0)];
        while let Some((number, next)) = path.pop() {
            let Some(node) = self.nodes.get(number) else {
                return Err(invalid("a premise is missing"));
            };
            let Some(text) = node.fact.as_deref() else {
                continue;
            };
            if next == 0 && !open.insert(text) {
                return Err(at(node, "it follows from itself: a circle"));
            }
            let because = node.because.as_deref().unwrap_or_default();
            if let Some(premise) = because.get(next) {
                path.push((number, next + 1));
                path.push((*premise, 0));
                continue;
            }
            open.remove(text);
            if number > 0 || with_conclusion {
                let tuple = self.step(node, text, &proved)?;
                if self.data.is_tainted(tuple.0) {
                    return Err(at(
                        node,
                        "the predicate, or what it depends on, has a fault",
                    ));
                }
                if let Some(slot) = self.tuples.get_mut(number) {
                    *slot = Some(tuple);
                }
                let clause = node.clause.as_ref();
                proved.entry(text).or_insert((number, clause));
            }
        }
        Ok(())
    }

    /// Derives, once for all, what the clauses of the document negate.
    fn derive_negated(&mut self) -> Result<(), VerifyError> {
        let mut negated: BTreeSet<PredicateId> = BTreeSet::new();
        let mut seen: HashSet<*const Rule> = HashSet::new();
        for clause in self.nodes.iter().filter_map(|node| node.clause.as_ref()) {
            for stated in self.places.at(clause) {
                let Stated::Rule(rule) = stated else { continue };
                if seen.insert(std::ptr::from_ref(rule)) {
                    fit::negated(&rule.body, &mut |callee| {
                        negated.insert(callee);
                    });
                }
            }
        }
        if !negated.is_empty() {
            let wanted = self.data.graph.slice(negated.into_iter());
            self.naive.derive(&wanted)?;
        }
        Ok(())
    }

    /// The tuple that a fact is: one of the rule files, one that follows from its premises, or one proved before.
    fn step(
        &mut self,
        node: &'c Node,
        text: &str,
        proved: &Proved<'c>,
    ) -> Result<Tuple, VerifyError> {
        let Some(clause) = &node.clause else {
            let added = self.added(text).filter(|_| node.because.is_none());
            return added.ok_or_else(|| at(node, "it names no clause"));
        };
        let stated = self.places.at(clause);
        if stated.is_empty() {
            let (file, line, column) = (&clause.file, clause.line, clause.column);
            let place = format!("{file}:{line}:{column}");
            return Err(at(
                node,
                format!("these rules have no such clause at {place}"),
            ));
        }
        if node.because.is_none()
            && let Some((earlier, Some(known))) = proved.get(text)
            && *known == clause
            && let Some(Some(tuple)) = self.tuples.get(*earlier)
        {
            return Ok(tuple.clone());
        }
        let because = node.because.as_deref().unwrap_or_default();
        for stated in stated {
            let tuple = match stated {
                Stated::Fact(id, row) if because.is_empty() => Some((id, row.to_vec())),
                Stated::Fact(..) => None,
                Stated::Rule(rule) => {
                    let mut fit = self.fit(rule);
                    match fit.body(because)? {
                        Some(binding) => fit.head(&binding),
                        None => None,
                    }
                }
            };
            if let Some((id, row)) = &tuple
                && let constants = &self.naive.constants
                && written::fact(self.data, constants, *id, row) == text
            {
                let edits = &self.naive.edits;
                let tuple = (*id, row.clone());
                let is_fact = matches!(stated, Stated::Fact(..));
                return match is_fact && edits.retracted.contains(&tuple) {
                    true => Err(at(node, "the fact was retracted")),
                    false => Ok(tuple),
                };
            }
        }
        Err(at(
            node,
            "it does not follow by its clause from its premises",
        ))
    }
}
