//! The reference: a naive evaluator, slow and short. Each round tries every rule on all that is known, from left
//! to right, until nothing new comes.
//!
//! Nothing here plans, indexes or remembers what a round added.

use crate::analysis::rule::{
    BinaryOperator, Expression, Listness, Literal, LiteralKind, Pattern, PredicateId, Rule,
    UnaryOperator, Variable,
};
use crate::analysis::{Data, Rulebase};
use crate::key::PredicateKey;
use crate::number::Integer;
use crate::value::{Constant, Constants, Value};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

type Tuples = BTreeSet<Vec<Value>>;
type Binding = Vec<Option<Value>>;

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
    rulebase: Rulebase,
    constants: Constants,
    tuples: Vec<Tuples>,
    answered: Vec<bool>,
}

/// The naive evaluator gave up: its step limit ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the naive evaluator took more than {0} steps")]
pub struct ReferenceError(pub u64);

impl Reference {
    /// Derives the model in at most `steps` steps, each the trial of one literal.
    ///
    /// # Errors
    /// [`ReferenceError`] when that is not enough.
    pub fn derive(rulebase: &Rulebase, steps: u64) -> Result<Self, ReferenceError> {
        let data: &Data = &rulebase.data;
        let size = data.predicates.len();
        let mut work = Work {
            constants: Constants::over(Arc::clone(&data.constants)),
            tuples: vec![Tuples::new(); size],
            steps,
        };
        let mut answered = vec![false; size];
        for component in data.graph.components() {
            let rules: Vec<&Rule> = data
                .rules
                .iter()
                .filter(|rule| component.contains(&rule.head))
                .collect();
            let mut fine = component.iter().all(|id| !data.is_tainted(*id));
            for literal in rules.iter().flat_map(|rule| &rule.body) {
                literal.each_call(&mut |callee, _, _| {
                    let known = answered.get(callee.index()).copied().unwrap_or(false);
                    fine &= known || component.contains(&callee);
                });
            }
            fine = fine
                && match work.component(data, component, &rules) {
                    Ok(()) => true,
                    Err(Stop::NoValue) => false,
                    Err(Stop::OutOfSteps) => return Err(ReferenceError(steps)),
                };
            for id in component {
                if let Some(slot) = answered.get_mut(id.index()) {
                    *slot = fine;
                }
            }
        }
        Ok(Self {
            rulebase: rulebase.clone(),
            constants: work.constants,
            tuples: work.tuples,
            answered,
        })
    }

    /// The tuples of a predicate as `writeq` writes them, sorted; `None` when it has no model.
    #[must_use]
    pub fn tuples(&self, key: &PredicateKey) -> Option<Vec<Vec<String>>> {
        let id = self.rulebase.data.find(key)?;
        if !self.answered.get(id.index()).copied()? {
            return None;
        }
        let mut rows: Vec<Vec<String>> = self
            .tuples
            .get(id.index())?
            .iter()
            .map(|row| {
                row.iter()
                    .map(|value| self.constants.text(*value))
                    .collect()
            })
            .collect();
        rows.sort();
        Some(rows)
    }
}

enum Stop {
    NoValue,
    OutOfSteps,
}

struct Work {
    constants: Constants,
    tuples: Vec<Tuples>,
    steps: u64,
}

impl Work {
    fn component(
        &mut self,
        data: &Data,
        component: &[PredicateId],
        rules: &[&Rule],
    ) -> Result<(), Stop> {
        for id in component {
            let arity = data.predicates.key(*id).arity();
            if let (Some(facts), Some(tuples)) =
                (data.facts.get(id.index()), self.tuples.get_mut(id.index()))
            {
                tuples.extend(facts.rows(arity).map(<[Value]>::to_vec));
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

    /// Calls `found` for each binding that satisfies the open literals, until it returns `true`.
    fn solve(
        &mut self,
        rule: &Rule,
        body: &[Literal],
        open: &[usize],
        binding: Binding,
        found: &mut dyn FnMut(&mut Self, &Binding) -> Result<bool, Stop>,
    ) -> Result<bool, Stop> {
        self.steps = self.steps.checked_sub(1).ok_or(Stop::OutOfSteps)?;
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
    fn holds(
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
                let rows = self.tuples.get(callee.index()).cloned().unwrap_or_default();
                rows.iter()
                    .filter_map(|row| self.match_all(args, row, binding))
                    .collect()
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

    fn match_all(
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

    fn value(&mut self, pattern: &Pattern, binding: &Binding) -> Option<Value> {
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

fn is_ready(rule: &Rule, literal: &Literal, binding: &Binding) -> bool {
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

/// A number of the reference: always the general form.
enum Number {
    Whole(BigInt),
    Float(f64),
}

impl Number {
    fn float(&self) -> Result<f64, Stop> {
        match self {
            Self::Float(float) => Ok(*float),
            Self::Whole(whole)
                if whole.bits() <= 53
                    || whole.magnitude() == BigInt::from(1_u64 << 53).magnitude() =>
            {
                whole.to_f64().ok_or(Stop::NoValue)
            }
            Self::Whole(_) => Err(Stop::NoValue),
        }
    }

    fn compare(&self, other: &Self) -> Result<Ordering, Stop> {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Ok(a.cmp(b)),
            _ => self
                .float()?
                .partial_cmp(&other.float()?)
                .ok_or(Stop::NoValue),
        }
    }

    fn combine(self, operator: BinaryOperator, other: Self) -> Result<Self, Stop> {
        use BinaryOperator as Op;
        let checked = |float: f64| {
            if float.is_finite() {
                Ok(Self::Float(float))
            } else {
                Err(Stop::NoValue)
            }
        };
        if let Op::Minimum | Op::Maximum = operator {
            let wanted = if operator == Op::Minimum {
                Ordering::Less
            } else {
                Ordering::Greater
            };
            let order = self.compare(&other)?;
            let negative_zero = |number: &Self| matches!(number, Self::Float(f) if *f == 0.0 && f.is_sign_negative());
            if order.is_eq() && (negative_zero(&self) || negative_zero(&other)) {
                return Err(Stop::NoValue);
            }
            let first = order == wanted || order.is_eq() && matches!(self, Self::Float(_));
            return Ok(if first { self } else { other });
        }
        let whole = match (&self, &other) {
            (Self::Whole(a), Self::Whole(b)) => Some((a, b)),
            _ => None,
        };
        if let (Op::IntegerDivide | Op::Modulo | Op::Remainder | Op::Divide, Some((_, b))) =
            (operator, whole)
            && b.is_zero()
        {
            return Err(Stop::NoValue);
        }
        let result = match (operator, whole) {
            (Op::Add, Some((a, b))) => a + b,
            (Op::Subtract, Some((a, b))) => a - b,
            (Op::Multiply, Some((a, b))) => a * b,
            (Op::IntegerDivide, Some((a, b))) => a / b,
            (Op::Remainder, Some((a, b))) => a % b,
            (Op::Modulo, Some((a, b))) => ((a % b) + b) % b,
            (Op::Divide, Some((a, b))) if (a % b).is_zero() => a / b,
            (Op::Divide, _) => {
                let divisor = other.float()?;
                if divisor == 0.0 {
                    return Err(Stop::NoValue);
                }
                return checked(self.float()? / divisor);
            }
            (Op::Add, None) => return checked(self.float()? + other.float()?),
            (Op::Subtract, None) => return checked(self.float()? - other.float()?),
            (Op::Multiply, None) => return checked(self.float()? * other.float()?),
            _ => return Err(Stop::NoValue),
        };
        // The digit budget of the language.
        if result.bits() > 13_610 {
            return Err(Stop::NoValue);
        }
        Ok(Self::Whole(result))
    }
}
