//! Terms, numbers and lists in the clauses of a rule: taken apart, made, counted.
//!
//! What may have no value goes through the clause that it stands in, which then has none.

use super::rule::{Body, Refusal, RuleWriter, refusal};
use super::step::Step;
use crate::analysis::rule::{BinaryOperator, Expression, Outcomes, Pattern, UnaryOperator};
use crate::source::Span;

impl<'r> RuleWriter<'_, '_, 'r> {
    /// What stands at a place that gives a value: the variable that it binds, `_`, or a temporary that is looked at next.
    pub(super) fn slot<'q>(
        &mut self,
        pattern: &'q Pattern,
        pending: &mut Vec<(&'q Pattern, String)>,
        body: &mut Body<'r>,
    ) -> String {
        match pattern {
            Pattern::Variable(variable) if !body.is_bound(*variable) => {
                if self.occurs_once(*variable) {
                    return "_".to_owned();
                }
                body.bind(*variable);
                self.variable(*variable)
            }
            _ => {
                let value = self.temporary();
                pending.push((pattern, value.clone()));
                value
            }
        }
    }

    /// Matches a value with a pattern.
    pub(super) fn take_apart(
        &mut self,
        pattern: &Pattern,
        value: String,
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        let step = match pattern {
            Pattern::Constant(constant) => {
                Step::If(format!("{value} == {}", self.program.constant(*constant)))
            }
            Pattern::Variable(variable) if body.is_bound(*variable) => {
                Step::If(format!("{value} == {}", self.variable(*variable)))
            }
            Pattern::Variable(variable) if self.occurs_once(*variable) => return Ok(()),
            Pattern::Variable(variable) => {
                body.bind(*variable);
                Step::Let {
                    pattern: self.variable(*variable),
                    value,
                    refutable: false,
                }
            }
            Pattern::Compound(name, args) => {
                let mut pending = Vec::new();
                let slots: Vec<String> = args
                    .iter()
                    .map(|arg| self.slot(arg, &mut pending, body))
                    .collect();
                body.terms = true;
                let step = Step::Let {
                    pattern: format!("Some([{}])", slots.join(", ")),
                    value: format!("terms.parts({value}, {name:?})"),
                    refutable: true,
                };
                self.push(step, span, body)?;
                for (arg, value) in pending {
                    self.take_apart(arg, value, span, body)?;
                }
                return Ok(());
            }
        };
        self.push(step, span, body)
    }

    /// The value of a bound pattern, made if it occurs nowhere.
    pub(super) fn build(
        &mut self,
        pattern: &Pattern,
        body: &mut Body<'r>,
        span: Span,
    ) -> Result<String, Refusal> {
        match pattern {
            Pattern::Constant(value) => Ok(self.program.constant(*value)),
            Pattern::Variable(variable) => Ok(self.variable(*variable)),
            Pattern::Compound(name, args) => {
                let args = args
                    .iter()
                    .map(|arg| self.build(arg, body, span))
                    .collect::<Result<Vec<String>, Refusal>>()?;
                let value = format!(
                    "{}.build({name:?}, &[{}])",
                    self.clause(body),
                    args.join(", ")
                );
                self.value(value, body, span)
            }
        }
    }

    /// The value of a bound pattern, or one that no fact has.
    pub(super) fn find(
        &mut self,
        pattern: &Pattern,
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<String, Refusal> {
        match pattern {
            Pattern::Constant(value) => Ok(self.program.constant(*value)),
            Pattern::Variable(variable) => Ok(self.variable(*variable)),
            Pattern::Compound(name, args) => {
                let args = args
                    .iter()
                    .map(|arg| self.find(arg, span, body))
                    .collect::<Result<Vec<String>, Refusal>>()?;
                let temporary = self.temporary();
                body.terms = true;
                let step = Step::Let {
                    pattern: temporary.clone(),
                    value: format!("terms.find({name:?}, &[{}])", args.join(", ")),
                    refutable: false,
                };
                self.push(step, span, body)?;
                Ok(temporary)
            }
        }
    }

    pub(super) fn expression(
        &mut self,
        expression: &Expression,
        body: &mut Body<'r>,
        span: Span,
    ) -> Result<String, Refusal> {
        match expression {
            Expression::Constant(value) => Ok(self.program.constant(*value)),
            Expression::Variable(variable) => Ok(self.variable(*variable)),
            Expression::Unary(operator, inner) => {
                let inner = self.expression(inner, body, span)?;
                let function = match operator {
                    UnaryOperator::Minus => "-",
                    UnaryOperator::Plus => "+",
                    UnaryOperator::Absolute => "abs",
                };
                self.evaluate(function, &[inner], body, span)
            }
            Expression::Binary(operator, sides) => {
                let left = self.expression(&sides.0, body, span)?;
                let right = self.expression(&sides.1, body, span)?;
                let function = match operator {
                    BinaryOperator::Add => "+",
                    BinaryOperator::Subtract => "-",
                    BinaryOperator::Multiply => "*",
                    BinaryOperator::Divide => "/",
                    BinaryOperator::IntegerDivide => "//",
                    BinaryOperator::Modulo => "mod",
                    BinaryOperator::Remainder => "rem",
                    BinaryOperator::Minimum => "min",
                    BinaryOperator::Maximum => "max",
                };
                self.evaluate(function, &[left, right], body, span)
            }
        }
    }

    pub(super) fn evaluate(
        &mut self,
        function: &str,
        args: &[String],
        body: &mut Body<'r>,
        span: Span,
    ) -> Result<String, Refusal> {
        let args = args.join(", ");
        let value = format!("{}.evaluate({function:?}, [{args}])", self.clause(body));
        self.value(value, body, span)
    }

    /// A temporary for what may have no value.
    fn value(&mut self, value: String, body: &mut Body<'r>, span: Span) -> Result<String, Refusal> {
        let temporary = self.temporary();
        let step = Step::Let {
            pattern: format!("Some({temporary})"),
            value,
            refutable: true,
        };
        self.push(step, span, body)?;
        Ok(temporary)
    }

    /// One item after the other: those written out, then those of the list that is the rest.
    pub(super) fn member(
        &mut self,
        item: &Pattern,
        list: &Pattern,
        demanded: bool,
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        let (mut written, mut rest) = (Vec::new(), list);
        while let Pattern::Compound(name, args) = rest {
            let (true, [head, tail]) = (&**name == "[|]", &**args) else {
                break;
            };
            written.push(self.build(head, body, span)?);
            rest = tail;
        }
        let end = match rest {
            Pattern::Compound(..) => None,
            Pattern::Constant(value) => Some(self.program.constant(*value)),
            Pattern::Variable(variable) => Some(self.variable(*variable)),
        };
        let items = match (&*written, &end) {
            ([], None) => {
                body.ended = true;
                return self.push(Step::If("false".to_owned()), span, body);
            }
            (written, None) => format!("[{}]", written.join(", ")),
            ([], Some(end)) => format!("terms.members({end})"),
            (written, Some(end)) => format!(
                "[{}].into_iter().chain(terms.members({end}))",
                written.join(", ")
            ),
        };
        let after = match &end {
            Some(end) if demanded => format!("{}.end({end})", self.clause(body)),
            _ => String::new(),
        };
        body.terms |= end.is_some();
        let mut pending = Vec::new();
        let pattern = self.slot(item, &mut pending, body);
        let step = Step::For {
            pattern,
            items,
            after,
        };
        self.push(step, span, body)?;
        for (item, value) in pending {
            self.take_apart(item, value, span, body)?;
        }
        Ok(())
    }

    pub(super) fn outcome(&self, outcomes: Outcomes, span: Span) -> Result<&'static str, Refusal> {
        Ok(match (outcomes.less, outcomes.equal, outcomes.greater) {
            (true, false, false) => "is_lt",
            (true, true, false) => "is_le",
            (false, false, true) => "is_gt",
            (false, true, true) => "is_ge",
            (false, true, false) => "is_eq",
            (true, false, true) => "is_ne",
            _ => return Err(refusal(span, "this comparison cannot be compiled").into()),
        })
    }
}
