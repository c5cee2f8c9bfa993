//! Runs plans tuple by tuple: terms, arithmetic, lists and nested negations, which batches leave out.
//!
//! Nothing here decides an order; that was settled when planning.

use super::arithmetic::{self, Undefined};
use super::evaluate::{Evaluator, Failure};
use super::index::NO_ROW;
use super::plan::{Match, Plan, Scan, Step};
use crate::analysis::rule::{Listness, Pattern, PredicateId, Variable};
use crate::source::Span;
use crate::value::{Constant, Value};

/// What a step makes of the bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Go on to the next match.
    Next,
    /// One success was all that was asked for.
    Stop,
}

/// What to do with a binding that satisfies all steps.
#[derive(Clone, Copy)]
pub(super) enum Goal<'p> {
    Derive(&'p Plan),
    Exists,
}

impl Evaluator<'_> {
    fn get(&self, variable: Variable) -> Value {
        self.frame
            .get(variable.index())
            .copied()
            .unwrap_or(Value(0))
    }

    pub(super) fn steps(&mut self, steps: &[Step], goal: Goal<'_>) -> Result<Flow, Failure> {
        let Some((step, rest)) = steps.split_first() else {
            return match goal {
                Goal::Exists => Ok(Flow::Stop),
                Goal::Derive(plan) => self.emit(plan),
            };
        };
        let holds = match step {
            Step::Scan(scan) => return self.scan(scan, rest, goal),
            Step::Member(item, list, listness) => {
                return self.member(item, list, *listness, rest, goal);
            }
            Step::Lookup(predicate, args) => {
                self.count_firings(1, self.head)?;
                self.lookup(*predicate, args)
            }
            Step::Not(bodies) => {
                let mut found = false;
                for body in bodies {
                    if self.steps(body, Goal::Exists)? == Flow::Stop {
                        found = true;
                        break;
                    }
                }
                !found
            }
            Step::Take(from, to) => {
                let value = self.build(from)?;
                self.matches(to, value)
            }
            Step::Identical(equal, left, right) => {
                (self.build(left)? == self.build(right)?) == *equal
            }
            Step::Order(outcomes, left, right) => {
                let (left, right) = (self.build(left)?, self.build(right)?);
                outcomes.admit(self.constants.compare(left, right))
            }
            Step::Compare(outcomes, left, right, span) => {
                let order = arithmetic::evaluate(left, &self.constants, &|v| self.get(v))
                    .and_then(|left| {
                        let right = arithmetic::evaluate(right, &self.constants, &|v| self.get(v))?;
                        arithmetic::compare(&left, &right)
                    })
                    .map_err(|error| undefined(&error, *span))?;
                outcomes.admit(order)
            }
            Step::Is(to, expression, span) => {
                let number = arithmetic::evaluate(expression, &self.constants, &|v| self.get(v))
                    .map_err(|error| undefined(&error, *span))?;
                let before = self.constants.len();
                let value = number.intern(&mut self.constants);
                self.count_constants(before)?;
                self.matches(to, value)
            }
            Step::Fail => false,
        };
        if holds {
            self.steps(rest, goal)
        } else {
            Ok(Flow::Next)
        }
    }

    fn emit(&mut self, plan: &Plan) -> Result<Flow, Failure> {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        for arg in &plan.args {
            row.push(self.build(arg)?);
        }
        let new = self
            .open_relation(plan.head)
            .is_some_and(|relation| relation.insert(&row));
        self.row = row;
        if new {
            self.count_tuples(1, plan.head)?;
        }
        Ok(Flow::Next)
    }

    fn lookup(&self, predicate: PredicateId, args: &[Pattern]) -> bool {
        match (self.relation(predicate), self.find_all(args)) {
            (Some(relation), Some(row)) => relation.contains(&row),
            _ => false,
        }
    }

    /// The values of bound patterns, if all are known constants.
    fn find_all(&self, patterns: &[Pattern]) -> Option<Vec<Value>> {
        patterns.iter().map(|pattern| self.find(pattern)).collect()
    }

    fn find(&self, pattern: &Pattern) -> Option<Value> {
        match pattern {
            Pattern::Constant(value) => Some(*value),
            Pattern::Variable(variable) => Some(self.get(*variable)),
            Pattern::Compound(name, args) => {
                let args = self.find_all(args)?;
                self.constants
                    .find(&Constant::Compound(name.clone(), args.into()))
            }
        }
    }

    fn scan(&mut self, scan: &Scan, rest: &[Step], goal: Goal<'_>) -> Result<Flow, Failure> {
        let rows = self.rows(scan.predicate, scan.part);
        if scan.columns.is_empty() {
            for at in rows {
                if let Some(flow) = self.visit(scan, at, rest, goal)? {
                    return Ok(flow);
                }
            }
            return Ok(Flow::Next);
        }
        let Some(key) = self.find_all(&scan.key) else {
            return Ok(Flow::Next);
        };
        let mut at = self.newest(scan.predicate, &scan.columns, &key);
        while at != NO_ROW && at >= rows.start {
            if at >= rows.end {
                self.count_firings(1, self.head)?;
            } else if let Some(flow) = self.visit(scan, at, rest, goal)? {
                return Ok(flow);
            }
            at = self.older(scan.predicate, &scan.columns, &key, at);
        }
        Ok(Flow::Next)
    }

    /// One row of a scan; `Some` ends the scan.
    fn visit(
        &mut self,
        scan: &Scan,
        at: u32,
        rest: &[Step],
        goal: Goal<'_>,
    ) -> Result<Option<Flow>, Failure> {
        self.count_firings(1, self.head)?;
        if !self
            .relation(scan.predicate)
            .is_some_and(|relation| relation.is_live(at))
        {
            return Ok(None);
        }
        for (column, pattern) in &scan.rest {
            let value = self
                .relation(scan.predicate)
                .and_then(|relation| relation.cell(at, *column));
            if !value.is_some_and(|value| self.matches(pattern, value)) {
                return Ok(None);
            }
        }
        let flow = self.steps(rest, goal)?;
        Ok((scan.first_only || flow == Flow::Stop).then_some(flow))
    }

    fn member(
        &mut self,
        item: &Match,
        list: &Pattern,
        listness: Listness,
        rest: &[Step],
        goal: Goal<'_>,
    ) -> Result<Flow, Failure> {
        let mut parts = list;
        loop {
            match parts {
                Pattern::Compound(name, args) if &**name == "[|]" => {
                    let [head, tail] = &**args else {
                        return Ok(Flow::Next);
                    };
                    let value = self.build(head)?;
                    self.count_firings(1, self.head)?;
                    if self.matches(item, value) && self.steps(rest, goal)? == Flow::Stop {
                        return Ok(Flow::Stop);
                    }
                    parts = tail;
                }
                Pattern::Compound(..) => return Ok(Flow::Next),
                Pattern::Constant(_) | Pattern::Variable(_) => break,
            }
        }
        let Some(mut cell) = self.find(parts) else {
            return Ok(Flow::Next);
        };
        while let Some((head, tail)) = self.constants.cell(cell) {
            self.count_firings(1, self.head)?;
            if self.matches(item, head) && self.steps(rest, goal)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
            cell = tail;
        }
        if listness == Listness::Demanded && *self.constants.get(cell) != Constant::Nil {
            let end = self.constants.text(cell);
            return Err(Failure::Evaluation(
                self.span,
                format!("`memberchk` comes to `{end}` where the end of a list is due"),
            ));
        }
        Ok(Flow::Next)
    }

    /// The value of a bound pattern, interned.
    fn build(&mut self, pattern: &Pattern) -> Result<Value, Failure> {
        match pattern {
            Pattern::Constant(value) => Ok(*value),
            Pattern::Variable(variable) => Ok(self.get(*variable)),
            Pattern::Compound(name, args) => {
                let args: Vec<Value> = args
                    .iter()
                    .map(|arg| self.build(arg))
                    .collect::<Result<_, _>>()?;
                let before = self.constants.len();
                let value = self
                    .constants
                    .compound(name, &args)
                    .map_err(|error| Failure::Evaluation(self.span, error.to_string()))?;
                self.count_constants(before)?;
                Ok(value)
            }
        }
    }

    fn matches(&mut self, pattern: &Match, value: Value) -> bool {
        match pattern {
            Match::Constant(constant) => *constant == value,
            Match::Same(variable) => self.get(*variable) == value,
            Match::Bind(variable) => {
                if let Some(slot) = self.frame.get_mut(variable.index()) {
                    *slot = value;
                }
                true
            }
            Match::Compound(name, args) => {
                let parts: Vec<Value> = match self.constants.get(value) {
                    Constant::Compound(other, parts)
                        if other == name && parts.len() == args.len() =>
                    {
                        parts.to_vec()
                    }
                    _ => return false,
                };
                args.iter()
                    .zip(parts)
                    .all(|(arg, part)| self.matches(arg, part))
            }
        }
    }
}

fn undefined(error: &Undefined, span: Span) -> Failure {
    Failure::Evaluation(span, error.to_string())
}
