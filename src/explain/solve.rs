//! Which values satisfy a rule's body, asked of a finished model one rule at a time.
//!
//! Nothing here derives a tuple or changes an answer: what the model does not have does not hold.

use super::written::Binding;
use crate::analysis::rule::{
    Expression, Literal, LiteralKind, Pattern, PredicateId, Rule, Variable,
};
use crate::engine::relation::Birth;
use crate::engine::{Model, Number, compare_numbers, evaluate_expression};
use crate::value::{Constant, Constants, Value};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

/// How many tuples are kept sorted by age.
const MAX_AGED: usize = 1_000_000;
/// How many matches of each literal are counted before one is chosen, if all have as many.
const PEEKS: [usize; 4] = [4, 64, 1024, 16_384];

/// A tuple with its birth.
#[derive(Debug)]
struct Aged {
    birth: Birth,
    row: Box<[Value]>,
}

/// A predicate and what is known of its columns.
type Asked = (PredicateId, Box<[Option<Value>]>);

/// What the calls of a body may rest on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Older {
    /// Tuples of this component must be older than the birth.
    pub(super) component: u32,
    pub(super) birth: Birth,
}

/// One rule whose body is looked at.
#[derive(Debug)]
pub(super) struct Scope<'r> {
    pub(super) rule: &'r Rule,
    /// How often each variable occurs in the whole rule.
    counts: Vec<usize>,
    older: Option<Older>,
}

impl<'r> Scope<'r> {
    pub(super) fn new(rule: &'r Rule, older: Option<Older>) -> Self {
        let mut counts = vec![0; rule.variables.len()];
        let mut count = |at: usize| {
            if let Some(slot) = counts.get_mut(at) {
                *slot += 1;
            }
        };
        for arg in &rule.args {
            arg.each_variable(&mut |variable| count(variable.index()));
        }
        for literal in &rule.body {
            literal.each_variable(&mut |variable| count(variable.index()));
        }
        Self {
            rule,
            counts,
            older,
        }
    }

    /// Whether all variables of a negation that also stand outside it have values.
    pub(super) fn is_closed(&self, negation: &Literal, binding: &[Option<Value>]) -> bool {
        let mut inside = vec![0; self.counts.len()];
        negation.each_variable(&mut |variable| {
            if let Some(slot) = inside.get_mut(variable.index()) {
                *slot += 1;
            }
        });
        inside
            .iter()
            .zip(&self.counts)
            .zip(binding)
            .all(|((inside, all), value)| *inside == 0 || inside == all || value.is_some())
    }
}

/// Called with each binding that satisfies all literals, until it breaks.
pub(super) type Found<'f, 'm> = &'f mut dyn FnMut(&mut Search<'m>, &Binding) -> ControlFlow<()>;

/// A search over one model.
pub(super) struct Search<'m> {
    pub(super) model: &'m Model,
    /// The model's constants and those that came up since.
    pub(super) constants: Constants,
    /// How many more rows may be looked at; `None`: as many as it takes.
    pub(super) fuel: Option<u64>,
    /// Tuples that are taken to be there, too.
    pub(super) extra: Vec<(PredicateId, Vec<Value>)>,
    /// The tuples with some known values, oldest first.
    aged: HashMap<Asked, Rc<[Aged]>>,
    /// How many tuples that are in all.
    aged_rows: usize,
}

impl<'m> Search<'m> {
    pub(super) fn new(model: &'m Model, constants: Constants) -> Self {
        Self {
            model,
            constants,
            fuel: None,
            extra: Vec::new(),
            aged: HashMap::new(),
            aged_rows: 0,
        }
    }

    /// The value of a pattern, if all its variables have one.
    pub(super) fn value(&mut self, pattern: &Pattern, binding: &[Option<Value>]) -> Option<Value> {
        match pattern {
            Pattern::Constant(value) => Some(*value),
            Pattern::Variable(variable) => binding.get(variable.index()).copied().flatten(),
            Pattern::Compound(name, args) => {
                let args: Option<Vec<Value>> =
                    args.iter().map(|arg| self.value(arg, binding)).collect();
                self.constants.compound(name, &args?).ok()
            }
        }
    }

    /// Makes the pattern equal the value, if it can be.
    pub(super) fn matches(&self, pattern: &Pattern, value: Value, binding: &mut Binding) -> bool {
        match pattern {
            Pattern::Constant(constant) => *constant == value,
            Pattern::Variable(variable) => binding
                .get_mut(variable.index())
                .is_some_and(|slot| *slot.get_or_insert(value) == value),
            Pattern::Compound(name, args) => match self.constants.get(value) {
                Constant::Compound(other, parts) if other == name && parts.len() == args.len() => {
                    args.iter()
                        .zip(parts)
                        .all(|(arg, part)| self.matches(arg, *part, binding))
                }
                _ => false,
            },
        }
    }

    /// [`Search::matches`] for each column of a row.
    pub(super) fn matches_row(
        &self,
        patterns: &[Pattern],
        row: &[Value],
        binding: &mut Binding,
    ) -> bool {
        patterns
            .iter()
            .zip(row)
            .all(|(pattern, value)| self.matches(pattern, *value, binding))
    }

    /// When the tuple was derived, if the model has it.
    pub(super) fn birth(&self, predicate: PredicateId, row: &[Value]) -> Option<Birth> {
        let known: Vec<Option<Value>> = row.iter().copied().map(Some).collect();
        let mut found = None;
        let _ = self.model.matching(predicate, &known, &mut |birth, _| {
            found = Some(birth);
            ControlFlow::Break(())
        });
        found
    }

    /// Calls `found` for each binding that extends `binding` and satisfies the literals of `body`.
    pub(super) fn solve(
        &mut self,
        scope: &Scope<'_>,
        body: &[Literal],
        binding: &Binding,
        found: Found<'_, 'm>,
    ) -> ControlFlow<()> {
        let open: Vec<usize> = (0..body.len()).collect();
        self.open(scope, body, open, binding.clone(), found)
    }

    fn open(
        &mut self,
        scope: &Scope<'_>,
        body: &[Literal],
        mut open: Vec<usize>,
        mut binding: Binding,
        found: Found<'_, 'm>,
    ) -> ControlFlow<()> {
        if !self.settle(scope, body, &mut open, &mut binding) {
            return ControlFlow::Continue(());
        }
        if open.is_empty() {
            return found(self, &binding);
        }
        let Some((at, known)) = self.choose(body, &open, &binding) else {
            return ControlFlow::Continue(());
        };
        open.retain(|other| *other != at);
        match body.get(at).map(|literal| &literal.kind) {
            Some(LiteralKind::Call(callee, args)) => {
                let mut each = |this: &mut Self, row: &[Value]| {
                    this.burn()?;
                    let mut next = binding.clone();
                    if this.matches_row(args, row, &mut next) {
                        this.open(scope, body, open.clone(), next, found)?;
                    }
                    ControlFlow::Continue(())
                };
                self.rows(scope, *callee, &known, &mut each)
            }
            Some(LiteralKind::Member(item, list, _)) => {
                let Some(list) = self.value(list, &binding) else {
                    return ControlFlow::Continue(());
                };
                let items: Vec<Value> = self.constants.members(list).collect();
                for value in items {
                    self.burn()?;
                    let mut next = binding.clone();
                    if self.matches(item, value, &mut next) {
                        self.open(scope, body, open.clone(), next, found)?;
                    }
                }
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    pub(super) fn burn(&mut self) -> ControlFlow<()> {
        if let Some(fuel) = &mut self.fuel {
            match fuel.checked_sub(1) {
                Some(rest) => *fuel = rest,
                None => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls `each` for the rows with the known values that the scope admits.
    fn rows(
        &mut self,
        scope: &Scope<'_>,
        callee: PredicateId,
        known: &[Option<Value>],
        each: &mut dyn FnMut(&mut Self, &[Value]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let model = self.model;
        let graph = &model.rulebase().data.graph;
        let older = scope
            .older
            .filter(|older| graph.component_of(callee) == older.component);
        match older {
            Some(older) if known.iter().any(Option::is_none) => {
                // The oldest tell of short derivations; the newest are those that led to the one in question.
                let aged = self.aged(callee, known);
                let mut rest = aged
                    .get(..aged.partition_point(|aged| aged.birth < older.birth))
                    .unwrap_or_default();
                while let Some((oldest, later)) = rest.split_first() {
                    rest = later;
                    each(self, &oldest.row)?;
                    if let Some((newest, earlier)) = rest.split_last() {
                        rest = earlier;
                        each(self, &newest.row)?;
                    }
                }
                ControlFlow::Continue(())
            }
            _ => {
                model.matching(callee, known, &mut |birth, row| {
                    if older.is_none_or(|older| birth < older.birth) {
                        each(self, row)?;
                    }
                    ControlFlow::Continue(())
                })?;
                let mut at = 0;
                while let Some((other, row)) = self.extra.get(at) {
                    at += 1;
                    let fits = |(known, value): (&Option<Value>, &Value)| {
                        known.is_none_or(|known| known == *value)
                    };
                    if *other == callee && known.iter().zip(row).all(fits) {
                        let row = row.clone();
                        each(self, &row)?;
                    }
                }
                ControlFlow::Continue(())
            }
        }
    }

    /// A constant that occurs nowhere yet.
    pub(super) fn unused(&mut self) -> Value {
        let mut number = self.constants.len();
        loop {
            let name = format!("any{number}");
            match self.constants.find_atom(&name) {
                None => return self.constants.atom(&name),
                Some(_) => number = number.wrapping_add(1),
            }
        }
    }

    fn aged(&mut self, callee: PredicateId, known: &[Option<Value>]) -> Rc<[Aged]> {
        let key = (callee, known.into());
        if let Some(aged) = self.aged.get(&key) {
            return Rc::clone(aged);
        }
        let mut aged = Vec::new();
        let _ = self.model.matching(callee, known, &mut |birth, row| {
            let row = row.into();
            aged.push(Aged { birth, row });
            ControlFlow::Continue(())
        });
        aged.sort_unstable_by_key(|aged| aged.birth);
        self.aged_rows += aged.len();
        if self.aged_rows > MAX_AGED {
            self.aged.clear();
            self.aged_rows = aged.len();
        }
        let aged: Rc<[Aged]> = aged.into();
        self.aged.insert(key, Rc::clone(&aged));
        aged
    }

    /// Evaluates the tests that can be, until none is left; whether all hold.
    fn settle(
        &mut self,
        scope: &Scope<'_>,
        body: &[Literal],
        open: &mut Vec<usize>,
        binding: &mut Binding,
    ) -> bool {
        loop {
            let before = open.len();
            // Negations may cost more than what else there is to test.
            for negations in [false, true] {
                let mut at = 0;
                while let Some(number) = open.get(at).copied() {
                    let Some(literal) = body.get(number) else {
                        return false;
                    };
                    if matches!(literal.kind, LiteralKind::Not(..)) != negations {
                        at += 1;
                        continue;
                    }
                    match self.test(scope, literal, binding) {
                        Some(false) => return false,
                        Some(true) => drop(open.remove(at)),
                        None => at += 1,
                    }
                }
                if open.len() < before {
                    break;
                }
            }
            if open.len() == before {
                return true;
            }
        }
    }

    /// Whether a literal that gives no choice holds; `None` if it cannot be said yet, or gives one.
    pub(super) fn test(
        &mut self,
        scope: &Scope<'_>,
        literal: &Literal,
        binding: &mut Binding,
    ) -> Option<bool> {
        match &literal.kind {
            LiteralKind::Call(..) => None,
            LiteralKind::Fail => Some(false),
            LiteralKind::Not(bodies, _) => {
                if !scope.is_closed(literal, binding) {
                    return None;
                }
                // Out of fuel it is not known to hold.
                Some(self.exists(scope, bodies, binding) == Some(false))
            }
            LiteralKind::Unify(variable, pattern) => {
                let left = Pattern::Variable(*variable);
                match (self.value(&left, binding), self.value(pattern, binding)) {
                    (Some(value), _) => Some(self.matches(pattern, value, binding)),
                    (None, Some(value)) => Some(self.matches(&left, value, binding)),
                    (None, None) => None,
                }
            }
            LiteralKind::Identical(equal, left, right) => {
                let (left, right) = (self.value(left, binding)?, self.value(right, binding)?);
                Some((left == right) == *equal)
            }
            LiteralKind::Order(outcomes, left, right) => {
                let (left, right) = (self.value(left, binding)?, self.value(right, binding)?);
                Some(outcomes.admit(self.constants.compare(left, right)))
            }
            LiteralKind::Compare(outcomes, left, right) => {
                let (left, right) = (self.number(left, binding)?, self.number(right, binding)?);
                // What has no value here was not come to in the evaluation: something to its left does not hold.
                let order = left
                    .zip(right)
                    .and_then(|(left, right)| compare_numbers(&left, &right).ok());
                Some(order.is_some_and(|order| outcomes.admit(order)))
            }
            LiteralKind::Is(left, right) => {
                let Some(number) = self.number(right, binding)? else {
                    return Some(false);
                };
                let value = number.intern(&mut self.constants);
                Some(self.matches(left, value, binding))
            }
            LiteralKind::Member(item, list, _) => {
                let list = self.value(list, binding)?;
                let item = self.value(item, binding)?;
                Some(self.constants.members(list).any(|member| member == item))
            }
        }
    }

    /// The value of an expression: `None` if a variable has none, `Some(None)` if there is no such number.
    pub(super) fn number(
        &self,
        expression: &Expression,
        binding: &[Option<Value>],
    ) -> Option<Option<Number>> {
        let value = |variable: Variable| binding.get(variable.index()).copied().flatten();
        let mut open = false;
        expression.each_variable(&mut |variable| open |= value(variable).is_none());
        let known = |variable| value(variable).unwrap_or(Value(0));
        (!open).then(|| evaluate_expression(expression, &self.constants, &known).ok())
    }

    /// Whether one of the conjunctions is satisfiable; `None` if the fuel ran out first.
    pub(super) fn exists(
        &mut self,
        scope: &Scope<'_>,
        bodies: &[Vec<Literal>],
        binding: &Binding,
    ) -> Option<bool> {
        for body in bodies {
            let mut any = false;
            let flow = self.solve(scope, body, binding, &mut |_, _| {
                any = true;
                ControlFlow::Break(())
            });
            match flow {
                ControlFlow::Break(()) if any => return Some(true),
                ControlFlow::Break(()) => return None,
                ControlFlow::Continue(()) => {}
            }
        }
        Some(false)
    }

    /// The open literal that gives the fewest choices, with what is known of its columns.
    fn choose(
        &mut self,
        body: &[Literal],
        open: &[usize],
        binding: &Binding,
    ) -> Option<(usize, Vec<Option<Value>>)> {
        let mut calls = Vec::new();
        for at in open {
            match body.get(*at).map(|literal| &literal.kind) {
                Some(LiteralKind::Call(callee, args)) => {
                    let known: Vec<Option<Value>> =
                        args.iter().map(|arg| self.value(arg, binding)).collect();
                    if known.iter().all(Option::is_some) {
                        return Some((*at, known));
                    }
                    calls.push((*at, *callee, known));
                }
                Some(LiteralKind::Member(_, list, _)) if self.value(list, binding).is_some() => {
                    return Some((*at, Vec::new()));
                }
                _ => {}
            }
        }
        if let [_] = &*calls {
            return calls.pop().map(|(at, _, known)| (at, known));
        }
        let mut best = None;
        for most in PEEKS {
            best = calls
                .iter()
                .enumerate()
                .map(|(order, (_, callee, known))| (self.count(*callee, known, most), order))
                .min();
            if best.is_none_or(|(count, _)| count < most) {
                break;
            }
        }
        let (_, order) = best?;
        (order < calls.len())
            .then(|| calls.swap_remove(order))
            .map(|(at, _, known)| (at, known))
    }

    /// How many rows have the known values, up to `most`.
    fn count(&self, callee: PredicateId, known: &[Option<Value>], most: usize) -> usize {
        let mut count = 0;
        let _ = self.model.matching(callee, known, &mut |_, _| {
            count += 1;
            match count < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        count
    }
}
