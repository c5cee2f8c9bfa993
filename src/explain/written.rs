//! How the literals of a rule are written once values stand for their variables.
//!
//! Nothing here says whether a literal holds.

use crate::analysis::Data;
use crate::analysis::rule::{
    BinaryOperator, Expression, Literal, LiteralKind, NotOrigin, Outcomes, Pattern, PredicateId,
    Rule, UnaryOperator, Variable,
};
use crate::source::Span;
use crate::syntax::operators;
use crate::syntax::{Term, TermKind};
use crate::value::{Constants, Value};

/// The values of a rule's variables, as far as they are known.
pub(super) type Binding = Vec<Option<Value>>;

/// What kind of support a literal of a rule gets in a proof.
#[derive(Clone, Copy, Debug)]
pub(super) enum Support<'r> {
    /// A tuple.
    Fact(PredicateId, &'r [Pattern]),
    /// A test, or what gives a variable its value.
    Test,
    /// A test that is written as one, but kept as a negation; it binds nothing.
    ClosedTest,
    /// That there is nothing of the sort.
    Absence(&'r [Vec<Literal>]),
    /// One of the conjunctions, for some values of its own variables.
    Witness(&'r [Vec<Literal>]),
}

/// What kind of support the literal gets.
pub(super) fn support(literal: &Literal) -> Support<'_> {
    match &literal.kind {
        LiteralKind::Call(callee, args) => Support::Fact(*callee, args),
        LiteralKind::Not(_, NotOrigin::NotUnifiable | NotOrigin::Memberchk) => Support::ClosedTest,
        LiteralKind::Not(bodies, _) => match doubly_negated(bodies) {
            Some(inner) => Support::Witness(inner),
            None if calls(literal) => Support::Absence(bodies),
            None => Support::ClosedTest,
        },
        _ => Support::Test,
    }
}

/// The alternatives of which one must hold when the negation of `bodies` does: it negates a negation.
fn doubly_negated(bodies: &[Vec<Literal>]) -> Option<&[Vec<Literal>]> {
    let [body] = bodies else { return None };
    match &**body {
        [
            Literal {
                kind: LiteralKind::Not(inner, NotOrigin::Negation | NotOrigin::Condition),
                ..
            },
        ] => Some(inner),
        _ => None,
    }
}

fn calls(literal: &Literal) -> bool {
    let mut any = false;
    literal.each_call(&mut |_, _, _| any = true);
    any
}

/// The name of the tuple: `name(values…)`.
pub(super) fn fact(
    data: &Data,
    constants: &Constants,
    predicate: PredicateId,
    row: &[Value],
) -> String {
    let args = row.iter().map(|value| constant(constants, *value));
    compound(data.predicates.key(predicate).name(), args.collect()).to_string()
}

/// A goal with the values of its variables in their places.
pub(super) fn instance(
    goal: &Term,
    rule: &Rule,
    binding: &[Option<Value>],
    constants: &Constants,
) -> String {
    let value_of = |name: &str| {
        let at = rule.variables.iter().position(|other| **other == *name)?;
        binding.get(at).copied().flatten()
    };
    substitute(goal, &|name| {
        (name != "_").then(|| value_of(name).map(|value| constant(constants, value)))?
    })
    .to_string()
}

fn substitute(term: &Term, value: &impl Fn(&str) -> Option<Term>) -> Term {
    let all = |parts: &[Term]| -> Vec<Term> {
        parts.iter().map(|part| substitute(part, value)).collect()
    };
    match &term.kind {
        TermKind::Variable(name) => value(name).unwrap_or_else(|| term.clone()),
        TermKind::Compound(name, args) => compound(name, all(args)),
        TermKind::Conjunction(parts) => new(TermKind::Conjunction(all(parts))),
        TermKind::Disjunction(parts) => new(TermKind::Disjunction(all(parts))),
        TermKind::List(items, tail) => {
            let mut items = all(items);
            let tail = tail.as_ref().map(|tail| substitute(tail, value));
            let tail = match tail.map(|tail| tail.kind) {
                Some(TermKind::List(more, tail)) => {
                    items.extend(more);
                    tail
                }
                Some(TermKind::Nil) | None => None,
                Some(kind) => Some(Box::new(new(kind))),
            };
            new(TermKind::List(items, tail))
        }
        _ => term.clone(),
    }
}

/// A term as a test is written: blanks around an operator.
pub(super) fn test(term: &Term) -> String {
    match &term.kind {
        TermKind::Compound(name, args) => match &**args {
            [left, right] if operators::infix(name).is_some() => {
                format!("{} {name} {}", operand(left), operand(right))
            }
            [inner] if &**name == "\\+" && !is_chain(inner) => format!("\\+ {inner}"),
            _ => term.to_string(),
        },
        _ => term.to_string(),
    }
}

fn is_chain(term: &Term) -> bool {
    matches!(
        term.kind,
        TermKind::Conjunction(_) | TermKind::Disjunction(_)
    )
}

fn operand(term: &Term) -> String {
    let loose = match &term.kind {
        TermKind::Atom(name) => operators::is_operator(name),
        _ if is_chain(term) => true,
        TermKind::Compound(name, args) => {
            let operator = match args.len() {
                1 => operators::prefix(name),
                2 => operators::infix(name),
                _ => None,
            };
            operator.is_some_and(|operator| operator.priority >= 700)
        }
        _ => false,
    };
    if loose {
        format!("({term})")
    } else {
        term.to_string()
    }
}

pub(super) fn constant(constants: &Constants, value: Value) -> Term {
    constants.term(value, Span::default())
}

pub(super) fn new(kind: TermKind) -> Term {
    Term {
        kind,
        span: Span::default(),
    }
}

fn atom(name: &str) -> Term {
    new(TermKind::Atom(name.into()))
}

/// `name(args…)` in the one form that the parser gives it.
pub(super) fn compound(name: &str, mut args: Vec<Term>) -> Term {
    if args.is_empty() {
        return atom(name);
    }
    let chains = matches!(name, "[|]" | "," | ";") && args.len() == 2;
    let Some(last) = args.pop_if(|_| chains) else {
        return new(TermKind::Compound(name.into(), args));
    };
    new(match (name, last.kind) {
        ("[|]", TermKind::List(items, tail)) => {
            args.extend(items);
            TermKind::List(args, tail)
        }
        ("[|]", TermKind::Nil) => TermKind::List(args, None),
        ("[|]", kind) => TermKind::List(args, Some(Box::new(new(kind)))),
        (",", kind) => TermKind::Conjunction(joined(args, kind)),
        (_, kind) => TermKind::Disjunction(match kind {
            TermKind::Disjunction(parts) => {
                args.extend(parts);
                args
            }
            kind => {
                args.push(new(kind));
                args
            }
        }),
    })
}

/// The parts of a conjunction that ends with `last`.
fn joined(mut parts: Vec<Term>, last: TermKind) -> Vec<Term> {
    match last {
        TermKind::Conjunction(more) => parts.extend(more),
        kind => parts.push(new(kind)),
    }
    parts
}

/// Writes the literals of one rule under one binding.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) data: &'a Data,
    pub(super) constants: &'a Constants,
    pub(super) rule: &'a Rule,
    pub(super) binding: &'a [Option<Value>],
}

impl Writer<'_> {
    /// The literal as a goal, in which variables without a value keep their names.
    pub(super) fn named(&self, literal: &Literal) -> Term {
        self.goal(literal, &vec![2; self.rule.variables.len()])
    }

    /// The literal as a goal. A variable without a value is `_` if it occurs once.
    pub(super) fn literal(&self, literal: &Literal) -> Term {
        let mut counts = vec![0; self.rule.variables.len()];
        literal.each_variable(&mut |variable| count(&mut counts, variable));
        self.goal(literal, &counts)
    }

    /// What an absence says there is none of.
    pub(super) fn absent(&self, bodies: &[Vec<Literal>]) -> Term {
        let mut counts = vec![0; self.rule.variables.len()];
        for literal in bodies.iter().flatten() {
            literal.each_variable(&mut |variable| count(&mut counts, variable));
        }
        self.alternatives(bodies, &counts)
    }

    /// The rule's head, in which variables without a value keep their names.
    pub(super) fn head(&self) -> Term {
        let counts = vec![2; self.rule.variables.len()];
        self.call(self.rule.head, &self.rule.args, &counts)
    }

    fn alternatives(&self, bodies: &[Vec<Literal>], counts: &[usize]) -> Term {
        let mut all: Vec<Term> = bodies
            .iter()
            .map(|body| self.conjunction(body, counts))
            .collect();
        let Some(last) = all.pop() else {
            return atom("fail");
        };
        match last.kind {
            kind if all.is_empty() => new(kind),
            TermKind::Disjunction(more) => {
                all.extend(more);
                new(TermKind::Disjunction(all))
            }
            kind => {
                all.push(new(kind));
                new(TermKind::Disjunction(all))
            }
        }
    }

    fn conjunction(&self, body: &[Literal], counts: &[usize]) -> Term {
        let mut all: Vec<Term> = body
            .iter()
            .map(|literal| self.goal(literal, counts))
            .collect();
        let Some(last) = all.pop() else {
            return atom("true");
        };
        if all.is_empty() {
            return last;
        }
        new(TermKind::Conjunction(joined(all, last.kind)))
    }

    fn goal(&self, literal: &Literal, counts: &[usize]) -> Term {
        let pattern = |pattern: &Pattern| self.pattern(pattern, counts);
        let both = |name: &str, left: &Pattern, right: &Pattern| {
            compound(name, vec![pattern(left), pattern(right)])
        };
        match &literal.kind {
            LiteralKind::Call(callee, args) => self.call(*callee, args, counts),
            LiteralKind::Not(bodies, origin) => self.negation(bodies, *origin, counts),
            LiteralKind::Unify(variable, other) => both("=", &Pattern::Variable(*variable), other),
            LiteralKind::Identical(true, left, right) => both("==", left, right),
            LiteralKind::Identical(false, left, right) => both("\\==", left, right),
            LiteralKind::Order(outcomes, left, right) => both(order(*outcomes), left, right),
            LiteralKind::Compare(outcomes, left, right) => {
                let sides = [left, right].map(|side| self.expression(side, counts));
                compound(comparison(*outcomes), sides.into())
            }
            LiteralKind::Is(left, right) => {
                compound("is", vec![pattern(left), self.expression(right, counts)])
            }
            LiteralKind::Member(item, list, _) => both("member", item, list),
            LiteralKind::Fail => atom("fail"),
        }
    }

    fn negation(&self, bodies: &[Vec<Literal>], origin: NotOrigin, counts: &[usize]) -> Term {
        if let (NotOrigin::NotUnifiable, [body]) = (origin, bodies)
            && let [literal] = &**body
            && let LiteralKind::Unify(variable, other) = &literal.kind
        {
            let sides = [&Pattern::Variable(*variable), other];
            return compound("\\=", sides.map(|side| self.pattern(side, counts)).into());
        }
        // A condition that holds, and `memberchk`, are negations of negations.
        if let (NotOrigin::Condition | NotOrigin::Memberchk, [body]) = (origin, bodies)
            && let [literal] = &**body
            && let LiteralKind::Not(inner, _) = &literal.kind
        {
            if let (NotOrigin::Memberchk, [body]) = (origin, &**inner)
                && let [literal] = &**body
                && let LiteralKind::Member(item, list, _) = &literal.kind
            {
                let sides = [item, list].map(|side| self.pattern(side, counts));
                return compound("memberchk", sides.into());
            }
            return self.alternatives(inner, counts);
        }
        compound("\\+", vec![self.alternatives(bodies, counts)])
    }

    fn call(&self, callee: PredicateId, args: &[Pattern], counts: &[usize]) -> Term {
        let args = args.iter().map(|arg| self.pattern(arg, counts)).collect();
        compound(self.data.predicates.key(callee).name(), args)
    }

    fn value(&self, variable: Variable) -> Option<Value> {
        self.binding.get(variable.index()).copied().flatten()
    }

    fn variable(&self, variable: Variable, counts: &[usize]) -> Term {
        match (self.value(variable), counts.get(variable.index())) {
            (Some(value), _) => constant(self.constants, value),
            (None, Some(2..)) => new(TermKind::Variable(self.rule.name(variable).into())),
            (None, _) => new(TermKind::Variable("_".into())),
        }
    }

    fn pattern(&self, pattern: &Pattern, counts: &[usize]) -> Term {
        match pattern {
            Pattern::Constant(value) => constant(self.constants, *value),
            Pattern::Variable(variable) => self.variable(*variable, counts),
            Pattern::Compound(name, args) => compound(
                name,
                args.iter().map(|arg| self.pattern(arg, counts)).collect(),
            ),
        }
    }

    fn expression(&self, expression: &Expression, counts: &[usize]) -> Term {
        match expression {
            Expression::Constant(value) => constant(self.constants, *value),
            Expression::Variable(variable) => self.variable(*variable, counts),
            Expression::Unary(operator, inner) => {
                compound(unary(*operator), vec![self.expression(inner, counts)])
            }
            Expression::Binary(operator, sides) => compound(
                binary(*operator),
                vec![
                    self.expression(&sides.0, counts),
                    self.expression(&sides.1, counts),
                ],
            ),
        }
    }
}

fn count(counts: &mut [usize], variable: Variable) {
    if let Some(slot) = counts.get_mut(variable.index()) {
        *slot += 1;
    }
}

pub(super) fn order(outcomes: Outcomes) -> &'static str {
    match (outcomes.less, outcomes.equal) {
        (true, false) => "@<",
        (true, true) => "@=<",
        (false, true) => "@>=",
        (false, false) => "@>",
    }
}

pub(super) fn comparison(outcomes: Outcomes) -> &'static str {
    match (outcomes.less, outcomes.equal, outcomes.greater) {
        (true, false, false) => "<",
        (true, true, _) => "=<",
        (true, false, true) => "=\\=",
        (false, true, false) => "=:=",
        (false, true, true) => ">=",
        (false, false, _) => ">",
    }
}

pub(super) fn unary(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Minus => "-",
        UnaryOperator::Plus => "+",
        UnaryOperator::Absolute => "abs",
    }
}

pub(super) fn binary(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::IntegerDivide => "//",
        BinaryOperator::Modulo => "mod",
        BinaryOperator::Remainder => "rem",
        BinaryOperator::Minimum => "min",
        BinaryOperator::Maximum => "max",
    }
}
