//! The magic-set rewriting: for each predicate and each way in which it is asked (its adornment) a copy that holds the
//! tuples asked for, and a predicate of the values that it is asked with (its magic set).
//!
//! A copy never has a tuple that its predicate has not, and has every tuple whose known arguments are in the magic
//! set. Nothing here decides whether that is worth the trouble.

use super::super::passenger::{self, Closure};
use super::closure::{self, Parts};
use super::sideways::{self, Walk};
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule, Variable};
use crate::analysis::{Data, is_recursive};
use crate::source::Span;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How many literals a rewritten program may have.
const MAX_LITERALS: usize = 200_000;

/// A predicate that the rewriting adds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Added {
    pub(super) arity: usize,
    /// The predicate of the rulebase whose part it is.
    pub(super) of: PredicateId,
    /// Whether its tuples are that predicate's facts.
    pub(super) facts: bool,
}

/// A rewritten goal. The rules and facts of settled predicates are those of the rulebase.
#[derive(Debug, Default)]
pub(super) struct Rewritten {
    /// The predicates after the goal's.
    pub(super) added: Vec<Added>,
    pub(super) rules: Vec<Rule>,
    /// Whether any predicate is asked for a part of its tuples only.
    pub(super) asks_less: bool,
    /// The predicates that are asked for a part here and for all there.
    pub(super) asked_twice: Vec<PredicateId>,
}

/// Whose demands a copy serves: the goal's own, or those under the negations of one component.
///
/// Negations of different components then ask different copies, so that the demand of the one may depend on the
/// verdict of the other.
pub(super) type Side = Option<u32>;

/// A predicate asked in one way.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    predicate: PredicateId,
    side: Side,
    /// Which arguments are known.
    bound: Box<[bool]>,
    /// The copy, and its magic set if any argument is known.
    pub(super) copy: PredicateId,
    magic: Option<PredicateId>,
}

/// What the rulebase says beforehand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'d> {
    pub(super) data: &'d Data,
    /// The predicates that are evaluated as they stand.
    pub(super) full: &'d [bool],
    /// The predicates that are asked for all of their tuples, however they are called.
    pub(super) open: &'d HashSet<PredicateId>,
    /// Whether the demands under negations are kept apart.
    pub(super) apart: bool,
}

pub(super) struct Rewriter<'d> {
    given: Given<'d>,
    done: Rewritten,
    /// The number of the first predicate that is added.
    first: u32,
    copies: HashMap<(PredicateId, Side, Box<[bool]>), usize>,
    /// In the order in which they were met.
    asked: Vec<Asked>,
    /// Each closure that was met, its shape and its parts.
    closures: HashMap<PredicateId, Option<(Closure, Parts)>>,
    /// The parts of closures, with whether they are bases.
    parts: HashMap<PredicateId, (PredicateId, bool)>,
    facts: HashMap<PredicateId, PredicateId>,
    literals: usize,
}

/// Rewrites the rules of a goal and all that they call; `None` when that comes to too much.
pub(super) fn rewrite(given: Given<'_>, goal: &[Rule]) -> Option<Rewritten> {
    let first = u32::try_from(given.data.predicates.len()).ok()?;
    let mut rewriter = Rewriter {
        given,
        done: Rewritten::default(),
        first: first.checked_add(1)?,
        copies: HashMap::new(),
        asked: Vec::new(),
        closures: HashMap::new(),
        parts: HashMap::new(),
        facts: HashMap::new(),
        literals: 0,
    };
    for rule in goal {
        rewriter.rule(rule, rule.head, None, (rule.head, None));
    }
    let mut next = 0;
    while let Some(asked) = rewriter.asked.get(next).cloned() {
        next += 1;
        rewriter.copy(&asked);
        if rewriter.literals > MAX_LITERALS {
            return None;
        }
    }
    rewriter.finish()
}

impl<'d> Rewriter<'d> {
    fn finish(mut self) -> Option<Rewritten> {
        let partly: HashSet<PredicateId> = self
            .asked
            .iter()
            .filter(|asked| asked.magic.is_some())
            .map(|asked| asked.predicate)
            .collect();
        self.done.asks_less = !partly.is_empty();
        self.done.asked_twice = self
            .asked
            .iter()
            .filter(|asked| asked.magic.is_none() && asked.predicate.0 < self.first)
            .map(|asked| asked.predicate)
            .filter(|predicate| partly.contains(predicate))
            .collect();
        (self.literals <= MAX_LITERALS).then_some(self.done)
    }

    fn add(&mut self, added: Added) -> PredicateId {
        let at = u32::try_from(self.done.added.len()).unwrap_or(u32::MAX);
        self.done.added.push(added);
        PredicateId(self.first.saturating_add(at))
    }

    /// Whether the predicate is called as it stands: it has no rules, or is evaluated in full.
    pub(super) fn is_settled(&self, id: PredicateId) -> bool {
        match self.given.full.get(id.index()) {
            Some(full) => *full || self.facts_alone(id).is_some(),
            // What is added is called as it stands, but for the parts of closures.
            None => !self.parts.contains_key(&id),
        }
    }

    /// How many facts a predicate without rules has.
    pub(super) fn facts_alone(&self, id: PredicateId) -> Option<usize> {
        sideways::facts_alone(self.given.data, id)
    }

    /// The copy that a call of `predicate` comes to when those of its arguments are known that are marked in `bound`.
    /// `spread` says of each how many values it may have.
    pub(super) fn ask(
        &mut self,
        predicate: PredicateId,
        bound: &[bool],
        spread: &[u8],
        side: Side,
    ) -> Asked {
        let bound = if self.given.open.contains(&predicate) {
            vec![false; bound.len()].into()
        } else if self.closure(predicate).is_some() {
            closure::useful(bound, spread)
        } else {
            bound.into()
        };
        self.asked(predicate, side, bound)
    }

    /// The side of what stands under a negation in a rule of `predicate`, itself asked for `side`.
    pub(super) fn negated_side(&self, (predicate, side): (PredicateId, Side)) -> Side {
        if self.given.apart {
            let whole = self
                .parts
                .get(&predicate)
                .map_or(predicate, |(whole, _)| *whole);
            Some(self.given.data.graph.component_of(whole))
        } else {
            side
        }
    }

    /// Records what a call with `args` asks for: whatever satisfies `prefix`, the literals before it.
    pub(super) fn demand(
        &mut self,
        asked: &Asked,
        args: &[Pattern],
        prefix: &[Literal],
        rule: &Rule,
    ) {
        let Some(magic) = asked.magic else { return };
        let args = select(args, &asked.bound);
        let says_nothing = |literal: &Literal| matches!(&literal.kind, LiteralKind::Call(id, known) if *id == magic && *known == args);
        if !prefix.iter().any(says_nothing) {
            self.push(Rule {
                head: magic,
                args,
                body: prefix.to_vec(),
                postponed: Vec::new(),
                variables: Arc::clone(&rule.variables),
                span: rule.span,
                head_span: rule.head_span,
            });
        }
    }

    fn push(&mut self, rule: Rule) {
        self.literals = self.literals.saturating_add(rule.body.len() + 1);
        if self.literals <= MAX_LITERALS {
            self.done.rules.push(rule);
        }
    }

    fn asked(&mut self, predicate: PredicateId, side: Side, bound: Box<[bool]>) -> Asked {
        let key = (predicate, side, bound.clone());
        let known = self.copies.get(&key).and_then(|at| self.asked.get(*at));
        if let Some(known) = known {
            return known.clone();
        }
        let of = self
            .parts
            .get(&predicate)
            .map_or(predicate, |(whole, _)| *whole);
        let added = |arity| Added {
            arity,
            of,
            facts: false,
        };
        let known = bound.iter().filter(|bound| **bound).count();
        let asked = Asked {
            predicate,
            side,
            copy: self.add(added(bound.len())),
            magic: (known > 0).then(|| self.add(added(known))),
            bound,
        };
        self.copies.insert(key, self.asked.len());
        self.asked.push(asked.clone());
        asked
    }

    /// The rules of a copy.
    fn copy(&mut self, asked: &Asked) {
        let (rules, facts) = self.definition(asked);
        let guard = asked.magic.map(|magic| (magic, &*asked.bound));
        if let Some(of) = facts {
            let facts = self.facts_of(of);
            let rule = facts_rule(facts, asked.bound.len());
            self.rule(&rule, asked.copy, guard, (asked.predicate, asked.side));
        }
        for rule in rules {
            self.rule(&rule, asked.copy, guard, (asked.predicate, asked.side));
        }
    }

    /// The predicate that has the facts of one that has rules, too.
    fn facts_of(&mut self, of: PredicateId) -> PredicateId {
        if let Some(known) = self.facts.get(&of) {
            return *known;
        }
        let added = self.add(Added {
            arity: self.given.data.predicates.key(of).arity(),
            of,
            facts: true,
        });
        self.facts.insert(of, added);
        added
    }

    /// What a predicate that is asked in this way comes to: rules, and whose facts.
    fn definition(&mut self, asked: &Asked) -> (Vec<Cow<'d, Rule>>, Option<PredicateId>) {
        let id = asked.predicate;
        if let Some((whole, is_base)) = self.parts.get(&id).copied() {
            return match self.closure(whole) {
                Some(_) if is_base => self.without_recursion(whole),
                Some((closure, parts)) => {
                    let span = self.place(whole);
                    let rules = closure::reach(&closure, parts, span);
                    (rules.into_iter().map(Cow::Owned).collect(), None)
                }
                None => (Vec::new(), None),
            };
        }
        if asked.magic.is_some()
            && let Some((closure, parts)) = self.closure(id)
        {
            let span = self.place(id);
            if asked.bound.get(closure.passenger) == Some(&true) {
                let (mut rules, facts) = self.without_recursion(id);
                let steps = closure::along(&closure, parts, span);
                rules.extend(steps.into_iter().map(Cow::Owned));
                return (rules, facts);
            }
            let rules = closure::against(&closure, parts, span);
            return (rules.into_iter().map(Cow::Owned).collect(), None);
        }
        (
            self.rules_of(id).map(Cow::Borrowed).collect(),
            self.has_facts(id),
        )
    }

    fn without_recursion(&self, id: PredicateId) -> (Vec<Cow<'d, Rule>>, Option<PredicateId>) {
        let rules = self
            .rules_of(id)
            .filter(|rule| !is_recursive(rule, &self.given.data.graph))
            .map(Cow::Borrowed)
            .collect();
        (rules, self.has_facts(id))
    }

    fn rules_of(&self, id: PredicateId) -> impl Iterator<Item = &'d Rule> + use<'d> {
        let data = self.given.data;
        let rules = data.rules_of.get(id.index()).into_iter().flatten();
        rules.filter_map(|at| data.rules.get(*at))
    }

    fn has_facts(&self, id: PredicateId) -> Option<PredicateId> {
        let facts = self.given.data.facts.get(id.index())?;
        (facts.count > 0).then_some(id)
    }

    fn place(&self, id: PredicateId) -> Span {
        self.rules_of(id)
            .next()
            .map(|rule| rule.span)
            .unwrap_or_default()
    }

    /// The closure that a predicate is, if it is one.
    fn closure(&mut self, id: PredicateId) -> Option<(Closure, Parts)> {
        if let Some(known) = self.closures.get(&id) {
            return known.clone();
        }
        let found = self.find_closure(id);
        self.closures.insert(id, found.clone());
        found
    }

    fn find_closure(&mut self, id: PredicateId) -> Option<(Closure, Parts)> {
        let graph = &self.given.data.graph;
        let recursive: Vec<&Rule> = self
            .rules_of(id)
            .filter(|rule| is_recursive(rule, graph))
            .collect();
        let alone = |rule: &&Rule| {
            rule.body.iter().all(|literal| {
                let mut alone = true;
                literal.each_call(&mut |callee, _, _| {
                    alone &= callee == id || graph.component_of(callee) != graph.component_of(id);
                });
                alone
            })
        };
        if !recursive.iter().all(alone) {
            return None;
        }
        let closure = passenger::closure(id, &recursive)?;
        let added = Added {
            arity: 2,
            of: id,
            facts: false,
        };
        let base = match self.same_as(id) {
            Some(other) => other,
            None => {
                let base = self.add(added);
                self.parts.insert(base, (id, true));
                base
            }
        };
        let reach = self.add(added);
        self.parts.insert(reach, (id, false));
        let parts = Parts {
            whole: id,
            base,
            reach,
        };
        Some((closure, parts))
    }

    /// The predicate that a closure is of, as in `p(X, Y) :- e(X, Y)` and nothing else without recursion.
    fn same_as(&self, id: PredicateId) -> Option<PredicateId> {
        let (rules, None) = self.without_recursion(id) else {
            return None;
        };
        let [rule] = &*rules else { return None };
        let [
            Literal {
                kind: LiteralKind::Call(other, args),
                ..
            },
        ] = &*rule.body
        else {
            return None;
        };
        match (&*rule.args, &**args) {
            ([Pattern::Variable(a), Pattern::Variable(b)], args) if a != b => {
                (*args == *rule.args).then_some(*other)
            }
            _ => None,
        }
    }

    /// Adds a rule of `head`, a copy that is asked with what `guard` says.
    fn rule(
        &mut self,
        rule: &Rule,
        head: PredicateId,
        guard: Option<(PredicateId, &[bool])>,
        asked: (PredicateId, Side),
    ) {
        let mut counts = vec![0; rule.variables.len()];
        let mut count = |variable: Variable| {
            if let Some(slot) = counts.get_mut(variable.index()) {
                *slot += 1;
            }
        };
        rule.args
            .iter()
            .for_each(|arg| arg.each_variable(&mut count));
        rule.body
            .iter()
            .for_each(|literal| literal.each_variable(&mut count));
        let guarded = guard.map(|(magic, bound)| Literal {
            kind: LiteralKind::Call(magic, select(&rule.args, bound)),
            span: rule.head_span,
        });
        let mut body = rule.body.clone();
        Walk::new(self, rule, &counts, guarded.as_ref(), asked).conjunction(&mut body);
        // A call of the same copy with the same known arguments has passed the guard.
        let passed = guard.is_some_and(|(_, bound)| {
            body.iter().any(|literal| match &literal.kind {
                LiteralKind::Call(id, args) => {
                    *id == head && select(args, bound) == select(&rule.args, bound)
                }
                _ => false,
            })
        });
        if !passed {
            body.splice(0..0, guarded);
        }
        self.push(Rule {
            head,
            args: rule.args.clone(),
            body,
            postponed: rule.postponed.clone(),
            variables: Arc::clone(&rule.variables),
            span: rule.span,
            head_span: rule.head_span,
        });
    }
}

fn select(args: &[Pattern], bound: &[bool]) -> Box<[Pattern]> {
    args.iter()
        .zip(bound)
        .filter(|(_, bound)| **bound)
        .map(|(arg, _)| arg.clone())
        .collect()
}

/// `copy(A, B, …) :- facts(A, B, …)`, the head still to be given.
fn facts_rule(facts: PredicateId, arity: usize) -> Rule {
    let args: Box<[Pattern]> = (0..)
        .map(|at| Pattern::Variable(Variable(at)))
        .take(arity)
        .collect();
    let names: Vec<Box<str>> = vec!["_".into(); arity];
    Rule {
        head: facts,
        args: args.clone(),
        body: vec![Literal {
            kind: LiteralKind::Call(facts, args),
            span: Span::default(),
        }],
        postponed: Vec::new(),
        variables: names.into(),
        span: Span::default(),
        head_span: Span::default(),
    }
}
