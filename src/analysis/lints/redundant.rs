//! Clauses that add nothing: the same clause twice, and clauses that another one covers.
//!
//! Nothing here compares all pairs, and no comparison searches for long: what it finds is redundant, but it may find
//! less than there is.

use super::Subject;
use super::cover::{Comparison, MAX_STEPS};
use crate::analysis::rule::{LiteralKind, Pattern, PredicateId, Rule};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::{Clause, ClauseKind, Term, TermKind};
use crate::value::Value;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};

/// How many steps all comparisons may take for each rule, on average.
const STEPS_A_RULE: u32 = 48;
/// What a comparison costs before its first step.
const STEPS_A_COMPARISON: u32 = 4;

pub(super) fn all(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let mut twice = HashSet::new();
    for (id, known) in subject.predicates.iter() {
        if let Some(facts) = subject.facts.get(id.index()) {
            let mut seen: HashMap<&[Value], Span> = HashMap::with_capacity(facts.spans.len());
            for (row, span) in facts.rows(known.key.arity()).zip(&facts.spans) {
                let first = *seen.entry(row).or_insert(*span);
                if first != *span {
                    found.push(same(*span, first, "fact").of(&known.key));
                }
            }
        }
    }
    let mut seen: HashMap<String, Span> = HashMap::new();
    for (id, clause) in subject.clauses {
        if !matches!(clause.kind, ClauseKind::Rule(..)) || subject.faulty.contains(&clause.span) {
            continue;
        }
        match seen.entry(form(clause)) {
            Entry::Occupied(first) => {
                twice.insert(clause.span);
                let key = subject.predicates.key(*id);
                found.push(same(clause.span, *first.get(), "rule").of(key));
            }
            Entry::Vacant(place) => {
                place.insert(clause.span);
            }
        }
    }
    subsumed(subject, &twice, found);
}

fn same(span: Span, first: Span, what: &str) -> Diagnostic {
    Diagnostic::new(
        Code::DuplicateClause,
        span,
        format!("this {what} stands here twice"),
    )
    .label(first, "first here")
    .help("remove one of them")
}

/// The clause as text in which variables are numbered: equal for clauses that differ in the names of variables only.
fn form(clause: &Clause) -> String {
    let (mut names, mut out) = (Names::default(), String::new());
    if let ClauseKind::Rule(head, body) = &clause.kind {
        names.write(head, &mut out);
        out.push_str(":-");
        names.write(body, &mut out);
    }
    out
}

/// The variables of a clause, numbered; each anonymous one is another.
#[derive(Default)]
struct Names<'t> {
    known: HashMap<&'t str, usize>,
    count: usize,
}

impl<'t> Names<'t> {
    fn number(&mut self, name: &'t str) -> usize {
        let next = self.count;
        let number = match name {
            "_" => next,
            name => *self.known.entry(name).or_insert(next),
        };
        self.count += usize::from(number == next);
        number
    }

    fn write(&mut self, term: &'t Term, out: &mut String) {
        let _ = match &term.kind {
            TermKind::Variable(name) => write!(out, "?{} ", self.number(name)),
            TermKind::Compound(name, _) => write!(out, "{}'{name}(", name.len()),
            TermKind::Conjunction(_) => out.write_str(",("),
            TermKind::Disjunction(_) => out.write_str(";("),
            TermKind::List(..) => out.write_str("[("),
            other => write!(out, "{other:?} "),
        };
        let (parts, tail): (&[Term], _) = match &term.kind {
            TermKind::Compound(_, parts)
            | TermKind::Conjunction(parts)
            | TermKind::Disjunction(parts) => (parts, None),
            TermKind::List(items, tail) => (items, tail.as_ref()),
            _ => return,
        };
        parts.iter().for_each(|part| self.write(part, out));
        if let Some(tail) = tail {
            out.push('|');
            self.write(tail, out);
        }
        out.push(')');
    }
}

/// Rules that another clause covers: whatever they derive, it derives.
fn subsumed(subject: &Subject<'_>, twice: &HashSet<Span>, found: &mut Vec<Diagnostic>) {
    let mut covered: BTreeMap<Span, Vec<(usize, Option<Span>)>> = BTreeMap::new();
    for (head, rules) in subject.rules_of.iter().enumerate() {
        let id = PredicateId(u32::try_from(head).unwrap_or(u32::MAX));
        let rules: Vec<(usize, &Rule)> = rules
            .iter()
            .filter_map(|at| Some((*at, subject.rules.get(*at)?)))
            .filter(|(_, rule)| !subject.faulty.contains(&rule.span))
            .collect();
        if rules.is_empty() {
            continue;
        }
        let by_fact = stated(subject, id, &rules);
        let by_rule = covering(&rules);
        for ((at, rule), (fact, other)) in rules.iter().zip(by_fact.into_iter().zip(by_rule)) {
            covered
                .entry(rule.span)
                .or_default()
                .push((*at, fact.or(other)));
        }
    }
    for (span, alternatives) in covered {
        // All alternatives of the clause are covered.
        let by: Option<Vec<Span>> = alternatives.iter().map(|(_, by)| *by).collect();
        let Some(by) = by.and_then(|by| by.first().copied()) else {
            continue;
        };
        let rule = alternatives
            .first()
            .and_then(|(at, _)| subject.rules.get(*at));
        let (Some(rule), false) = (rule, twice.contains(&span)) else {
            continue;
        };
        found.push(
            Diagnostic::new(
                Code::SubsumedClause,
                rule.head_span,
                "this clause adds nothing: another one holds whenever it does",
            )
            .label(by, "this one, which asks for less")
            .help("remove it; or remove the other one, if what this one asks for is meant to be needed")
            .of(subject.predicates.key(rule.head)),
        );
    }
}

/// For each rule with a ground head whether that is stated as a fact.
fn stated(subject: &Subject<'_>, id: PredicateId, rules: &[(usize, &Rule)]) -> Vec<Option<Span>> {
    let ground = |rule: &Rule| -> Option<Vec<Value>> {
        rule.args
            .iter()
            .map(|arg| match arg {
                Pattern::Constant(value) => Some(*value),
                _ => None,
            })
            .collect()
    };
    let heads: Vec<Option<Vec<Value>>> = rules.iter().map(|(_, rule)| ground(rule)).collect();
    let mut wanted: HashMap<&[Value], Option<Span>> =
        heads.iter().flatten().map(|head| (&**head, None)).collect();
    if let (false, Some(facts)) = (wanted.is_empty(), subject.facts.get(id.index())) {
        let arity = subject.predicates.key(id).arity();
        for (row, span) in facts.rows(arity).zip(&facts.spans) {
            if let Some(place) = wanted.get_mut(row) {
                place.get_or_insert(*span);
            }
        }
    }
    heads
        .iter()
        .map(|head| *wanted.get(&**head.as_ref()?)?)
        .collect()
}

/// For each rule of one predicate a rule of another clause that covers it. Equal ones cover what stands behind them.
fn covering(rules: &[(usize, &Rule)]) -> Vec<Option<Span>> {
    // What covers a rule has no feature that the rule has not. Each rule waits at the rarest of its features.
    let features: Vec<Vec<u64>> = rules.iter().map(|(_, rule)| features(rule)).collect();
    let mut count: HashMap<u64, usize> = HashMap::new();
    for feature in features.iter().flatten() {
        *count.entry(*feature).or_default() += 1;
    }
    let mut waiting: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, features) in features.iter().enumerate() {
        let rarest = features
            .iter()
            .min_by_key(|feature| (count.get(*feature).copied().unwrap_or(0), **feature));
        if let Some(rarest) = rarest {
            waiting.entry(*rarest).or_default().push(at);
        }
    }
    let count = u32::try_from(rules.len()).unwrap_or(u32::MAX);
    let mut budget = count.saturating_mul(STEPS_A_RULE).saturating_add(MAX_STEPS);
    let covers = |general: &Rule, special: &Rule, budget: &mut u32| {
        let steps = MAX_STEPS.min(*budget);
        let mut comparison = Comparison::new(general, special, steps);
        let covers = comparison.holds();
        *budget -= steps - comparison.left();
        covers
    };
    let mut covered = Vec::with_capacity(rules.len());
    for (special, own) in features.iter().enumerate() {
        let candidates = own
            .iter()
            .filter_map(|feature| waiting.get(feature))
            .flatten();
        let mut by = None;
        for general in candidates {
            let spans = (rules.get(*general), rules.get(special));
            let (Some((_, one)), Some((_, other))) = spans else {
                continue;
            };
            if one.span == other.span {
                continue;
            }
            let Some(left) = budget.checked_sub(STEPS_A_COMPARISON) else {
                break;
            };
            budget = left;
            let subset = features
                .get(*general)
                .is_some_and(|general| is_subset(general, own));
            if subset
                && covers(one, other, &mut budget)
                && (one.span < other.span || !covers(other, one, &mut budget))
            {
                by = Some(one.head_span);
                break;
            }
        }
        covered.push(by);
    }
    covered
}

/// Whether all of a sorted list is in another.
fn is_subset(part: &[u64], whole: &[u64]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|item| rest.any(|other| other == item))
}

/// What a rule must have for this one to cover it, as far as a glance tells: sorted, each once.
fn features(rule: &Rule) -> Vec<u64> {
    fn feature(parts: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        hasher.finish()
    }
    let mut found = vec![feature("any")];
    for (column, arg) in rule.args.iter().enumerate() {
        if let Pattern::Constant(value) = arg {
            found.push(feature(("head", column, value)));
        }
    }
    for literal in &rule.body {
        let (negative, call) = match &literal.kind {
            LiteralKind::Not(bodies, _) => match &**bodies {
                [body] => match &**body {
                    [inner] => (true, inner),
                    _ => (true, literal),
                },
                _ => (true, literal),
            },
            _ => (false, literal),
        };
        let LiteralKind::Call(callee, args) = &call.kind else {
            found.push(feature(std::mem::discriminant(&literal.kind)));
            continue;
        };
        found.push(feature(("call", negative, callee)));
        for (column, arg) in args.iter().enumerate() {
            if let Pattern::Constant(value) = arg {
                found.push(feature((negative, callee, column, value)));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use crate::{Code, Program, Rulebase, Source};

    /// The lines of the clauses that another one covers.
    fn covered(rules: &str) -> Vec<usize> {
        let text = format!(":- dynamic a/1, b/1, c/2, n/2.\n{rules}");
        let checked = Rulebase::check(Program::parse([Source::new("a.pl", text)]));
        let of = |found: &&crate::Diagnostic| found.code == Code::SubsumedClause;
        let found = checked.diagnostics.iter().filter(of);
        found
            .map(|found| checked.sources.start(found.span).line - 1)
            .collect()
    }

    #[test]
    fn a_clause_is_covered_by_one_that_asks_for_less() {
        assert_eq!(covered("p(X) :- a(X).\np(X) :- a(X), \\+ b(X).\n"), [2]);
        assert_eq!(covered("p(X) :- a(X), b(X).\np(X) :- b(X).\n"), [1]);
        assert_eq!(covered("p(X) :- a(X), b(X).\np(Y) :- b(Y), a(Y).\n"), [2]);
        assert_eq!(covered("p(X) :- c(X, _).\np(k) :- c(k, v), a(k).\n"), [2]);
        assert_eq!(
            covered("p(X) :- a(X).\np(X) :- ( a(X), b(X) ; c(X, k), a(X) ).\n"),
            [2]
        );
        assert_eq!(covered("p(k).\np(k) :- a(k).\n"), [2]);
        assert_eq!(
            covered("p(X) :- n(X, N), N > 3.\np(X) :- n(X, M), M > 3, a(X).\n"),
            [2]
        );
    }

    #[test]
    fn a_clause_that_asks_for_something_else_is_not() {
        assert_eq!(covered("p(X) :- a(X).\np(X) :- b(X), \\+ a(X).\n"), [0; 0]);
        assert_eq!(covered("p(k) :- a(k).\np(X) :- a(X), b(X).\n"), [0; 0]);
        assert_eq!(
            covered("p(X) :- a(X).\np(X) :- ( a(X), b(X) ; c(X, k) ).\n"),
            [0; 0]
        );
        assert_eq!(
            covered("p(X) :- n(X, N), N > 3.\np(X) :- n(X, M), M > 4, a(X).\n"),
            [0; 0]
        );
        assert_eq!(
            covered("r(X, Y) :- c(X, Y).\nr(X, Y) :- c(X, Z), r(Z, Y).\n"),
            [0; 0]
        );
    }

    /// `\+ c(X, _)` is stronger than `\+ c(X, k)`: neither a constant nor an outer variable stands for "no such".
    #[test]
    fn what_a_negation_says_for_all_is_kept() {
        let rules = |one: &str, other: &str| {
            covered(&format!(
                "p(X) :- a(X), \\+ {one}.\np(X) :- a(X), b(X), \\+ {other}.\n"
            ))
        };
        assert_eq!(rules("c(X, _)", "c(X, _)"), [2]);
        assert_eq!(rules("c(X, k)", "c(X, k)"), [2]);
        assert_eq!(rules("c(X, _)", "c(X, k)"), [0; 0]);
        assert_eq!(rules("c(X, _)", "c(X, X)"), [0; 0]);
        assert_eq!(rules("c(X, k)", "c(X, _)"), [0; 0]);
    }
}
