//! The reference: a naive evaluator, slow and short. Each round tries every rule on all that is known, from left
//! to right, until nothing new comes.
//!
//! Nothing here plans, builds an index or remembers what a round added.

use super::exact::Number;
use super::written::Binding;
use crate::analysis::rule::{
    Expression, Listness, Literal, LiteralKind, Pattern, PredicateId, Rule, UnaryOperator, Variable,
};
use crate::analysis::{Data, Rulebase};
use crate::key::PredicateKey;
use crate::number::Integer;
use crate::value::{Constant, Constants, Value};
use num_traits::Signed;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

type Tuples = BTreeSet<Vec<Value>>;

/// The model of a rulebase as the naive evaluator derives it.
///
/// ```
/// use horngate::{Rulebase, Source, explain::Reference};
/// let rules = "e(a, b). e(b, c). t(X, Y) :- e(X, Y). t(X, Z) :- t(X, Y), t(Y, Z).";
/// let rulebase = Rulebase::load([Source::new("tc.pl", rules)]).unwrap();
/// let reference = Reference::derive(&rulebase, 1_000_000).unwrap();
/// assert_eq!(reference.tuples(&"t/2".parse().unwrap()).unwrap().len(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct Reference {
    naive: Naive,
}

/// The naive evaluator gave up: its step limit ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the naive evaluator took more than {0} steps")]
pub struct ReferenceError(pub u64);

impl Reference {
    /// Derives the model in at most `steps` steps, each the trial of one literal or the look at one tuple.
    ///
    /// # Errors
    /// [`ReferenceError`] when that is not enough.
    pub fn derive(rulebase: &Rulebase, steps: u64) -> Result<Self, ReferenceError> {
        let mut naive = Naive::new(rulebase, steps);
        let all = vec![true; rulebase.data.predicates.len()];
        match naive.derive(&all) {
            Err(Stop::OutOfSteps) => Err(ReferenceError(steps)),
            Ok(()) | Err(Stop::NoValue) => Ok(Self { naive }),
        }
    }

    /// The tuples of a predicate as `writeq` writes them, sorted; `None` when it has no model.
    #[must_use]
    pub fn tuples(&self, key: &PredicateKey) -> Option<Vec<Vec<String>>> {
        let naive = &self.naive;
        let id = naive.rulebase.data.find(key)?;
        if naive.known(id) != Known::Tuples {
            return None;
        }
        let text = |value: &Value| naive.constants.text(*value);
        let rows = naive.tuples.get(id.index())?.iter();
        let mut rows: Vec<Vec<String>> = rows.map(|row| row.iter().map(text).collect()).collect();
        rows.sort();
        Some(rows)
    }
}

pub(super) enum Stop {
    NoValue,
    OutOfSteps,
}

/// What the evaluator knows of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was not asked about.
    Nothing,
    /// All its tuples.
    Tuples,
    /// That it has no model: its slice has a fault, or arithmetic without a value.
    NoModel,
}

/// Facts that differ from those of the rulebase.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    pub(super) added: BTreeSet<(PredicateId, Vec<Value>)>,
    pub(super) retracted: BTreeSet<(PredicateId, Vec<Value>)>,
}

/// The evaluator at work.
#[derive(Clone, Debug)]
pub(super) struct Naive {
    rulebase: Rulebase,
    pub(super) constants: Constants,
    pub(super) edits: Edits,
    tuples: Vec<Tuples>,
    known: Vec<Known>,
    /// How many steps are left.
    pub(super) steps: u64,
}

impl Naive {
    pub(super) fn new(rulebase: &Rulebase, steps: u64) -> Self {
        let data: &Data = &rulebase.data;
        let size = data.predicates.len();
        Self {
            rulebase: rulebase.clone(),
            constants: Constants::over(Arc::clone(&data.constants)),
            edits: Edits::default(),
            tuples: vec![Tuples::new(); size],
            known: vec![Known::Nothing; size],
            steps,
        }
    }

    pub(super) fn known(&self, id: PredicateId) -> Known {
        let known = self.known.get(id.index());
        known.copied().unwrap_or(Known::NoModel)
    }

    /// Derives the predicates that are wanted and not known yet; all that they depend on must be wanted, too.
    pub(super) fn derive(&mut self, wanted: &[bool]) -> Result<(), Stop> {
        let rulebase = self.rulebase.clone();
        let data: &Data = &rulebase.data;
        for component in data.graph.components() {
            let is_wanted = |id: &PredicateId| {
                let wanted = wanted.get(id.index()).copied().unwrap_or(false);
                wanted && self.known(*id) == Known::Nothing
            };
            if !component.iter().any(is_wanted) {
                continue;
            }
            let rules: Vec<&Rule> = component
                .iter()
                .filter_map(|id| data.rules_of.get(id.index()))
                .flatten()
                .filter_map(|at| data.rules.get(*at))
                .collect();
            let mut fine = component.iter().all(|id| !data.is_tainted(*id));
            for literal in rules.iter().flat_map(|rule| &rule.body) {
                literal.each_call(&mut |callee, _, _| {
                    fine &= component.contains(&callee) || self.known(callee) == Known::Tuples;
                });
            }
            fine = fine
                && match self.component(data, component, &rules) {
                    Ok(()) => true,
                    Err(Stop::NoValue) => false,
                    Err(Stop::OutOfSteps) => return Err(Stop::OutOfSteps),
                };
            for id in component {
                if let Some(slot) = self.known.get_mut(id.index()) {
                    *slot = if fine { Known::Tuples } else { Known::NoModel };
                }
            }
        }
        Ok(())
    }

    /// Spends some steps.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Stop> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        self.steps = self.steps.checked_sub(steps).ok_or(Stop::OutOfSteps)?;
        Ok(())
    }

    fn component(
        &mut self,
        data: &Data,
        component: &[PredicateId],
        rules: &[&Rule],
    ) -> Result<(), Stop> {
        for id in component {
            let arity = data.predicates.key(*id).arity();
            let stated = data.facts.get(id.index()).into_iter();
            let rows = stated
                .flat_map(|facts| facts.rows(arity))
                .map(<[Value]>::to_vec);
            let of = |(other, row): &(PredicateId, Vec<Value>)| (other == id).then(|| row.clone());
            let added = self.edits.added.iter().filter_map(of);
            let mut facts: Tuples = rows.chain(added).collect();
            for row in self.edits.retracted.iter().filter_map(of) {
                facts.remove(&row);
            }
            self.spend(facts.len())?;
            if let Some(tuples) = self.tuples.get_mut(id.index()) {
                *tuples = facts;
            }
        }
        loop {
            let mut grown = false;
            for rule in rules {
                let mut found = Vec::new();
                let open: Vec<usize> = (0..rule.body.len()).collect();
                let binding = vec![None; rule.variables.len()];
                self.solve(rule, &rule.body, &open, binding, &mut |this, binding| {
                    let row: Option<Vec<Value>> = rule
                        .args
                        .iter()
                        .map(|arg| this.value(arg, binding))
                        .collect();
                    found.push(row.ok_or(Stop::NoValue)?);
                    Ok(false)
                })?;
                if let Some(tuples) = self.tuples.get_mut(rule.head.index()) {
                    for row in found {
                        grown |= tuples.insert(row);
                    }
                }
            }
            if !grown {
                return Ok(());
            }
        }
    }

    /// Goes through all bindings of a rule's body.
    pub(super) fn exhaust(&mut self, rule: &Rule) -> Result<(), Stop> {
        let open: Vec<usize> = (0..rule.body.len()).collect();
        let binding = vec![None; rule.variables.len()];
        self.solve(rule, &rule.body, &open, binding, &mut |_, _| Ok(false))?;
        Ok(())
    }

    /// Calls `found` for each binding that satisfies the open literals, until it returns `true`.
    fn solve(
        &mut self,
        rule: &Rule,
        body: &[Literal],
        open: &[usize],
        binding: Binding,
        found: &mut dyn FnMut(&mut Self, &Binding) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        self.spend(1)?;
        if open.is_empty() {
            return found(self, &binding);
        }
        let ready = |at: &&usize| {
            body.get(**at)
                .is_some_and(|literal| is_ready(rule, literal, &binding))
        };
        // What may have no value waits for all to its left that can run, and all to its right waits for it.
        let whole = std::ptr::eq(body, &*rule.body);
        let late = |at: &&usize| whole && rule.postponed.contains(*at);
        let barrier = open.iter().position(|at| match whole {
            true => rule.is_barrier(*at),
            false => body.get(*at).is_some_and(Literal::is_arithmetic),
        });
        let (before, behind) = open.split_at(barrier.unwrap_or(open.len()));
        let at = before
            .iter()
            .filter(|at| !late(at))
            .find(ready)
            .or_else(|| behind.first().filter(|at| barrier.is_some() && ready(at)))
            .or_else(|| open.iter().filter(|at| !late(at)).find(ready))
            .or_else(|| open.iter().find(ready));
        let Some(at) = at else {
            return Err(Stop::NoValue);
        };
        let Some(literal) = body.get(*at) else {
            return Err(Stop::NoValue);
        };
        let rest: Vec<usize> = open.iter().copied().filter(|other| other != at).collect();
        for next in self.holds(rule, literal, &binding)? {
            if self.solve(rule, body, &rest, next, found)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The bindings that satisfy one literal and extend the one given.
    pub(super) fn holds(
        &mut self,
        rule: &Rule,
        literal: &Literal,
        binding: &Binding,
    ) -> Result<Vec<Binding>, Stop> {
        let test = |holds: bool| {
            if holds {
                vec![binding.clone()]
            } else {
                Vec::new()
            }
        };
        Ok(match &literal.kind {
            LiteralKind::Call(callee, args) => {
                let known = args.iter().map_while(|arg| self.value(arg, binding));
                let known: Vec<Value> = known.collect();
                let (mut seen, mut found) = (0, Vec::new());
                for row in self.starting_with(*callee, &known) {
                    seen += 1;
                    found.extend(self.match_all(args, row, binding));
                }
                self.spend(seen)?;
                found
            }
            LiteralKind::Not(bodies, _) => {
                let mut any = false;
                for body in bodies {
                    let open: Vec<usize> = (0..body.len()).collect();
                    any = any
                        || self.solve(rule, body, &open, binding.clone(), &mut |_, _| Ok(true))?;
                }
                test(!any)
            }
            LiteralKind::Unify(variable, pattern) => {
                let variable = Pattern::Variable(*variable);
                let (from, to) = match self.value(&variable, binding) {
                    Some(value) => (value, pattern),
                    None => (
                        self.value(pattern, binding).ok_or(Stop::NoValue)?,
                        &variable,
                    ),
                };
                self.match_all(std::slice::from_ref(to), &[from], binding)
                    .into_iter()
                    .collect()
            }
            LiteralKind::Identical(equal, left, right) => {
                let (left, right) = (self.value(left, binding), self.value(right, binding));
                test((left == right) == *equal)
            }
            LiteralKind::Order(outcomes, left, right) => {
                match (self.value(left, binding), self.value(right, binding)) {
                    (Some(left), Some(right)) => {
                        test(outcomes.admit(self.constants.compare(left, right)))
                    }
                    _ => return Err(Stop::NoValue),
                }
            }
            LiteralKind::Compare(outcomes, left, right) => {
                let order = self
                    .number(left, binding)?
                    .compare(&self.number(right, binding)?)?;
                test(outcomes.admit(order))
            }
            LiteralKind::Is(left, right) => {
                let value = match self.number(right, binding)? {
                    Number::Whole(whole) => self.constants.integer(Integer::from(whole)),
                    Number::Float(float) => self.constants.float(float),
                };
                self.match_all(std::slice::from_ref(left), &[value], binding)
                    .into_iter()
                    .collect()
            }
            LiteralKind::Member(item, list, listness) => {
                let list = self.value(list, binding).ok_or(Stop::NoValue)?;
                let items: Vec<Value> = self.constants.members(list).collect();
                let found: Vec<Binding> = items
                    .iter()
                    .filter_map(|value| {
                        self.match_all(std::slice::from_ref(item), &[*value], binding)
                    })
                    .collect();
                let mut rest = list;
                while let Some((_, tail)) = self.constants.cell(rest) {
                    rest = tail;
                }
                let proper = *self.constants.get(rest) == Constant::Nil;
                if found.is_empty() && *listness == Listness::Demanded && !proper {
                    return Err(Stop::NoValue);
                }
                found
            }
            LiteralKind::Fail => Vec::new(),
        })
    }

    /// The tuples whose first columns have these values.
    fn starting_with(&self, id: PredicateId, known: &[Value]) -> impl Iterator<Item = &Vec<Value>> {
        let from = (Bound::Included(known), Bound::Unbounded);
        let tuples = self.tuples.get(id.index()).into_iter();
        tuples
            .flat_map(move |tuples| tuples.range::<[Value], _>(from))
            .take_while(move |row| row.starts_with(known))
    }

    pub(super) fn match_all(
        &self,
        patterns: &[Pattern],
        values: &[Value],
        binding: &Binding,
    ) -> Option<Binding> {
        let mut binding = binding.clone();
        let mut pending: Vec<(&Pattern, Value)> =
            patterns.iter().zip(values.iter().copied()).collect();
        while let Some((pattern, value)) = pending.pop() {
            match pattern {
                Pattern::Constant(constant) => {
                    if *constant != value {
                        return None;
                    }
                }
                Pattern::Variable(variable) => {
                    let slot = binding.get_mut(variable.index())?;
                    if *slot.get_or_insert(value) != value {
                        return None;
                    }
                }
                Pattern::Compound(name, args) => match self.constants.get(value) {
                    Constant::Compound(other, parts)
                        if other == name && parts.len() == args.len() =>
                    {
                        pending.extend(args.iter().zip(parts.iter().copied()));
                    }
                    _ => return None,
                },
            }
        }
        Some(binding)
    }

    pub(super) fn value(&mut self, pattern: &Pattern, binding: &Binding) -> Option<Value> {
        match pattern {
            Pattern::Constant(value) => Some(*value),
            Pattern::Variable(variable) => binding.get(variable.index()).copied().flatten(),
            Pattern::Compound(name, args) => {
                let values: Option<Vec<Value>> =
                    args.iter().map(|arg| self.value(arg, binding)).collect();
                self.constants.compound(name, &values?).ok()
            }
        }
    }

    fn number(&self, expression: &Expression, binding: &Binding) -> Result<Number, Stop> {
        let constant = |value: Value| match self.constants.get(value) {
            Constant::Integer(whole) => Ok(Number::Whole(whole.to_big())),
            Constant::Float(bits) => Ok(Number::Float(f64::from_bits(*bits))),
            _ => Err(Stop::NoValue),
        };
        match expression {
            Expression::Constant(value) => constant(*value),
            Expression::Variable(variable) => {
                let value = binding.get(variable.index()).copied().flatten();
                constant(value.ok_or(Stop::NoValue)?)
            }
            Expression::Unary(operator, inner) => {
                Ok(match (operator, self.number(inner, binding)?) {
                    (UnaryOperator::Plus, number) => number,
                    (UnaryOperator::Minus, Number::Whole(whole)) => Number::Whole(-whole),
                    (UnaryOperator::Minus, Number::Float(float)) => Number::Float(-float),
                    (UnaryOperator::Absolute, Number::Whole(whole)) => Number::Whole(whole.abs()),
                    (UnaryOperator::Absolute, Number::Float(float)) => Number::Float(float.abs()),
                })
            }
            Expression::Binary(operator, sides) => {
                let left = self.number(&sides.0, binding)?;
                let right = self.number(&sides.1, binding)?;
                left.combine(*operator, right)
            }
        }
    }
}

/// Whether all values are known that a literal needs before it can be tried.
pub(super) fn is_ready(rule: &Rule, literal: &Literal, binding: &Binding) -> bool {
    let bound = |variable: Variable| binding.get(variable.index()).copied().flatten().is_some();
    let all = |patterns: &[&Pattern]| {
        patterns
            .iter()
            .all(|pattern| pattern.variables().into_iter().all(bound))
    };
    let computable = |expression: &Expression| {
        let mut fine = true;
        expression.each_variable(&mut |variable| fine &= bound(variable));
        fine
    };
    match &literal.kind {
        LiteralKind::Call(..) | LiteralKind::Fail => true,
        LiteralKind::Unify(variable, pattern) => bound(*variable) || all(&[pattern]),
        LiteralKind::Identical(_, left, right) | LiteralKind::Order(_, left, right) => {
            all(&[left, right])
        }
        LiteralKind::Compare(_, left, right) => computable(left) && computable(right),
        LiteralKind::Is(_, right) => computable(right),
        LiteralKind::Member(_, list, _) => all(&[list]),
        LiteralKind::Not(..) => {
            // Variables that also stand elsewhere in the rule must be bound.
            let mut inside = vec![0_usize; rule.variables.len()];
            let mut everywhere = inside.clone();
            let add = |counts: &mut Vec<usize>, variable: Variable| {
                if let Some(slot) = counts.get_mut(variable.index()) {
                    *slot += 1;
                }
            };
            literal.each_variable(&mut |variable| add(&mut inside, variable));
            for arg in &rule.args {
                arg.each_variable(&mut |variable| add(&mut everywhere, variable));
            }
            for other in &rule.body {
                other.each_variable(&mut |variable| add(&mut everywhere, variable));
            }
            (0..)
                .map(Variable)
                .zip(inside.iter().zip(&everywhere))
                .all(|(variable, (inside, all))| *inside == 0 || inside == all || bound(variable))
        }
    }
}
