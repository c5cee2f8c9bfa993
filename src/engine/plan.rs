//! Plans: in which order a rule's literals are evaluated, and what is bound at each.
//!
//! A plan depends on the sizes of relations, an answer never does. Arithmetic is a barrier: it is evaluated
//! exactly on the bindings that satisfy all literals to its left, so whether it errs is a matter of the rules.

use crate::analysis::rule::{
    Expression, Listness, Literal, LiteralKind, Outcomes, Pattern, PredicateId, Rule, Variable,
};
use crate::source::Span;
use crate::value::Value;

/// How many times larger, as a power of two, a relation may be to come first because it has the head's first variable.
const LEAD: usize = 3;

/// Which rows of a relation under derivation a scan sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All rows known at the start of the round.
    All,
    /// Those known before the last round.
    Old,
    /// Those that the last round added.
    Delta,
}

/// How a value is taken apart; which variables are bound already is settled when planning.
#[derive(Clone, Debug)]
pub(crate) enum Match {
    Constant(Value),
    /// The first occurrence: binds.
    Bind(Variable),
    /// A later occurrence: compares.
    Same(Variable),
    Compound(Box<str>, Box<[Match]>),
}

#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub(crate) predicate: PredicateId,
    pub(crate) part: Part,
    /// The columns whose patterns are bound, and these patterns.
    pub(crate) columns: Box<[usize]>,
    pub(crate) key: Box<[Pattern]>,
    /// What to do with the other columns.
    pub(crate) rest: Box<[(usize, Match)]>,
    /// Whether a second match could make a difference.
    pub(crate) first_only: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Scan(Scan),
    /// All columns are bound.
    Lookup(PredicateId, Box<[Pattern]>),
    Not(Vec<Vec<Step>>),
    /// The value of the pattern is taken apart.
    Take(Pattern, Match),
    Identical(bool, Pattern, Pattern),
    Order(Outcomes, Pattern, Pattern),
    Compare(Outcomes, Expression, Expression, Span),
    Is(Match, Expression, Span),
    Member(Match, Pattern, Listness),
    Fail,
}

/// The steps of one rule, and what to derive.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) head: PredicateId,
    pub(crate) args: Box<[Pattern]>,
    pub(crate) steps: Vec<Step>,
    pub(crate) variables: usize,
    pub(crate) span: Span,
}

impl Plan {
    /// Once the head is known, one solution of what is left is as good as all.
    pub(super) fn stop_at_first(&mut self) {
        let mut missing = Vec::new();
        self.args
            .iter()
            .for_each(|arg| arg.each_variable(&mut |variable| missing.push(variable)));
        let mut known = 0;
        while !missing.is_empty() {
            let Some(step) = self.steps.get(known) else {
                return;
            };
            let mut bound = Vec::new();
            match step {
                Step::Scan(scan) => scan
                    .rest
                    .iter()
                    .for_each(|(_, pattern)| binds(pattern, &mut bound)),
                Step::Take(_, made) | Step::Is(made, ..) | Step::Member(made, ..) => {
                    binds(made, &mut bound);
                }
                _ => {}
            }
            missing.retain(|variable| !bound.contains(variable));
            known += 1;
        }
        // What may have no value is to be evaluated on every binding.
        let Some(left) = self.steps.get(known..).filter(|left| {
            left.iter().any(|step| matches!(step, Step::Scan(_)))
                && left.iter().all(Step::only_looks_up)
        }) else {
            return;
        };
        let some = Step::Not(vec![vec![Step::Not(vec![left.to_vec()])]]);
        self.steps.truncate(known);
        self.steps.push(some);
    }
}

impl Step {
    /// Whether the step can neither err nor make a value.
    fn only_looks_up(&self) -> bool {
        match self {
            Self::Scan(_) | Self::Lookup(..) | Self::Fail => true,
            Self::Not(bodies) => bodies.iter().flatten().all(Self::only_looks_up),
            Self::Take(..)
            | Self::Identical(..)
            | Self::Order(..)
            | Self::Compare(..)
            | Self::Is(..)
            | Self::Member(..) => false,
        }
    }
}

/// Plans a rule. `part_of` says for each call of the body which rows it sees, `rows` how many there are, and `matches`,
/// where it knows, how many have the same value in one column.
pub(crate) fn plan(
    rule: &Rule,
    delta: Option<usize>,
    part_of: &dyn Fn(usize, PredicateId) -> Part,
    rows: &dyn Fn(PredicateId) -> u32,
    matches: &dyn Fn(PredicateId, usize) -> Option<u32>,
) -> Plan {
    let mut counts = vec![0_usize; rule.variables.len()];
    let mut add = |variable: Variable| {
        if let Some(slot) = counts.get_mut(variable.index()) {
            *slot += 1;
        }
    };
    rule.args.iter().for_each(|arg| arg.each_variable(&mut add));
    rule.body
        .iter()
        .for_each(|literal| literal.each_variable(&mut add));
    let first = match rule.args.first() {
        Some(Pattern::Variable(variable)) => Some(*variable),
        _ => None,
    };
    let mut planner = Planner {
        counts,
        first,
        bound: vec![false; rule.variables.len()],
        part_of,
        rows,
        matches,
    };
    let mut steps = planner.sequence(&rule.body, delta, Some(rule));
    planner.mark_existence(&mut steps, &rule.args);
    Plan {
        head: rule.head,
        args: rule.args.clone(),
        steps,
        variables: rule.variables.len(),
        span: rule.span,
    }
}

struct Planner<'p> {
    /// How often each variable occurs in the rule.
    counts: Vec<usize>,
    /// The variable in the head's first argument: tuples that come sorted by it are cheaper to keep apart.
    first: Option<Variable>,
    bound: Vec<bool>,
    part_of: &'p dyn Fn(usize, PredicateId) -> Part,
    rows: &'p dyn Fn(PredicateId) -> u32,
    matches: &'p dyn Fn(PredicateId, usize) -> Option<u32>,
}

impl Planner<'_> {
    fn is_bound(&self, variable: Variable) -> bool {
        self.bound.get(variable.index()).copied().unwrap_or(false)
    }

    fn all_bound(&self, pattern: &Pattern) -> bool {
        let mut all = true;
        pattern.each_variable(&mut |variable| all &= self.is_bound(variable));
        all
    }

    fn computable(&self, expression: &Expression) -> bool {
        let mut all = true;
        expression.each_variable(&mut |variable| all &= self.is_bound(variable));
        all
    }

    /// Orders a conjunction; `top` is the rule whose body it is, if it is one.
    fn sequence(
        &mut self,
        body: &[Literal],
        delta: Option<usize>,
        top: Option<&Rule>,
    ) -> Vec<Step> {
        let mut open: Vec<usize> = (0..body.len()).collect();
        let mut steps = Vec::new();
        while !open.is_empty() {
            let Some(at) = self.next(body, &open, delta, top) else {
                // The order rule leaves no literal that can never run; refuse to derive anything otherwise.
                steps.push(Step::Fail);
                break;
            };
            open.retain(|other| *other != at);
            if let Some(literal) = body.get(at) {
                let part = |predicate| {
                    if top.is_some() {
                        (self.part_of)(at, predicate)
                    } else {
                        Part::All
                    }
                };
                let part = match &literal.kind {
                    LiteralKind::Call(predicate, _) => part(*predicate),
                    _ => Part::All,
                };
                steps.push(self.step(literal, part));
            }
        }
        steps
    }

    /// The literal to evaluate next: one to the left of the first that may have no value, else that one, else any.
    fn next(
        &self,
        body: &[Literal],
        open: &[usize],
        delta: Option<usize>,
        top: Option<&Rule>,
    ) -> Option<usize> {
        let barrier = open.iter().copied().find(|at| match top {
            Some(rule) => rule.is_barrier(*at),
            None => body.get(*at).is_some_and(Literal::is_arithmetic),
        });
        let is_late = |at: usize| top.is_some_and(|rule| rule.postponed.contains(&at));
        let choose = |wanted: &dyn Fn(usize) -> bool| {
            let candidates: Vec<(usize, &Literal)> = open
                .iter()
                .filter(|at| wanted(**at))
                .filter_map(|at| Some((*at, body.get(*at)?)))
                .collect();
            self.choose(&candidates, delta)
        };
        // A test over a call-bound variable waits, and what may have no value does not wait for it.
        choose(&|at| barrier.is_none_or(|barrier| at < barrier) && !is_late(at))
            .or_else(|| choose(&|at| Some(at) == barrier))
            .or_else(|| choose(&|at| !is_late(at)))
            .or_else(|| choose(&|_| true))
    }

    fn choose(&self, candidates: &[(usize, &Literal)], delta: Option<usize>) -> Option<usize> {
        let test = candidates.iter().find(|(_, literal)| {
            !matches!(literal.kind, LiteralKind::Call(..)) && self.ready(literal)
        });
        if let Some((at, _)) = test {
            return Some(*at);
        }
        let calls: Vec<(usize, PredicateId, &[Pattern], Vec<usize>)> = candidates
            .iter()
            .filter_map(|(at, literal)| match &literal.kind {
                LiteralKind::Call(predicate, args) => {
                    Some((*at, *predicate, &**args, self.columns(args)))
                }
                _ => None,
            })
            .collect();
        // To know how many rows match may take an index, which stays: only where there is a choice, and of one column, so
        // that a relation has no more of them than columns, whatever is asked.
        let is_part = |bound: usize, arity: usize| bound > 0 && bound < arity;
        let mut parts = calls
            .iter()
            .filter(|(.., args, columns)| is_part(columns.len(), args.len()));
        let choice = parts.nth(1).is_some();
        calls
            .iter()
            .map(|(at, predicate, args, columns)| {
                let bound = columns.len();
                let leads = self
                    .first
                    .is_some_and(|first| args.contains(&Pattern::Variable(first)));
                let shift = 8 * bound.min(3) + if leads && bound == 0 { LEAD } else { 0 };
                let known = match &**columns {
                    [column] if choice && args.len() > 1 => (self.matches)(*predicate, *column),
                    _ => None,
                };
                (
                    Some(*at) != delta,
                    bound != args.len(),
                    bound == 0,
                    known.unwrap_or_else(|| (self.rows)(*predicate) >> shift),
                    *at,
                )
            })
            .min()
            .map(|(.., at)| at)
    }

    /// The columns whose patterns are bound.
    fn columns(&self, args: &[Pattern]) -> Vec<usize> {
        args.iter()
            .enumerate()
            .filter(|(_, arg)| self.all_bound(arg))
            .map(|(column, _)| column)
            .collect()
    }

    fn ready(&self, literal: &Literal) -> bool {
        match &literal.kind {
            LiteralKind::Call(..) | LiteralKind::Fail => true,
            LiteralKind::Not(..) => {
                let mut inside = vec![0_usize; self.counts.len()];
                literal.each_variable(&mut |variable| {
                    if let Some(slot) = inside.get_mut(variable.index()) {
                        *slot += 1;
                    }
                });
                inside
                    .iter()
                    .zip(&self.counts)
                    .zip(&self.bound)
                    .all(|((inside, all), bound)| *inside == 0 || inside == all || *bound)
            }
            LiteralKind::Unify(variable, pattern) => {
                self.is_bound(*variable) || self.all_bound(pattern)
            }
            LiteralKind::Identical(_, left, right) | LiteralKind::Order(_, left, right) => {
                self.all_bound(left) && self.all_bound(right)
            }
            LiteralKind::Compare(_, left, right) => self.computable(left) && self.computable(right),
            LiteralKind::Is(_, right) => self.computable(right),
            LiteralKind::Member(_, list, _) => self.all_bound(list),
        }
    }

    fn bind(&mut self, pattern: &Pattern) -> Match {
        match pattern {
            Pattern::Constant(value) => Match::Constant(*value),
            Pattern::Variable(variable) if self.is_bound(*variable) => Match::Same(*variable),
            Pattern::Variable(variable) => {
                if let Some(slot) = self.bound.get_mut(variable.index()) {
                    *slot = true;
                }
                Match::Bind(*variable)
            }
            Pattern::Compound(name, args) => Match::Compound(
                name.clone(),
                args.iter().map(|arg| self.bind(arg)).collect(),
            ),
        }
    }

    fn step(&mut self, literal: &Literal, part: Part) -> Step {
        match &literal.kind {
            LiteralKind::Call(predicate, args) => {
                if part == Part::All && args.iter().all(|arg| self.all_bound(arg)) {
                    return Step::Lookup(*predicate, args.clone());
                }
                let columns = self.columns(args);
                let key = columns
                    .iter()
                    .filter_map(|column| args.get(*column).cloned())
                    .collect();
                let rest = args
                    .iter()
                    .enumerate()
                    .filter(|(column, _)| !columns.contains(column))
                    .map(|(column, arg)| (column, self.bind(arg)))
                    .collect();
                Step::Scan(Scan {
                    predicate: *predicate,
                    part,
                    columns: columns.into(),
                    key,
                    rest,
                    first_only: false,
                })
            }
            LiteralKind::Not(bodies, _) => {
                let bound = self.bound.clone();
                let bodies = bodies
                    .iter()
                    .map(|body| {
                        self.bound.clone_from(&bound);
                        self.sequence(body, None, None)
                    })
                    .collect();
                self.bound = bound;
                Step::Not(bodies)
            }
            LiteralKind::Unify(variable, pattern) => {
                let left = Pattern::Variable(*variable);
                if self.is_bound(*variable) {
                    Step::Take(left, self.bind(pattern))
                } else {
                    let made = self.bind(&left);
                    Step::Take(pattern.clone(), made)
                }
            }
            LiteralKind::Identical(equal, left, right) => {
                Step::Identical(*equal, left.clone(), right.clone())
            }
            LiteralKind::Order(outcomes, left, right) => {
                Step::Order(*outcomes, left.clone(), right.clone())
            }
            LiteralKind::Compare(outcomes, left, right) => {
                Step::Compare(*outcomes, left.clone(), right.clone(), literal.span)
            }
            LiteralKind::Is(left, right) => Step::Is(self.bind(left), right.clone(), literal.span),
            LiteralKind::Member(item, list, listness) => {
                Step::Member(self.bind(item), list.clone(), *listness)
            }
            LiteralKind::Fail => Step::Fail,
        }
    }

    /// Marks scans that bind nothing that is used later: one match is as good as all.
    fn mark_existence(&self, steps: &mut [Step], args: &[Pattern]) {
        let mut needed = vec![false; self.counts.len()];
        for arg in args {
            arg.each_variable(&mut |variable| set(&mut needed, variable));
        }
        for step in steps.iter_mut().rev() {
            if let Step::Scan(scan) = step {
                let mut bound = Vec::new();
                scan.rest
                    .iter()
                    .for_each(|(_, pattern)| binds(pattern, &mut bound));
                scan.first_only = !bound
                    .iter()
                    .any(|variable| needed.get(variable.index()).copied().unwrap_or(true));
            }
            uses(step, &mut needed);
        }
    }
}

fn set(flags: &mut [bool], variable: Variable) {
    if let Some(flag) = flags.get_mut(variable.index()) {
        *flag = true;
    }
}

fn binds(pattern: &Match, out: &mut Vec<Variable>) {
    match pattern {
        Match::Bind(variable) => out.push(*variable),
        Match::Compound(_, args) => args.iter().for_each(|arg| binds(arg, out)),
        Match::Constant(_) | Match::Same(_) => {}
    }
}

/// Marks the variables whose values a step reads.
fn uses(step: &Step, needed: &mut [bool]) {
    fn matched(pattern: &Match, needed: &mut [bool]) {
        match pattern {
            Match::Same(variable) => set(needed, *variable),
            Match::Compound(_, args) => args.iter().for_each(|arg| matched(arg, needed)),
            Match::Constant(_) | Match::Bind(_) => {}
        }
    }
    let mut read = |pattern: &Pattern| pattern.each_variable(&mut |variable| set(needed, variable));
    match step {
        Step::Scan(scan) => {
            scan.key.iter().for_each(&mut read);
            scan.rest
                .iter()
                .for_each(|(_, pattern)| matched(pattern, needed));
        }
        Step::Lookup(_, args) => args.iter().for_each(read),
        Step::Not(bodies) => {
            for step in bodies.iter().flatten() {
                uses(step, needed);
            }
        }
        Step::Take(from, to) => {
            read(from);
            matched(to, needed);
        }
        Step::Identical(_, left, right) | Step::Order(_, left, right) => {
            read(left);
            read(right);
        }
        Step::Compare(_, left, right, _) => {
            left.each_variable(&mut |variable| set(needed, variable));
            right.each_variable(&mut |variable| set(needed, variable));
        }
        Step::Is(left, right, _) => {
            right.each_variable(&mut |variable| set(needed, variable));
            matched(left, needed);
        }
        Step::Member(item, list, _) => {
            read(list);
            matched(item, needed);
        }
        Step::Fail => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rulebase, Source};

    #[test]
    fn what_is_known_of_matches_goes_before_sizes() {
        let text = "l(a, b). big(a, c). small(c, b). p(X, T) :- l(X, T), big(X, G), small(G, T).";
        let rulebase = Rulebase::load([Source::new("a.pl", text)]).unwrap();
        let id = |name: &str| rulebase.data.find(&name.parse().unwrap()).unwrap();
        let (large, small) = (id("big/2"), id("small/2"));
        let rules = rulebase.data.rules_of_component(&[id("p/2")]);
        let second = |matches: &dyn Fn(PredicateId, usize) -> Option<u32>| {
            let rows = |id| match id {
                _ if id == large => 1 << 20,
                _ if id == small => 1 << 14,
                _ => 1,
            };
            let plan = plan(rules[0], None, &|_, _| Part::All, &rows, matches);
            match &plan.steps[1] {
                Step::Scan(scan) => scan.predicate,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(second(&|_, _| None), small);
        assert_eq!(
            second(&|id, _| Some(if id == large { 2 } else { 40 })),
            large
        );
    }
}
