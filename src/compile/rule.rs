//! One rule as clauses of `crepe!`.
//!
//! Literals stand in the order written, but tests come as soon as what they test is bound, and of several calls the first
//! that has something bound. What may have no value is a barrier, as in the engine: it is evaluated on exactly the
//! bindings that satisfy all to its left. Nothing here depends on facts.

use super::module::{Program, Written};
use super::names;
use super::step::Step;
use crate::analysis::rule::{
    Expression, Literal, LiteralKind, Pattern, PredicateId, Rule, Variable,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// How many clauses a rule may have, those of its conditions included: each nests one level deeper in what rustc sees.
const MAX_STEPS: usize = 100;
/// How many arguments a relation may have: crepe looks tuples up by tuples, and Rust compares them up to this length.
pub(super) const MAX_ARITY: usize = 12;

/// Why a rule cannot be compiled.
pub(super) type Refusal = Box<Diagnostic>;

/// A rule being written; its nested negations, too.
pub(super) struct RuleWriter<'p, 'd, 'r> {
    pub(super) program: &'p mut Program<'d>,
    pub(super) rule: &'r Rule,
    /// The position of its predicate, and which of its rules it is.
    site: (usize, usize),
    /// How often each variable occurs in the rule.
    counts: Vec<usize>,
    temporaries: usize,
    labels: usize,
    pub(super) size: usize,
}

/// A conjunction being written.
#[derive(Clone)]
pub(super) struct Body<'r> {
    pub(super) steps: Vec<Step>,
    pub(super) bound: Vec<bool>,
    /// Whether a clause needs the terms of the run.
    pub(super) terms: bool,
    /// Whether a clause is a relation of the component that the rule belongs to.
    pub(super) recursive: bool,
    /// Whether nothing satisfies it: what comes behind is left out.
    pub(super) ended: bool,
    /// The calls that were written and are not recursive.
    pub(super) calls: Vec<(PredicateId, &'r [Pattern])>,
}

impl Body<'_> {
    pub(super) fn new(bound: Vec<bool>) -> Self {
        Self {
            steps: Vec::new(),
            bound,
            terms: false,
            recursive: false,
            ended: false,
            calls: Vec::new(),
        }
    }

    pub(super) fn is_bound(&self, variable: Variable) -> bool {
        self.bound.get(variable.index()).copied().unwrap_or(false)
    }

    pub(super) fn bind(&mut self, variable: Variable) {
        if let Some(slot) = self.bound.get_mut(variable.index()) {
            *slot = true;
        }
    }

    pub(super) fn all_bound(&self, pattern: &Pattern) -> bool {
        pattern
            .variables()
            .into_iter()
            .all(|variable| self.is_bound(variable))
    }

    fn computable(&self, expression: &Expression) -> bool {
        let mut all = true;
        expression.each_variable(&mut |variable| all &= self.is_bound(variable));
        all
    }
}

impl<'p, 'd, 'r> RuleWriter<'p, 'd, 'r> {
    pub(super) fn new(program: &'p mut Program<'d>, rule: &'r Rule, site: (usize, usize)) -> Self {
        let mut counts = vec![0; rule.variables.len()];
        let mut add = |variable: Variable| {
            if let Some(slot) = counts.get_mut(variable.index()) {
                *slot += 1;
            }
        };
        rule.args.iter().for_each(|arg| arg.each_variable(&mut add));
        rule.body
            .iter()
            .for_each(|literal| literal.each_variable(&mut add));
        Self {
            program,
            rule,
            site,
            counts,
            temporaries: 0,
            labels: 0,
            size: 0,
        }
    }

    /// Writes the rule.
    pub(super) fn write(mut self) -> Result<(), Refusal> {
        let rule = self.rule;
        let mut body = Body::new(vec![false; rule.variables.len()]);
        self.sequence(&rule.body, Some(rule), &mut body)?;
        let fields = rule
            .args
            .iter()
            .map(|arg| match body.ended {
                // Nothing comes as far as the head.
                true if !body.all_bound(arg) => Ok("Symbol::NONE".to_owned()),
                _ => self.build(arg, &mut body, rule.head_span),
            })
            .collect::<Result<Vec<String>, Refusal>>()?;
        let head = self.program.relation(rule.head, &fields);
        self.program.rules.push(Written {
            head,
            steps: body.steps,
            terms: body.terms,
            span: rule.span,
        });
        Ok(())
    }

    /// Whether the literal waits until something outside a negation has bound its variables.
    fn is_ready(&self, literal: &Literal, body: &Body<'_>) -> bool {
        match &literal.kind {
            LiteralKind::Call(..) | LiteralKind::Fail => true,
            LiteralKind::Not(..) => {
                let mut inside = vec![0; self.counts.len()];
                literal.each_variable(&mut |variable| {
                    if let Some(slot) = inside.get_mut(variable.index()) {
                        *slot += 1;
                    }
                });
                inside
                    .iter()
                    .zip(&self.counts)
                    .zip(&body.bound)
                    .all(|((inside, all), bound)| *inside == 0 || inside == all || *bound)
            }
            LiteralKind::Unify(variable, pattern) => {
                body.is_bound(*variable) || body.all_bound(pattern)
            }
            LiteralKind::Identical(_, left, right) | LiteralKind::Order(_, left, right) => {
                body.all_bound(left) && body.all_bound(right)
            }
            LiteralKind::Compare(_, left, right) => body.computable(left) && body.computable(right),
            LiteralKind::Is(_, right) => body.computable(right),
            LiteralKind::Member(_, list, _) => body.all_bound(list),
        }
    }

    /// Writes a conjunction; `top` is the rule whose body it is, if it is one.
    pub(super) fn sequence(
        &mut self,
        literals: &'r [Literal],
        top: Option<&Rule>,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        let mut open: Vec<usize> = (0..literals.len()).collect();
        while !open.is_empty() && !body.ended {
            let Some(at) = self.next(literals, &open, top, body) else {
                let place = open.first().and_then(|at| literals.get(*at));
                let span = place.map_or(self.rule.span, |literal| literal.span);
                return Err(refusal(span, "no order binds all that is tested here")
                    .help("bind its variables by a literal before it")
                    .into());
            };
            open.retain(|other| *other != at);
            if let Some(literal) = literals.get(at) {
                self.literal(literal, body)?;
            }
        }
        Ok(())
    }

    fn next(
        &self,
        literals: &[Literal],
        open: &[usize],
        top: Option<&Rule>,
        body: &Body<'_>,
    ) -> Option<usize> {
        let barrier = open.iter().copied().find(|at| match top {
            Some(rule) => rule.is_barrier(*at),
            None => literals.get(*at).is_some_and(Literal::is_arithmetic),
        });
        let is_late = |at: usize| top.is_some_and(|rule| rule.postponed.contains(&at));
        let choose = |wanted: &dyn Fn(usize) -> bool| {
            let candidates: Vec<(usize, &Literal)> = open
                .iter()
                .filter(|at| wanted(**at))
                .filter_map(|at| Some((*at, literals.get(*at)?)))
                .collect();
            self.choose(&candidates, body)
        };
        choose(&|at| barrier.is_none_or(|barrier| at < barrier) && !is_late(at))
            .or_else(|| choose(&|at| Some(at) == barrier))
            .or_else(|| choose(&|at| !is_late(at)))
            .or_else(|| choose(&|_| true))
    }

    fn choose(&self, candidates: &[(usize, &Literal)], body: &Body<'_>) -> Option<usize> {
        let is_call = |literal: &Literal| matches!(literal.kind, LiteralKind::Call(..));
        let test = candidates
            .iter()
            .find(|(_, literal)| !is_call(literal) && self.is_ready(literal, body));
        let has_bound = |literal: &Literal| match &literal.kind {
            LiteralKind::Call(_, args) => {
                args.is_empty() || args.iter().any(|arg| body.all_bound(arg))
            }
            _ => false,
        };
        test.or_else(|| candidates.iter().find(|(_, literal)| has_bound(literal)))
            .or_else(|| candidates.iter().find(|(_, literal)| is_call(literal)))
            .map(|(at, _)| *at)
    }

    fn literal(&mut self, literal: &'r Literal, body: &mut Body<'r>) -> Result<(), Refusal> {
        let span = literal.span;
        match &literal.kind {
            LiteralKind::Call(callee, args) => self.call(*callee, args, span, body),
            LiteralKind::Not(bodies, _) => self.negation(bodies, span, body),
            LiteralKind::Unify(variable, pattern) => {
                if body.is_bound(*variable) {
                    let value = self.variable(*variable);
                    self.take_apart(pattern, value, span, body)
                } else {
                    let value = self.build(pattern, body, span)?;
                    self.take_apart(&Pattern::Variable(*variable), value, span, body)
                }
            }
            LiteralKind::Identical(equal, left, right) => {
                let (left, right) = (
                    self.build(left, body, span)?,
                    self.build(right, body, span)?,
                );
                let sign = if *equal { "==" } else { "!=" };
                self.push(Step::If(format!("{left} {sign} {right}")), span, body)
            }
            LiteralKind::Order(outcomes, left, right) => {
                let (left, right) = (
                    self.build(left, body, span)?,
                    self.build(right, body, span)?,
                );
                body.terms = true;
                let order = format!("terms.compare({left}, {right})");
                let test = self.outcome(*outcomes, span)?;
                self.push(Step::If(format!("{order}.{test}()")), span, body)
            }
            LiteralKind::Compare(outcomes, left, right) => {
                let left = self.expression(left, body, span)?;
                let right = self.expression(right, body, span)?;
                let order = format!("{}.compare({left}, {right})", self.clause(body));
                let test = self.outcome(*outcomes, span)?;
                let condition = format!("{order}.is_some_and(::core::cmp::Ordering::{test})");
                self.push(Step::If(condition), span, body)
            }
            LiteralKind::Is(left, right) => {
                let value = match right {
                    Expression::Constant(_) | Expression::Variable(_) => {
                        let plain = self.expression(right, body, span)?;
                        self.evaluate("+", &[plain], body, span)?
                    }
                    _ => self.expression(right, body, span)?,
                };
                self.take_apart(left, value, span, body)
            }
            LiteralKind::Member(item, list, listness) => {
                let demanded = *listness == crate::analysis::rule::Listness::Demanded;
                self.member(item, list, demanded, span, body)
            }
            LiteralKind::Fail => {
                body.ended = true;
                self.push(Step::If("false".to_owned()), span, body)
            }
        }
    }

    /// Whether the clause has more steps than it may have.
    pub(super) fn is_too_long(&self) -> bool {
        self.size > MAX_STEPS
    }

    pub(super) fn push(
        &mut self,
        step: Step,
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        self.size += 1;
        if self.is_too_long() {
            return Err(refusal(
                span,
                format!("this clause comes to more than {MAX_STEPS} steps"),
            )
            .help("give parts of it predicates of their own")
            .into());
        }
        body.steps.push(step);
        Ok(())
    }

    pub(super) fn call(
        &mut self,
        callee: PredicateId,
        args: &'r [Pattern],
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        let mut keys: Vec<Option<String>> = Vec::new();
        for arg in args {
            keys.push(match arg {
                Pattern::Compound(..) if body.all_bound(arg) => Some(self.find(arg, span, body)?),
                _ => None,
            });
        }
        let mut pending: Vec<(&Pattern, String)> = Vec::new();
        let mut fields = Vec::new();
        // What this very call binds cannot also be looked up by it.
        let before = body.bound.clone();
        for (arg, key) in args.iter().zip(keys) {
            fields.push(match (arg, key) {
                (_, Some(key)) => key,
                (Pattern::Constant(value), _) => self.program.constant(*value),
                (Pattern::Variable(variable), _)
                    if before.get(variable.index()).copied().unwrap_or(false) =>
                {
                    self.variable(*variable)
                }
                _ => self.slot(arg, &mut pending, body),
            });
        }
        let fact = self.program.relation(callee, &fields);
        self.push(Step::Fact(fact), span, body)?;
        if self.program.is_recursive(self.rule.head, callee) {
            body.recursive = true;
        } else {
            body.calls.push((callee, args));
        }
        for (arg, value) in pending {
            self.take_apart(arg, value, span, body)?;
        }
        Ok(())
    }

    /// What in this rule may have no value is done through this.
    pub(super) fn clause(&self, body: &mut Body<'r>) -> String {
        body.terms = true;
        format!("terms.at({}, {})", self.site.0, self.site.1)
    }

    pub(super) fn variable(&self, variable: Variable) -> String {
        names::variable(self.rule.name(variable), variable.0)
    }

    pub(super) fn occurs_once(&self, variable: Variable) -> bool {
        self.counts.get(variable.index()) == Some(&1)
    }

    pub(super) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("t{}", self.temporaries)
    }

    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("'n{}", self.labels)
    }
}

pub(super) fn refusal(span: Span, what: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::NotCompiled, span, what)
}
