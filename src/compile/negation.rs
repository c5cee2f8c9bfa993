//! Negated conjunctions: a tuple that is absent, a condition, or a relation of their own (Lloyd and Topor).
//!
//! Such a relation holds the bindings for which the conjunction is satisfied. Where it cannot bind them all by itself, or does
//! arithmetic, it starts from a relation of the bindings with which the rule comes to the negation. That must not be one
//! that the recursion is still deriving.

use super::module::Written;
use super::rule::{Body, MAX_ARITY, Refusal, RuleWriter, refusal};
use super::step::{Step, nested};
use crate::analysis::rule::{Literal, LiteralKind, Pattern, Variable};
use crate::source::Span;

type Conjunction = Vec<Literal>;

impl<'r> RuleWriter<'_, '_, 'r> {
    /// None of the conjunctions is satisfied.
    pub(super) fn negation(
        &mut self,
        bodies: &'r [Conjunction],
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        let negated_twice = matches!(bodies, [one] if matches!(&**one, [Literal { kind: LiteralKind::Not(..), .. }]));
        if !negated_twice && bodies.iter().all(is_test) {
            let condition = self.condition(bodies, span, body)?;
            return self.push(Step::If(format!("!{condition}")), span, body);
        }
        bodies
            .iter()
            .try_for_each(|one| self.absent(one, span, body))
    }

    fn absent(
        &mut self,
        conjunction: &'r Conjunction,
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        let bodies = std::slice::from_ref(conjunction);
        match &**conjunction {
            [
                Literal {
                    kind: LiteralKind::Not(inner, _),
                    ..
                },
            ] => self.present(inner, span, body),
            _ if is_test(conjunction) => {
                let condition = self.condition(bodies, span, body)?;
                self.push(Step::If(format!("!{condition}")), span, body)
            }
            [
                Literal {
                    kind: LiteralKind::Call(callee, args),
                    ..
                },
            ] if args.iter().all(|arg| self.is_field(arg, body)) => {
                let mut fields = Vec::new();
                for arg in args {
                    fields.push(match arg {
                        Pattern::Variable(variable) if !body.is_bound(*variable) => "_".to_owned(),
                        _ => self.find(arg, span, body)?,
                    });
                }
                let fact = self.program.relation(*callee, &fields);
                self.push(Step::Absent(fact), span, body)
            }
            _ => {
                let fact = self.auxiliary(bodies, span, body)?;
                self.push(Step::Absent(fact), span, body)
            }
        }
    }

    /// One of the conjunctions is satisfied: what is negated twice.
    fn present(
        &mut self,
        bodies: &'r [Conjunction],
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<(), Refusal> {
        if bodies.iter().all(is_test) {
            let condition = self.condition(bodies, span, body)?;
            return self.push(Step::If(condition), span, body);
        }
        match bodies {
            [only] => self.sequence(only, None, body),
            _ => {
                let fact = self.auxiliary(bodies, span, body)?;
                self.push(Step::Fact(fact), span, body)
            }
        }
    }

    /// Whether a negated call can have the argument as it stands.
    fn is_field(&self, arg: &Pattern, body: &Body<'_>) -> bool {
        body.all_bound(arg)
            || matches!(arg, Pattern::Variable(variable) if self.occurs_once(*variable))
    }

    /// Whether one of the conjunctions, all of them tests, is satisfied: a Rust expression.
    fn condition(
        &mut self,
        bodies: &'r [Conjunction],
        span: Span,
        body: &mut Body<'r>,
    ) -> Result<String, Refusal> {
        let label = self.label();
        let mut text = String::new();
        for conjunction in bodies {
            let mut inner = Body::new(body.bound.clone());
            self.sequence(conjunction, None, &mut inner)?;
            body.terms |= inner.terms;
            let found = nested(&inner.steps, &format!("break {label} true;"));
            text.push_str(
                &found.ok_or_else(|| refusal(span, "this condition cannot be compiled"))?,
            );
            text.push(' ');
        }
        Ok(format!("({label}: {{ {text}false }})"))
    }

    /// A relation of the bindings that satisfy one of the conjunctions, as a fact over these bindings.
    fn auxiliary(
        &mut self,
        bodies: &'r [Conjunction],
        span: Span,
        body: &Body<'r>,
    ) -> Result<String, Refusal> {
        let mut shared: Vec<Variable> = Vec::new();
        for literal in bodies.iter().flatten() {
            literal.each_variable(&mut |variable| {
                if body.is_bound(variable) && !shared.contains(&variable) {
                    shared.push(variable);
                }
            });
        }
        if shared.len() > MAX_ARITY {
            return Err(refusal(
                span,
                format!("a negated conjunction with more than {MAX_ARITY} variables of the rule around it"),
            )
            .help("give it a predicate of its own, and negate that")
            .into());
        }
        // Arithmetic is done with exactly the bindings that come to it.
        let computes = bodies.iter().flatten().any(Literal::is_arithmetic);
        let mut starts: Vec<Body<'r>> = Vec::new();
        if !computes {
            starts.push(Body::new(vec![false; body.bound.len()]));
        }
        if !body.recursive {
            starts.push(body.clone());
        } else if !computes {
            let mut calls = Body::new(vec![false; body.bound.len()]);
            for (callee, args) in &body.calls {
                self.call(*callee, args, span, &mut calls)?;
            }
            starts.push(calls);
        }
        for start in starts {
            let before = (
                self.program.rules.len(),
                self.program.auxiliaries.len(),
                self.size,
            );
            match self.starting_from(start, bodies, &shared) {
                Ok(Some(fact)) => return Ok(fact),
                Err(refused) if self.is_too_long() => return Err(refused),
                Ok(None) | Err(_) => {
                    self.program.rules.truncate(before.0);
                    self.program.auxiliaries.truncate(before.1);
                    self.size = before.2;
                }
            }
        }
        let what = match computes {
            true => "a negated conjunction that does arithmetic in a recursive rule",
            false => "a negated conjunction that needs a binding which only the recursion brings",
        };
        Err(refusal(span, what)
            .help("give the conjunction a predicate of its own that binds its arguments, and negate that")
            .into())
    }

    /// The relation with the bindings of `start` to begin with; `None` if that does not bind all it is asked for.
    fn starting_from(
        &mut self,
        start: Body<'r>,
        bodies: &'r [Conjunction],
        shared: &[Variable],
    ) -> Result<Option<String>, Refusal> {
        let bound: Vec<Variable> = shared
            .iter()
            .copied()
            .filter(|variable| start.is_bound(*variable))
            .collect();
        let mut inner = Body::new(vec![false; start.bound.len()]);
        if !start.steps.is_empty() {
            let head = self.fact("Before", &bound);
            self.write_rule(&head, start.steps, start.terms);
            inner.steps.push(Step::Fact(head));
            bound.iter().for_each(|variable| inner.bind(*variable));
        }
        // With one conjunction that may have no value, each is tried only where none before it is satisfied.
        let in_turn = bodies.len() > 1 && bodies.iter().flatten().any(Literal::is_arithmetic);
        let all = self.fact("Found", shared);
        for conjunction in bodies {
            let head = match in_turn {
                true => self.fact("Found", shared),
                false => all.clone(),
            };
            let mut body = inner.clone();
            self.sequence(conjunction, None, &mut body)?;
            if in_turn {
                self.write_rule(&all, vec![Step::Fact(head.clone())], false);
                inner.steps.push(Step::Absent(head.clone()));
            }
            if body.ended {
                continue;
            }
            if !shared.iter().all(|variable| body.is_bound(*variable)) {
                return Ok(None);
            }
            self.write_rule(&head, body.steps, body.terms);
        }
        Ok(Some(all))
    }

    fn write_rule(&mut self, head: &str, steps: Vec<Step>, terms: bool) {
        self.program.rules.push(Written {
            head: head.to_owned(),
            steps,
            terms,
            span: self.rule.span,
        });
    }

    /// A new relation over these variables.
    fn fact(&mut self, kind: &str, variables: &[Variable]) -> String {
        let auxiliaries = &mut self.program.auxiliaries;
        let name = format!("{kind}{}", auxiliaries.len());
        auxiliaries.push((name.clone(), variables.len()));
        let fields: Vec<String> = variables
            .iter()
            .map(|variable| self.variable(*variable))
            .collect();
        format!("{name}({})", fields.join(", "))
    }
}

/// Whether no relation is needed to decide it.
fn is_test(conjunction: &Conjunction) -> bool {
    let mut calls = false;
    for literal in conjunction {
        literal.each_call(&mut |_, _, _| calls = true);
    }
    !calls
}
