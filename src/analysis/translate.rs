//! From a clause as written to rules: names resolved, alternatives split, terms taken apart.
//!
//! Nothing here judges the order of literals; see [`super::order`].

use super::goals::{self, Goal};
use super::predicate::Predicates;
use super::rule::{
    BinaryOperator, Expression, Listness, Literal, LiteralKind, NotOrigin, Pattern, PredicateId,
    Rule, UnaryOperator, Variable,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::{Term, TermKind};
use crate::value::{Constants, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// How many literals the alternatives of one clause may have in all.
const MAX_LITERALS: usize = 100_000;
/// How many literals one conjunction may have, those of its negations included.
const MAX_BODY: usize = 500;
/// How deep a term with variables may nest.
const MAX_PATTERN_DEPTH: usize = 256;

/// The alternatives of a body, each a conjunction.
type Alternatives = Vec<Vec<Literal>>;

/// Translates one clause, or one goal.
pub(crate) struct Translation<'a> {
    pub(crate) predicates: &'a Predicates,
    pub(crate) constants: &'a mut Constants,
    names: Vec<Box<str>>,
    known: HashMap<Box<str>, Variable>,
    faults: Vec<Diagnostic>,
    /// There were too many alternatives, or too long ones: the rest is not looked at closely.
    overflowed: bool,
}

/// A clause's rules, or what is wrong with it.
pub(crate) struct Translated {
    pub(crate) rules: Vec<Rule>,
    pub(crate) faults: Vec<Diagnostic>,
}

impl<'a> Translation<'a> {
    pub(crate) fn new(predicates: &'a Predicates, constants: &'a mut Constants) -> Self {
        Self {
            predicates,
            constants,
            names: Vec::new(),
            known: HashMap::new(),
            faults: Vec::new(),
            overflowed: false,
        }
    }

    /// The rules of `head :- body`.
    pub(crate) fn clause(
        mut self,
        id: PredicateId,
        head: &Term,
        body: Option<&Term>,
        span: Span,
    ) -> Translated {
        let args: Box<[Pattern]> = match &head.kind {
            TermKind::Compound(_, args) => args.iter().map(|arg| self.pattern(arg, 0)).collect(),
            _ => Box::default(),
        };
        let alternatives = body.map_or_else(|| vec![Vec::new()], |body| self.goal(body));
        self.bounded(&alternatives, span);
        self.rules(id, &args, alternatives, span, head.span)
    }

    /// The rules of a goal as the body of a predicate over the goal's named variables, and their names.
    pub(crate) fn query(mut self, id: PredicateId, goal: &Term) -> (Translated, Vec<Box<str>>) {
        let alternatives = self.goal(goal);
        self.bounded(&alternatives, goal.span);
        let asked: Vec<(Variable, Box<str>)> = (0..)
            .map(Variable)
            .zip(self.names.iter().cloned())
            .filter(|(_, name)| !name.starts_with('_'))
            .collect();
        let args: Box<[Pattern]> = asked
            .iter()
            .map(|(variable, _)| Pattern::Variable(*variable))
            .collect();
        let names = asked.into_iter().map(|(_, name)| name).collect();
        (
            self.rules(id, &args, alternatives, goal.span, goal.span),
            names,
        )
    }

    /// Refuses a conjunction that is too long to evaluate by recursion.
    fn bounded(&mut self, alternatives: &Alternatives, span: Span) {
        fn size(body: &[Literal]) -> usize {
            body.iter()
                .map(|literal| match &literal.kind {
                    LiteralKind::Not(bodies, _) => {
                        1 + bodies.iter().map(|body| size(body)).sum::<usize>()
                    }
                    _ => 1,
                })
                .sum()
        }
        if !self.overflowed && alternatives.iter().any(|body| size(body) > MAX_BODY) {
            self.overflowed = true;
            self.fault(
                Diagnostic::new(
                    Code::TooManyAlternatives,
                    span,
                    format!("a conjunction of more than {MAX_BODY} literals"),
                )
                .help("give parts of it predicates of their own"),
            );
        }
    }

    fn rules(
        self,
        head: PredicateId,
        args: &[Pattern],
        alternatives: Alternatives,
        span: Span,
        head_span: Span,
    ) -> Translated {
        let variables: Arc<[Box<str>]> = self.names.into();
        Translated {
            rules: alternatives
                .into_iter()
                .map(|body| Rule {
                    head,
                    args: args.into(),
                    body,
                    postponed: Vec::new(),
                    variables: Arc::clone(&variables),
                    span,
                    head_span,
                })
                .collect(),
            faults: self.faults,
        }
    }

    fn fault(&mut self, diagnostic: Diagnostic) {
        self.faults.push(diagnostic);
    }

    fn variable(&mut self, name: &str) -> Variable {
        let fresh = Variable(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        if name == "_" {
            self.names.push(name.into());
            return fresh;
        }
        if let Some(variable) = self.known.get(name) {
            return *variable;
        }
        self.names.push(name.into());
        self.known.insert(name.into(), fresh);
        fresh
    }

    /// The term with its ground parts interned.
    fn pattern(&mut self, term: &Term, depth: usize) -> Pattern {
        if let TermKind::Variable(name) = &term.kind {
            return Pattern::Variable(self.variable(name));
        }
        match self.constants.intern(term) {
            Ok(Some(value)) => return Pattern::Constant(value),
            Ok(None) if depth < MAX_PATTERN_DEPTH => {}
            Ok(None) | Err(_) => {
                self.fault(
                    Diagnostic::new(
                        Code::TooLong,
                        term.span,
                        "a term that nests too deep, or a list with variables that is too long",
                    )
                    .help("state the items as facts, one each"),
                );
                return Pattern::Constant(self.constants.nil());
            }
        }
        let cell = |parts: [Pattern; 2]| Pattern::Compound("[|]".into(), parts.into());
        let chain = |name: &str, parts: [Pattern; 2]| Pattern::Compound(name.into(), parts.into());
        match &term.kind {
            TermKind::Compound(name, args) => Pattern::Compound(
                name.clone(),
                args.iter()
                    .map(|arg| self.pattern(arg, depth + 1))
                    .collect(),
            ),
            TermKind::List(items, tail) => {
                let items: Vec<Pattern> = self.nested(items, depth);
                let tail = match tail {
                    Some(tail) => self.pattern(tail, depth + 1),
                    None => Pattern::Constant(self.constants.nil()),
                };
                let list = items
                    .into_iter()
                    .rev()
                    .fold(tail, |tail, item| cell([item, tail]));
                self.ground(list)
            }
            TermKind::Conjunction(parts) | TermKind::Disjunction(parts) => {
                let name = if matches!(term.kind, TermKind::Conjunction(_)) {
                    ","
                } else {
                    ";"
                };
                let parts: Vec<Pattern> = self.nested(parts, depth);
                let nested = parts
                    .into_iter()
                    .rev()
                    .reduce(|rest, part| chain(name, [part, rest]));
                match nested {
                    Some(nested) => self.ground(nested),
                    None => Pattern::Constant(self.constants.nil()),
                }
            }
            _ => Pattern::Constant(self.constants.nil()),
        }
    }

    /// The items of a list or chain that holds a variable: its length counts as depth.
    fn nested(&mut self, items: &[Term], depth: usize) -> Vec<Pattern> {
        if let Some(item) = items.get(MAX_PATTERN_DEPTH.saturating_sub(depth)) {
            self.fault(
                Diagnostic::new(
                    Code::TooLong,
                    item.span,
                    format!("a list with variables has more than {MAX_PATTERN_DEPTH} items"),
                )
                .help("state the items as facts, one each"),
            );
            return Vec::new();
        }
        items
            .iter()
            .map(|item| self.pattern(item, depth + 1))
            .collect()
    }

    /// Interns the ground parts of a pattern built from parts.
    fn ground(&mut self, pattern: Pattern) -> Pattern {
        let Pattern::Compound(name, args) = pattern else {
            return pattern;
        };
        let args: Box<[Pattern]> = args.into_iter().map(|arg| self.ground(arg)).collect();
        let values: Option<Vec<Value>> = args
            .iter()
            .map(|arg| match arg {
                Pattern::Constant(value) => Some(*value),
                _ => None,
            })
            .collect();
        match values.map(|values| self.constants.compound(&name, &values)) {
            Some(Ok(value)) => Pattern::Constant(value),
            _ => Pattern::Compound(name, args),
        }
    }

    fn goal(&mut self, term: &Term) -> Alternatives {
        match &term.kind {
            TermKind::Conjunction(parts) => {
                let mut all: Alternatives = vec![Vec::new()];
                for part in parts {
                    let next = self.goal(part);
                    all = self.product(all, next, term.span);
                    self.bounded(&all, term.span);
                }
                all
            }
            TermKind::Disjunction(parts) => self.disjunction(parts, term.span),
            TermKind::Compound(name, args) => match (&**name, &**args) {
                ("->", [condition, then]) => {
                    let condition = self.goal(condition);
                    let (holds, _) = both_ways(condition, NotOrigin::Condition, term.span);
                    let then = self.goal(then);
                    self.product(vec![vec![holds]], then, term.span)
                }
                ("\\+" | "not", [inner]) => {
                    let inner = self.goal(inner);
                    vec![vec![negated(inner, NotOrigin::Negation, term.span)]]
                }
                _ => self.simple(term, name, args),
            },
            TermKind::Atom(name) => self.simple(term, name, &[]),
            _ => {
                let fault = goals::not_a_goal(term);
                self.fault(fault);
                vec![Vec::new()]
            }
        }
    }

    /// `a ; b ; …`, where a part `c -> t` takes all that follows as its else.
    fn disjunction(&mut self, parts: &[Term], span: Span) -> Alternatives {
        // From the last alternative to the first, or each part would move all that follow it.
        let mut all: Option<Alternatives> = None;
        for part in parts.iter().rev() {
            let arrow = match &part.kind {
                TermKind::Compound(name, args) if &**name == "->" && all.is_some() => match &**args
                {
                    [condition, then] => Some((condition, then)),
                    _ => None,
                },
                _ => None,
            };
            let mut rest = all.take().unwrap_or_default();
            all = Some(match arrow {
                Some((condition, then)) => {
                    let condition_span = condition.span;
                    let condition = self.goal(condition);
                    let (holds, fails) = both_ways(condition, NotOrigin::Condition, condition_span);
                    let then = self.goal(then);
                    rest.reverse();
                    let mut both = self.product(vec![vec![holds]], then, span);
                    both.extend(self.product(vec![vec![fails]], rest, span));
                    both.reverse();
                    both
                }
                None => {
                    rest.extend(self.goal(part).into_iter().rev());
                    rest
                }
            });
        }
        let mut all = all.unwrap_or_default();
        all.reverse();
        all
    }

    /// Every first alternative followed by every second one.
    fn product(&mut self, left: Alternatives, mut right: Alternatives, span: Span) -> Alternatives {
        if self.overflowed {
            return vec![Vec::new()];
        }
        let size = |all: &Alternatives| all.iter().map(|one| one.len() + 1).sum::<usize>();
        let literals = size(&left)
            .saturating_mul(right.len())
            .saturating_add(size(&right).saturating_mul(left.len()));
        if literals > MAX_LITERALS {
            self.overflowed = true;
            self.fault(
                Diagnostic::new(
                    Code::TooManyAlternatives,
                    span,
                    format!("the alternatives of this clause multiply to more than {MAX_LITERALS} literals"),
                )
                .help("give each disjunction a predicate of its own"),
            );
            return vec![Vec::new()];
        }
        if let (1, [only]) = (left.len(), &mut *right) {
            let more = std::mem::take(only);
            return left
                .into_iter()
                .map(|mut first| {
                    first.extend(more.iter().cloned());
                    first
                })
                .collect();
        }
        left.iter()
            .flat_map(|first| {
                right
                    .iter()
                    .map(|second| first.iter().chain(second).cloned().collect())
            })
            .collect()
    }

    fn simple(&mut self, term: &Term, name: &str, args: &[Term]) -> Alternatives {
        let span = term.span;
        let goal = match goals::resolve(self.predicates, name, args.len(), term) {
            Ok(goal) => goal,
            Err(fault) => {
                self.fault(*fault);
                // The names of its variables are still needed for what follows.
                for arg in args {
                    self.pattern(arg, 0);
                }
                return vec![Vec::new()];
            }
        };
        let kind = match (goal, args) {
            (Goal::True, _) => return vec![Vec::new()],
            (Goal::Fail, _) => LiteralKind::Fail,
            (Goal::Predicate(id), _) => {
                LiteralKind::Call(id, args.iter().map(|arg| self.pattern(arg, 0)).collect())
            }
            (Goal::Unify, [left, right]) => {
                let (left, right) = (self.pattern(left, 0), self.pattern(right, 0));
                return vec![self.unify(left, right, span)];
            }
            (Goal::NotUnify, [left, right]) => {
                let (left, right) = (self.pattern(left, 0), self.pattern(right, 0));
                LiteralKind::Not(vec![self.unify(left, right, span)], NotOrigin::NotUnifiable)
            }
            (Goal::Identical(equal), [left, right]) => {
                LiteralKind::Identical(equal, self.pattern(left, 0), self.pattern(right, 0))
            }
            (Goal::Order(outcomes), [left, right]) => {
                LiteralKind::Order(outcomes, self.pattern(left, 0), self.pattern(right, 0))
            }
            (Goal::Compare(outcomes), [left, right]) => {
                let (left, right) = (self.expression(left), self.expression(right));
                LiteralKind::Compare(outcomes, left, right)
            }
            (Goal::Is, [left, right]) => {
                let (left, right) = (self.pattern(left, 0), self.expression(right));
                LiteralKind::Is(left, right)
            }
            (Goal::Member, [item, list]) => {
                LiteralKind::Member(self.pattern(item, 0), self.pattern(list, 0), Listness::Any)
            }
            (Goal::Memberchk, [item, list]) => {
                let listness = match &list.kind {
                    TermKind::List(_, None) | TermKind::Nil => Listness::Any,
                    _ => Listness::Demanded,
                };
                let (item, list) = (self.pattern(item, 0), self.pattern(list, 0));
                let kind = LiteralKind::Member(item, list, listness);
                let member = vec![vec![Literal { kind, span }]];
                let (holds, _) = both_ways(member, NotOrigin::Memberchk, span);
                return vec![vec![holds]];
            }
            _ => LiteralKind::Fail,
        };
        vec![vec![Literal { kind, span }]]
    }

    /// The equations that `left = right` comes to.
    fn unify(&mut self, left: Pattern, right: Pattern, span: Span) -> Vec<Literal> {
        let mut out = Vec::new();
        let mut pending = vec![(left, right)];
        while let Some((left, right)) = pending.pop() {
            let kind = match (left, right) {
                (Pattern::Constant(a), Pattern::Constant(b)) => {
                    if a == b {
                        continue;
                    }
                    LiteralKind::Fail
                }
                (Pattern::Variable(a), Pattern::Variable(b)) if a == b => continue,
                (Pattern::Variable(variable), other) | (other, Pattern::Variable(variable)) => {
                    if other.variables().contains(&variable) {
                        self.faults.push(
                            Diagnostic::new(
                                Code::CyclicTerm,
                                span,
                                "this equates a variable with a term that contains it",
                            )
                            .help("no finite term satisfies it"),
                        );
                        continue;
                    }
                    LiteralKind::Unify(variable, other)
                }
                (Pattern::Compound(name, args), Pattern::Compound(other, others)) => {
                    if name == other && args.len() == others.len() {
                        pending.extend(args.into_iter().zip(others).rev());
                        continue;
                    }
                    LiteralKind::Fail
                }
                (Pattern::Compound(name, args), Pattern::Constant(value))
                | (Pattern::Constant(value), Pattern::Compound(name, args)) => {
                    if let crate::value::Constant::Compound(other, values) =
                        self.constants.get(value)
                        && *other == name
                        && values.len() == args.len()
                    {
                        let values = values.iter().map(|value| Pattern::Constant(*value));
                        pending.extend(args.into_iter().zip(values).rev());
                        continue;
                    }
                    LiteralKind::Fail
                }
            };
            out.push(Literal { kind, span });
        }
        out
    }

    fn expression(&mut self, term: &Term) -> Expression {
        match &term.kind {
            TermKind::Variable(name) => Expression::Variable(self.variable(name)),
            TermKind::Integer(value) => Expression::Constant(self.constants.integer(value.clone())),
            TermKind::Float(value) => Expression::Constant(self.constants.float(*value)),
            TermKind::Compound(name, args) => {
                let binary = match &**name {
                    "+" => Some(BinaryOperator::Add),
                    "-" => Some(BinaryOperator::Subtract),
                    "*" => Some(BinaryOperator::Multiply),
                    "/" => Some(BinaryOperator::Divide),
                    "//" => Some(BinaryOperator::IntegerDivide),
                    "mod" => Some(BinaryOperator::Modulo),
                    "rem" => Some(BinaryOperator::Remainder),
                    "min" => Some(BinaryOperator::Minimum),
                    "max" => Some(BinaryOperator::Maximum),
                    _ => None,
                };
                let unary = match &**name {
                    "-" => Some(UnaryOperator::Minus),
                    "+" => Some(UnaryOperator::Plus),
                    "abs" => Some(UnaryOperator::Absolute),
                    _ => None,
                };
                match (&**args, unary, binary) {
                    ([inner], Some(operator), _) => {
                        Expression::Unary(operator, Box::new(self.expression(inner)))
                    }
                    ([left, right], _, Some(operator)) => {
                        let sides = (self.expression(left), self.expression(right));
                        Expression::Binary(operator, Box::new(sides))
                    }
                    _ => self.not_arithmetic(term),
                }
            }
            _ => self.not_arithmetic(term),
        }
    }

    fn not_arithmetic(&mut self, term: &Term) -> Expression {
        self.fault(
            Diagnostic::new(
                Code::ArithmeticFunction,
                term.span,
                format!("`{term}` is no arithmetic that is supported here"),
            )
            .help(match &term.kind {
                TermKind::Atom(name) => {
                    format!("bind a variable to the number first, as in `{name}(N), Level < N`")
                }
                _ => "there are integers, floats, variables and `+ - * / // mod rem min max abs`"
                    .to_owned(),
            }),
        );
        Expression::Constant(self.constants.nil())
    }
}

/// A literal that holds when one of the alternatives does, and one that holds when none does.
fn both_ways(alternatives: Alternatives, origin: NotOrigin, span: Span) -> (Literal, Literal) {
    let fails = negated(alternatives, origin, span);
    let holds = negated(vec![vec![fails.clone()]], origin, span);
    (holds, fails)
}

fn negated(alternatives: Alternatives, origin: NotOrigin, span: Span) -> Literal {
    Literal {
        kind: LiteralKind::Not(alternatives, origin),
        span,
    }
}
