//! Sideways: how what is known when a rule is asked for comes from literal to literal, and which calls it reaches.
//!
//! Nothing here builds a term: a value that is passed on is one that the rules and facts have.

use super::rewrite::{Rewriter, Side};
use crate::analysis::Data;
use crate::analysis::rule::{Listness, Literal, LiteralKind, Pattern, PredicateId, Rule, Variable};

/// A predicate without rules that has at most so many facts may start a demand although nothing of it is known.
const FEW: usize = 64;

/// A walk through one rule.
pub(super) struct Walk<'w, 'd> {
    rewriter: &'w mut Rewriter<'d>,
    rule: &'w Rule,
    /// Whose rule it is, and for which side it is asked.
    asked: (PredicateId, Side),
    /// For which side its calls ask.
    side: Side,
    /// How often each variable occurs in the rule.
    counts: &'w [usize],
    /// The variables whose values are known.
    known: Vec<bool>,
    /// Those that the demand for the rule itself makes known.
    given: Vec<Variable>,
    /// The literals that make them known: the body of every demand.
    prefix: Vec<Literal>,
}

impl<'w, 'd> Walk<'w, 'd> {
    /// A walk that starts with what `guard` makes known.
    pub(super) fn new(
        rewriter: &'w mut Rewriter<'d>,
        rule: &'w Rule,
        counts: &'w [usize],
        guard: Option<&Literal>,
        asked: (PredicateId, Side),
    ) -> Self {
        let mut walk = Self {
            rewriter,
            rule,
            asked,
            side: asked.1,
            counts,
            known: vec![false; rule.variables.len()],
            given: Vec::new(),
            prefix: Vec::new(),
        };
        if let Some(guard) = guard {
            guard.each_variable(&mut |variable| walk.given.push(variable));
            walk.learn(guard);
        }
        walk
    }

    /// Rewrites the calls of a conjunction. Nothing passes a barrier from right to left: the bindings on which
    /// arithmetic is evaluated must be those of the rule as it stands.
    pub(super) fn conjunction(&mut self, body: &mut [Literal]) {
        for part in body.chunk_by_mut(|left, right| !left.is_arithmetic() && !right.is_arithmetic())
        {
            match part {
                [barrier] if barrier.is_arithmetic() => self.open(barrier),
                part => self.part(part),
            }
        }
    }

    /// Rewrites the calls of a conjunction without barriers: those first about which most is known.
    fn part(&mut self, body: &mut [Literal]) {
        let mut left: Vec<usize> = (0..body.len()).collect();
        loop {
            let next = left
                .iter()
                .filter_map(|at| Some((self.rank(body.get(*at)?)?, *at)))
                .min();
            let Some((_, at)) = next else { break };
            left.retain(|other| *other != at);
            if let Some(literal) = body.get_mut(at) {
                self.ask(literal);
                self.learn(literal);
            }
        }
        for at in left {
            match body.get_mut(at) {
                Some(Literal {
                    kind: LiteralKind::Not(bodies, _),
                    ..
                }) => bodies.iter_mut().for_each(|body| self.nested(body)),
                Some(literal) => self.open(literal),
                None => {}
            }
        }
    }

    /// Rewrites a conjunction under a negation: what is known outside is known inside, but not the other way round.
    fn nested(&mut self, body: &mut [Literal]) {
        let (known, length, side) = (self.known.clone(), self.prefix.len(), self.side);
        self.side = self.rewriter.negated_side(self.asked);
        self.conjunction(body);
        self.known = known;
        self.prefix.truncate(length);
        self.side = side;
    }

    /// How early a literal comes, if what is known reaches it.
    fn rank(&self, literal: &Literal) -> Option<(u8, usize)> {
        let ready = match &literal.kind {
            LiteralKind::Call(predicate, args) => {
                let known = args.iter().filter(|arg| self.all_known(arg)).count();
                let unknown = args.len() - known;
                return if !self.rewriter.is_settled(*predicate) {
                    args.iter()
                        .any(|arg| self.passes(arg))
                        .then_some((3, unknown))
                } else if unknown == 0 {
                    Some((1, 0))
                } else if known > 0 {
                    Some((2, unknown))
                } else {
                    let rows = self.rewriter.facts_alone(*predicate)?;
                    (rows <= FEW).then_some((4, rows))
                };
            }
            LiteralKind::Not(..) => self.is_plain_test(literal),
            LiteralKind::Unify(variable, pattern) => {
                self.is_known(*variable) || self.passes(pattern)
            }
            LiteralKind::Identical(_, left, right) | LiteralKind::Order(_, left, right) => {
                self.passes(left) && self.passes(right)
            }
            LiteralKind::Member(_, list, Listness::Any) => self.passes(list),
            LiteralKind::Fail => true,
            LiteralKind::Member(..) | LiteralKind::Compare(..) | LiteralKind::Is(..) => false,
        };
        ready.then_some((0, 0))
    }

    /// Whether a negation can be part of a demand: it asks only what is settled, about what is known.
    fn is_plain_test(&self, literal: &Literal) -> bool {
        let mut inside = vec![0; self.counts.len()];
        literal.each_variable(&mut |variable| {
            if let Some(count) = inside.get_mut(variable.index()) {
                *count += 1;
            }
        });
        let mut plain = inside
            .iter()
            .zip(self.counts)
            .zip(&self.known)
            .all(|((inside, all), known)| *inside == 0 || *known || inside == all);
        literal.each_call(&mut |predicate, _, _| plain &= self.rewriter.is_settled(predicate));
        plain && !builds(literal)
    }

    fn is_known(&self, variable: Variable) -> bool {
        self.known.get(variable.index()).copied().unwrap_or(false)
    }

    fn all_known(&self, pattern: &Pattern) -> bool {
        let mut all = true;
        pattern.each_variable(&mut |variable| all &= self.is_known(variable));
        all
    }

    /// Whether the pattern is a known value as it stands, with nothing to build.
    fn passes(&self, pattern: &Pattern) -> bool {
        match pattern {
            Pattern::Constant(_) => true,
            Pattern::Variable(variable) => self.is_known(*variable),
            Pattern::Compound(..) => false,
        }
    }

    /// Takes a literal into the demands to come.
    fn learn(&mut self, literal: &Literal) {
        let known = &mut self.known;
        let mut learn = |variable: Variable| {
            if let Some(slot) = known.get_mut(variable.index()) {
                *slot = true;
            }
        };
        match &literal.kind {
            LiteralKind::Call(..) | LiteralKind::Unify(..) | LiteralKind::Member(..) => {
                literal.each_variable(&mut learn);
            }
            _ => {}
        }
        self.prefix.push(literal.clone());
    }

    /// Turns a call into one of the tuples that what is known asks for.
    fn ask(&mut self, literal: &mut Literal) {
        let LiteralKind::Call(predicate, args) = &mut literal.kind else {
            return;
        };
        if self.rewriter.is_settled(*predicate) {
            return;
        }
        let bound: Vec<bool> = args.iter().map(|arg| self.passes(arg)).collect();
        let spread: Vec<u8> = args.iter().map(|arg| self.spread(arg)).collect();
        let asked = self.rewriter.ask(*predicate, &bound, &spread, self.side);
        self.rewriter.demand(&asked, args, &self.prefix, self.rule);
        *predicate = asked.copy;
    }

    /// Whether a known pattern has one value, one for each demand, or what the literals before it find.
    fn spread(&self, pattern: &Pattern) -> u8 {
        match pattern {
            Pattern::Constant(_) => 0,
            Pattern::Variable(variable) if self.given.contains(variable) => 1,
            _ => 2,
        }
    }

    /// Turns every call in a literal that nothing known reaches into one of all tuples.
    fn open(&mut self, literal: &mut Literal) {
        match &mut literal.kind {
            LiteralKind::Call(predicate, args) if !self.rewriter.is_settled(*predicate) => {
                let bound = vec![false; args.len()];
                *predicate = self.rewriter.ask(*predicate, &bound, &[], self.side).copy;
            }
            LiteralKind::Not(bodies, _) => {
                let side =
                    std::mem::replace(&mut self.side, self.rewriter.negated_side(self.asked));
                bodies
                    .iter_mut()
                    .flatten()
                    .for_each(|literal| self.open(literal));
                self.side = side;
            }
            _ => {}
        }
    }
}

/// Whether evaluating a test might build a term.
fn builds(literal: &Literal) -> bool {
    let compound = |pattern: &Pattern| matches!(pattern, Pattern::Compound(..));
    match &literal.kind {
        LiteralKind::Not(bodies, _) => bodies.iter().flatten().any(builds),
        LiteralKind::Unify(_, pattern) => compound(pattern),
        LiteralKind::Identical(_, left, right) | LiteralKind::Order(_, left, right) => {
            compound(left) || compound(right)
        }
        LiteralKind::Member(_, list, _) => compound(list),
        _ => false,
    }
}

/// Whether a demand may start at a literal of a goal: at a constant, or at facts that are few.
pub(super) fn can_start(data: &Data, literal: &Literal) -> bool {
    let constant = |pattern: &Pattern| matches!(pattern, Pattern::Constant(_));
    match &literal.kind {
        LiteralKind::Call(id, args) => {
            args.iter().any(constant) || facts_alone(data, *id).is_some_and(|count| count <= FEW)
        }
        LiteralKind::Unify(_, pattern) => constant(pattern),
        LiteralKind::Member(_, list, _) => constant(list),
        LiteralKind::Not(bodies, _) => bodies
            .iter()
            .flatten()
            .any(|literal| can_start(data, literal)),
        _ => false,
    }
}

/// How many facts a predicate without rules has.
pub(super) fn facts_alone(data: &Data, id: PredicateId) -> Option<usize> {
    let rules = data.rules_of.get(id.index())?;
    let facts = data.facts.get(id.index())?;
    rules.is_empty().then_some(facts.count)
}
