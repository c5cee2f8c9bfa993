//! Whether an allowlist ties the actor to the tool, or grants every actor of some kind every tool of some kind.
//!
//! Nothing here looks at facts.

use crate::analysis::Data;
use crate::analysis::rule::{Literal, LiteralKind, Outcomes, Pattern, PredicateId, Rule, Variable};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// How many rules are named.
const MAX_FOUND: usize = 20;
/// Predicates with more arguments are taken to tie them all.
const MAX_ARITY: usize = 8;

/// Two columns of a predicate.
type Pair = (PredicateId, usize, usize);

/// The rules of an allowlist in which no positive literal, and no chain of them, ties the actor to the tool.
pub(super) fn cartesian(data: &Data, id: PredicateId) -> Vec<Diagnostic> {
    let root = (id, 0, 1);
    let ties = Ties::new(data, root);
    let key = data.predicates.key(id);
    let mut told = BTreeSet::new();
    rules_of(data, id)
        .filter(|rule| ties.rule(rule, root) == Some(false))
        // A clause with alternatives is told of once.
        .filter(|rule| told.insert(rule.span))
        .take(MAX_FOUND)
        .map(|rule| {
            let name = |at: usize| {
                let variables = rule.args.get(at).map(Pattern::variables).unwrap_or_default();
                let first = variables.first().map_or("_", |first| rule.name(*first));
                first.to_owned()
            };
            let (actor, tool) = (name(0), name(1));
            let mut found = Diagnostic::new(
                Code::CartesianGrant,
                rule.head_span,
                format!(
                    "nothing ties `{actor}` to `{tool}`: every actor that this rule finds may run every tool that it finds"
                ),
            )
            .help("add a literal that has both, or join them through a team, a role or a level")
            .of(&key);
            for (callee, span) in ties.wrappers(rule, root) {
                let callee = data.predicates.key(callee);
                found = found.label(span, format!("`{callee}` does not tie them either"));
            }
            found
        })
        .collect()
}

fn rules_of(data: &Data, id: PredicateId) -> impl Iterator<Item = &Rule> {
    let rules = data.rules_of.get(id.index()).into_iter().flatten();
    rules.filter_map(|at| data.rules.get(*at))
}

/// The pairs of columns that matter for one, and which of them some rule leaves untied.
struct Ties {
    untied: BTreeSet<Pair>,
}

impl Ties {
    /// All pairs are taken to be tied until a rule shows that one is not; then the rules are asked again that rely on it.
    fn new(data: &Data, root: Pair) -> Self {
        let mut users: BTreeMap<Pair, Vec<(Pair, &Rule)>> = BTreeMap::from([(root, Vec::new())]);
        let mut pending = vec![root];
        let mut ties = Self {
            untied: BTreeSet::new(),
        };
        let mut news = Vec::new();
        while let Some(pair) = pending.pop() {
            for rule in rules_of(data, pair.0) {
                each_positive(&rule.body, &mut |literal| {
                    for callee in callee_pairs(data, literal) {
                        users
                            .entry(callee)
                            .or_insert_with(|| {
                                pending.push(callee);
                                Vec::new()
                            })
                            .push((pair, rule));
                    }
                });
            }
        }
        for pair in users.keys() {
            let unties = |rule: &Rule| ties.rule(rule, *pair) == Some(false);
            if rules_of(data, pair.0).any(unties) {
                news.push(*pair);
            }
        }
        ties.untied.extend(&news);
        while let Some(pair) = news.pop() {
            for (user, rule) in users.get(&pair).into_iter().flatten() {
                if !ties.untied.contains(user) && ties.rule(rule, *user) == Some(false) {
                    ties.untied.insert(*user);
                    news.push(*user);
                }
            }
        }
        ties
    }

    /// Whether the rule ties the two; `None` if one of them is no matter of variables.
    fn rule(&self, rule: &Rule, (_, a, b): Pair) -> Option<bool> {
        let of = |at: usize| rule.args.get(at).map(Pattern::variables);
        let (a, b) = (of(a)?, of(b)?);
        let named = |side: &[Variable]| side.iter().all(|one| is_named(rule, *one));
        if named(&a) || named(&b) {
            return None;
        }
        let mut classes = Classes::new(rule.variables.len());
        classes.join(&a);
        classes.join(&b);
        each_positive(&rule.body, &mut |literal| {
            self.literal(literal, &mut classes)
        });
        let (a, b) = (a.first()?, b.first()?);
        Some(classes.root(*a) == classes.root(*b))
    }

    fn literal(&self, literal: &Literal, classes: &mut Classes) {
        match &literal.kind {
            LiteralKind::Call(callee, args) => {
                for (at, arg) in args.iter().enumerate() {
                    let variables = arg.variables();
                    classes.join(&variables);
                    for (other, with) in args.iter().enumerate().skip(at + 1) {
                        if !self.untied.contains(&(*callee, at, other)) {
                            let with = with.variables();
                            classes.join_all(&variables, &with);
                        }
                    }
                }
            }
            LiteralKind::Identical(false, ..) => {}
            // That two values differ ties them as little as that two people are not the same.
            LiteralKind::Order(outcomes, ..) | LiteralKind::Compare(outcomes, ..)
                if *outcomes == Outcomes::new(true, false, true) => {}
            _ => {
                let mut variables = Vec::new();
                literal.each_variable(&mut |variable| variables.push(variable));
                classes.join(&variables);
            }
        }
    }

    /// The calls that have both in them and do not tie them.
    fn wrappers(&self, rule: &Rule, (_, a, b): Pair) -> Vec<(PredicateId, Span)> {
        let of = |at: usize| {
            rule.args
                .get(at)
                .map(Pattern::variables)
                .unwrap_or_default()
        };
        let (a, b) = (of(a), of(b));
        let mut found = Vec::new();
        each_positive(&rule.body, &mut |literal| {
            if let LiteralKind::Call(callee, _) = &literal.kind {
                let mut variables = Vec::new();
                literal.each_variable(&mut |variable| variables.push(variable));
                let has = |wanted: &[Variable]| wanted.iter().any(|one| variables.contains(one));
                if has(&a) && has(&b) {
                    found.push((*callee, literal.span));
                }
            }
        });
        found
    }
}

/// Whether the rule itself says which values the variable may have, as if each stood in a rule of its own.
fn is_named(rule: &Rule, variable: Variable) -> bool {
    rule.body.iter().any(|literal| match &literal.kind {
        LiteralKind::Unify(one, Pattern::Constant(_)) => *one == variable,
        LiteralKind::Member(Pattern::Variable(one), Pattern::Constant(_), _) => *one == variable,
        _ => false,
    })
}

/// Every literal that must hold: those of the body, and those of its tests that are one conjunction.
fn each_positive<'r>(body: &'r [Literal], visit: &mut impl FnMut(&'r Literal)) {
    for literal in body {
        let LiteralKind::Not(bodies, _) = &literal.kind else {
            visit(literal);
            continue;
        };
        if let [body] = &**bodies
            && let [
                Literal {
                    kind: LiteralKind::Not(inner, _),
                    ..
                },
            ] = &**body
            && let [inner] = &**inner
        {
            each_positive(inner, visit);
        }
    }
}

/// The pairs of columns of a called predicate that could be untied: it has rules.
fn callee_pairs(data: &Data, literal: &Literal) -> Vec<Pair> {
    let LiteralKind::Call(callee, args) = &literal.kind else {
        return Vec::new();
    };
    let has_rules = data
        .rules_of
        .get(callee.index())
        .is_some_and(|rules| !rules.is_empty());
    if !has_rules || args.len() > MAX_ARITY {
        return Vec::new();
    }
    let open: Vec<usize> = args
        .iter()
        .enumerate()
        .filter(|(_, arg)| !matches!(arg, Pattern::Constant(_)))
        .map(|(at, _)| at)
        .collect();
    let pairs = open.iter().enumerate().flat_map(|(index, a)| {
        let others = open.iter().skip(index + 1);
        others.map(|b| (*callee, *a, *b))
    });
    pairs.collect()
}

/// Variables that are tied to each other.
struct Classes(Vec<Variable>);

impl Classes {
    fn new(count: usize) -> Self {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Self((0..count).map(Variable).collect())
    }

    fn root(&self, mut variable: Variable) -> Variable {
        while let Some(parent) = self.0.get(variable.index()).copied() {
            if parent == variable {
                break;
            }
            variable = parent;
        }
        variable
    }

    /// Ties all of them.
    fn join(&mut self, variables: &[Variable]) {
        for pair in variables.windows(2) {
            if let [a, b] = pair {
                self.unite(*a, *b);
            }
        }
    }

    /// Ties those of one side to those of the other.
    fn join_all(&mut self, left: &[Variable], right: &[Variable]) {
        if let (Some(a), Some(b)) = (left.first(), right.first()) {
            self.unite(*a, *b);
        }
    }

    fn unite(&mut self, a: Variable, b: Variable) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.0.get_mut(a.max(b).index()) {
            *slot = a.min(b);
        }
    }
}
