//! Rules in the form that is checked and evaluated: terms resolved, alternatives split, constants interned.
//!
//! Nothing here knows how a rule is evaluated.

use crate::source::Span;
use crate::value::Value;

/// Names a predicate of one rulebase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PredicateId(pub(crate) u32);

impl PredicateId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Names a variable of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Variable(pub(crate) u32);

impl Variable {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A term of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Constant(Value),
    Variable(Variable),
    /// A compound with at least one variable in it; ground ones are constants.
    Compound(Box<str>, Box<[Pattern]>),
}

impl Pattern {
    /// Calls `visit` for each occurrence of a variable, left to right.
    pub(crate) fn each_variable(&self, visit: &mut impl FnMut(Variable)) {
        match self {
            Self::Constant(_) => {}
            Self::Variable(variable) => visit(*variable),
            Self::Compound(_, args) => args.iter().for_each(|arg| arg.each_variable(visit)),
        }
    }

    pub(crate) fn variables(&self) -> Vec<Variable> {
        let mut found = Vec::new();
        self.each_variable(&mut |variable| found.push(variable));
        found
    }
}

/// One body literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub(crate) kind: LiteralKind,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LiteralKind {
    Call(PredicateId, Box<[Pattern]>),
    /// None of the conjunctions is satisfied by any binding of the local variables.
    Not(Vec<Vec<Literal>>, NotOrigin),
    /// The variable equals the pattern; what was written is taken apart to this.
    Unify(Variable, Pattern),
    /// `==` and `\==`
    Identical(bool, Pattern, Pattern),
    /// `@<` and its kin: which outcomes of the comparison satisfy it.
    Order(Outcomes, Pattern, Pattern),
    /// `<` and its kin
    Compare(Outcomes, Expression, Expression),
    Is(Pattern, Expression),
    /// An item and a list; memberchk raises on what is no list, member fails.
    Member(Pattern, Pattern, Listness),
    Fail,
}

/// What a [`LiteralKind::Not`] was written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotOrigin {
    Negation,
    /// The condition of `->`
    Condition,
    /// `\=`
    NotUnifiable,
    /// `memberchk/2`
    Memberchk,
}

/// What a search for a member does at the end of what is no proper list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listness {
    /// It fails.
    Any,
    /// It has no value.
    Demanded,
}

/// Which of less, equal and greater satisfy a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcomes {
    pub(crate) less: bool,
    pub(crate) equal: bool,
    pub(crate) greater: bool,
}

impl Outcomes {
    pub(crate) fn new(less: bool, equal: bool, greater: bool) -> Self {
        Self {
            less,
            equal,
            greater,
        }
    }

    pub(crate) fn admit(self, order: std::cmp::Ordering) -> bool {
        match order {
            std::cmp::Ordering::Less => self.less,
            std::cmp::Ordering::Equal => self.equal,
            std::cmp::Ordering::Greater => self.greater,
        }
    }
}

/// An arithmetic expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expression {
    Constant(Value),
    Variable(Variable),
    Unary(UnaryOperator, Box<Expression>),
    Binary(BinaryOperator, Box<(Expression, Expression)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOperator {
    Minus,
    Plus,
    Absolute,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    /// `//`, towards zero
    IntegerDivide,
    Modulo,
    Remainder,
    Minimum,
    Maximum,
}

impl Expression {
    /// Whether nothing is computed: it is a number or a variable.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Variable(_))
    }

    pub(crate) fn each_variable(&self, visit: &mut impl FnMut(Variable)) {
        match self {
            Self::Constant(_) => {}
            Self::Variable(variable) => visit(*variable),
            Self::Unary(_, inner) => inner.each_variable(visit),
            Self::Binary(_, sides) => {
                sides.0.each_variable(visit);
                sides.1.each_variable(visit);
            }
        }
    }
}

impl Literal {
    /// Calls `visit` for each occurrence of a variable, those of nested negations included.
    pub(crate) fn each_variable(&self, visit: &mut impl FnMut(Variable)) {
        match &self.kind {
            LiteralKind::Call(_, args) => args.iter().for_each(|arg| arg.each_variable(visit)),
            LiteralKind::Not(bodies, _) => {
                for literal in bodies.iter().flatten() {
                    literal.each_variable(visit);
                }
            }
            LiteralKind::Unify(variable, pattern) => {
                visit(*variable);
                pattern.each_variable(visit);
            }
            LiteralKind::Identical(_, left, right)
            | LiteralKind::Order(_, left, right)
            | LiteralKind::Member(left, right, _) => {
                left.each_variable(visit);
                right.each_variable(visit);
            }
            LiteralKind::Compare(_, left, right) => {
                left.each_variable(visit);
                right.each_variable(visit);
            }
            LiteralKind::Is(left, right) => {
                left.each_variable(visit);
                right.each_variable(visit);
            }
            LiteralKind::Fail => {}
        }
    }

    /// Calls `visit` for each call in it, with whether it stands under a negation.
    pub(crate) fn each_call(&self, visit: &mut impl FnMut(PredicateId, bool, Span)) {
        self.calls_within(false, visit);
    }

    fn calls_within(&self, negative: bool, visit: &mut impl FnMut(PredicateId, bool, Span)) {
        match &self.kind {
            LiteralKind::Call(callee, _) => visit(*callee, negative, self.span),
            LiteralKind::Not(bodies, _) => {
                for literal in bodies.iter().flatten() {
                    literal.calls_within(true, visit);
                }
            }
            _ => {}
        }
    }

    /// Calls `visit` for each call in it, with whether more tuples of the callee can make it fail: whether it stands
    /// under an odd number of negations.
    pub(crate) fn each_signed_call(&self, visit: &mut impl FnMut(PredicateId, bool)) {
        self.signed_calls_within(false, visit);
    }

    fn signed_calls_within(&self, negative: bool, visit: &mut impl FnMut(PredicateId, bool)) {
        match &self.kind {
            LiteralKind::Call(callee, _) => visit(*callee, negative),
            LiteralKind::Not(bodies, _) => {
                for literal in bodies.iter().flatten() {
                    literal.signed_calls_within(!negative, visit);
                }
            }
            _ => {}
        }
    }

    /// Whether evaluating it can have no value: arithmetic, and what demands a list.
    pub(crate) fn is_arithmetic(&self) -> bool {
        match &self.kind {
            LiteralKind::Compare(..)
            | LiteralKind::Is(..)
            | LiteralKind::Member(_, _, Listness::Demanded) => true,
            LiteralKind::Not(bodies, _) => bodies.iter().flatten().any(Self::is_arithmetic),
            _ => false,
        }
    }
}

/// One alternative of one clause.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) head: PredicateId,
    pub(crate) args: Box<[Pattern]>,
    pub(crate) body: Vec<Literal>,
    /// The literals that may have no value and need what only the call brings: evaluated when all else holds, so that
    /// whether they err does not depend on a plan. Positions in `body`.
    pub(crate) postponed: Vec<usize>,
    /// The names of the variables; `_` for each anonymous one.
    pub(crate) variables: std::sync::Arc<[Box<str>]>,
    /// The whole clause.
    pub(crate) span: Span,
    /// The clause's head.
    pub(crate) head_span: Span,
}

impl Rule {
    pub(crate) fn name(&self, variable: Variable) -> &str {
        self.variables
            .get(variable.index())
            .map_or("_", |name| name)
    }

    /// Whether the variable says of itself that it occurs once.
    pub(crate) fn is_anonymous(&self, variable: Variable) -> bool {
        self.name(variable).starts_with('_')
    }

    /// Whether a literal of the body may have no value where it stands: all to its left comes before it.
    pub(crate) fn is_barrier(&self, at: usize) -> bool {
        !self.postponed.contains(&at) && self.body.get(at).is_some_and(Literal::is_arithmetic)
    }

    /// Whether it was written without a body.
    pub(crate) fn is_fact(&self) -> bool {
        self.body.is_empty() && self.span.end.saturating_sub(self.head_span.end) <= 1
    }
}
