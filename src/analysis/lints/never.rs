//! What can never hold: rules that never fire, and negations that rest on it.
//!
//! Nothing here is a fault: a predicate that is declared and empty is how a list of exceptions starts.

use super::Subject;
use super::circuit::{self, Circuit, Parts, Verdict};
use crate::analysis::near;
use crate::analysis::rule::{Literal, LiteralKind, NotOrigin, PredicateId, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::source::Span;
use crate::value::{Constant, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How many further places a finding names.
const MAX_PLACES: usize = 8;
/// Among how many constants of a column a near one is looked for.
const MAX_CANDIDATES: usize = 10_000;
/// For how many findings that is done.
const MAX_SUGGESTIONS: usize = 20;

pub(super) fn all(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let circuit = Circuit::new(&Parts {
        rules: subject.rules,
        facts: subject.facts,
        predicates: subject.predicates,
        unread: subject.unread,
    });
    negations(subject, &circuit, found);
    dead_rules(subject, &circuit, found);
}

fn verdict(list: &[Verdict], at: usize) -> Verdict {
    list.get(at).copied().unwrap_or_default()
}

/// The call in a conjunction that cannot hold.
fn culprit(circuit: &Circuit<'_>, body: &[Literal]) -> Option<PredicateId> {
    body.iter().find_map(|literal| match &literal.kind {
        LiteralKind::Call(callee, _) => verdict(&circuit.predicates, callee.index())
            .now
            .then_some(*callee),
        LiteralKind::Not(bodies, _) => match &**bodies {
            [only] => match &**only {
                [
                    Literal {
                        kind: LiteralKind::Not(inner, _),
                        ..
                    },
                ] => inner.iter().find_map(|body| culprit(circuit, body)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// Where a finding about a predicate that nothing makes hold says that it is declared.
fn declared(subject: &Subject<'_>, id: PredicateId) -> Option<Span> {
    subject
        .predicates
        .get(id)
        .filter(|known| known.defined.is_empty())
        .and_then(|known| known.declared.first().copied())
}

/// Whether its clauses have another number of arguments: that is told where it is declared.
fn has_other_arity(subject: &Subject<'_>, id: PredicateId) -> bool {
    let key = subject.predicates.key(id);
    declared(subject, id).is_some() && subject.predicates.arities(key.name()).len() > 1
}

/// Whether the author says with `fail` that nothing is to hold.
fn is_meant_empty(subject: &Subject<'_>, id: PredicateId) -> bool {
    let mut rules = subject
        .rules_of
        .get(id.index())
        .into_iter()
        .flatten()
        .filter_map(|at| subject.rules.get(*at))
        .peekable();
    rules.peek().is_some()
        && rules.all(|rule| {
            rule.body
                .iter()
                .any(|literal| literal.kind == LiteralKind::Fail)
        })
}

/// Negations of what can never hold, one finding for each such predicate.
fn negations(subject: &Subject<'_>, circuit: &Circuit<'_>, found: &mut Vec<Diagnostic>) {
    let mut by_culprit: BTreeMap<PredicateId, Vec<(Span, PredicateId, bool)>> = BTreeMap::new();
    let mut told: BTreeSet<(PredicateId, usize, Value)> = BTreeSet::new();
    for negation in &circuit.negations {
        if !negation.never.now {
            continue;
        }
        let culprit = negation
            .alternatives
            .iter()
            .find_map(|body| culprit(circuit, body));
        if culprit.is_none()
            && let Some((missing, place)) = missing_in(circuit, negation.alternatives)
            && told.insert((missing.callee, missing.column, missing.value))
        {
            found.extend(written_otherwise(subject, missing, place, negation.head));
        }
        if let (Some(culprit), NotOrigin::Negation | NotOrigin::Condition) =
            (culprit, negation.origin)
            && !has_other_arity(subject, culprit)
        {
            by_culprit.entry(culprit).or_default().push((
                negation.span,
                negation.head,
                negation.never.ever,
            ));
        }
    }
    for (culprit, mut places) in by_culprit {
        places.sort_unstable();
        places.dedup();
        let Some((first, head, _)) = places.first().copied() else {
            continue;
        };
        let key = subject.predicates.key(culprit);
        let declared = declared(subject, culprit);
        let message = match declared {
            Some(_) => format!(
                "`{key}` can never hold, since nothing states it here: this negation always succeeds"
            ),
            None => format!(
                "`{key}` can never hold, since none of its rules fires: this negation always succeeds"
            ),
        };
        let mut finding = Diagnostic::new(Code::VacuousNegation, first, message)
            .help(match declared {
                Some(_) => format!(
                    "state facts of `{key}`, or check it together with the file that does; remove the negation if nothing ever will"
                ),
                None => format!("mend the rules of `{key}`, or remove the negation"),
            })
            .of(subject.predicates.key(head));
        if is_meant_empty(subject, culprit) || places.iter().all(|(.., ever)| !ever) {
            finding.severity = Severity::Note;
        }
        if let Some(place) = declared {
            finding = finding.label(place, "declared here, without a clause");
        }
        for (place, ..) in places.iter().skip(1).take(MAX_PLACES) {
            finding = finding.label(*place, "and so does this one");
        }
        found.push(finding);
    }
}

/// The constant for which something negated cannot hold, and where it is asked for.
fn missing_in(
    circuit: &Circuit<'_>,
    alternatives: &[Vec<Literal>],
) -> Option<(circuit::Missing, Span)> {
    alternatives
        .iter()
        .flatten()
        .find_map(|literal| match &literal.kind {
            LiteralKind::Call(callee, args) => {
                let missing = circuit::missing_of(&circuit.missing, *callee, args)?;
                Some((missing, literal.span))
            }
            _ => None,
        })
}

/// A negation that finds nothing for how a constant is written: `1` where the facts have `'1'`. That nothing has the
/// constant is by itself no finding: nobody may be suspended today.
fn written_otherwise(
    subject: &Subject<'_>,
    missing: circuit::Missing,
    place: Span,
    head: PredicateId,
) -> Option<Diagnostic> {
    let key = subject.predicates.key(missing.callee);
    let facts = subject.facts.get(missing.callee.index())?;
    let wanted = spelling(subject, missing.value)?;
    let column = facts.values.iter().skip(missing.column);
    let other = column
        .step_by(key.arity().max(1))
        .find(|value| spelling(subject, **value).as_ref() == Some(&wanted))?;
    let (text, other) = (
        subject.constants.text(missing.value),
        subject.constants.text(*other),
    );
    Some(
        Diagnostic::new(
            Code::VacuousNegation,
            place,
            format!(
                "nothing has `{text}` as argument {} of `{key}`: this negation always succeeds",
                missing.column + 1
            ),
        )
        .help(format!(
            "did you mean `{other}`, which never matches `{text}`?"
        ))
        .of(subject.predicates.key(head)),
    )
}

/// What a constant says, whether it is an atom, a string or a number.
fn spelling(subject: &Subject<'_>, value: Value) -> Option<String> {
    match subject.constants.get(value) {
        Constant::Atom(text) | Constant::String(text) => Some(text.to_string()),
        Constant::Integer(_) => Some(subject.constants.text(value)),
        Constant::Float(bits) => {
            let float = f64::from_bits(*bits);
            Some(format!("{float}"))
        }
        Constant::Nil | Constant::Compound(..) => None,
    }
}

/// Why a rule never fires.
enum Reason {
    /// Nothing makes the predicate hold.
    Empty(PredicateId),
    /// The predicate needs this very rule.
    Circular(PredicateId),
    Missing(circuit::Missing),
    Contradiction(Span),
}

fn dead_rules(subject: &Subject<'_>, circuit: &Circuit<'_>, found: &mut Vec<Diagnostic>) {
    // A clause is dead if all of its alternatives are.
    let mut clauses: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    for (at, rule) in subject.rules.iter().enumerate() {
        clauses.entry(rule.span).or_default().push(at);
    }
    let mut by_predicate: BTreeMap<PredicateId, Vec<(&Rule, Span)>> = BTreeMap::new();
    let mut suggestions = 0;
    for (span, alternatives) in clauses {
        let all = |dead: fn(Verdict) -> bool| {
            alternatives
                .iter()
                .all(|at| dead(verdict(&circuit.rules, *at)))
        };
        if !all(|verdict| verdict.now) || subject.unread_clauses.contains(&span) {
            continue;
        }
        let Some(rule) = alternatives.first().and_then(|at| subject.rules.get(*at)) else {
            continue;
        };
        let Some((reason, place)) = reason(subject, circuit, rule, &rule.body) else {
            continue;
        };
        let ever = all(|verdict| verdict.ever);
        if let (Reason::Empty(id), false) = (&reason, ever) {
            by_predicate.entry(*id).or_default().push((rule, place));
            continue;
        }
        let key = subject.predicates.key(rule.head);
        let mut finding = match reason {
            Reason::Empty(id) => empty(subject, id, place),
            Reason::Circular(id) => Diagnostic::new(
                Code::DeadRule,
                place,
                format!(
                    "this rule never fires: `{}` holds only if it already does",
                    subject.predicates.key(id)
                ),
            )
            .help("state a fact, or a rule that does not need the predicate itself"),
            Reason::Missing(missing) => {
                let suggest = suggestions < MAX_SUGGESTIONS;
                suggestions += 1;
                nothing_has(subject, missing, place, suggest)
            }
            Reason::Contradiction(other) => Diagnostic::new(
                Code::DeadRule,
                other,
                "this rule never fires: its body contradicts itself",
            )
            .help("remove the rule, or mend the literal that is meant to differ"),
        };
        if !ever {
            finding.severity = Severity::Note;
        }
        found.push(finding.of(key));
    }
    for (id, mut rules) in by_predicate {
        rules.sort_by_key(|(_, place)| *place);
        let Some((rule, place)) = rules.first() else {
            continue;
        };
        let mut finding = empty(subject, id, *place).of(subject.predicates.key(rule.head));
        finding.severity = Severity::Note;
        for (_, place) in rules.iter().skip(1).take(MAX_PLACES) {
            finding = finding.label(*place, "and neither does this one");
        }
        found.push(finding);
    }
}

fn empty(subject: &Subject<'_>, id: PredicateId, place: Span) -> Diagnostic {
    let key = subject.predicates.key(id);
    let finding = Diagnostic::new(
        Code::DeadRule,
        place,
        format!("this rule never fires: nothing states `{key}` here"),
    )
    .help(format!(
        "state facts of `{key}`, or check it together with the file that does"
    ));
    match declared(subject, id) {
        Some(place) => finding.label(place, "declared here, without a clause"),
        None => finding,
    }
}

/// The first literal that keeps the rule from firing, unless it is written to do so or the cause is told elsewhere.
fn reason(
    subject: &Subject<'_>,
    circuit: &Circuit<'_>,
    rule: &Rule,
    body: &[Literal],
) -> Option<(Reason, Span)> {
    for literal in body {
        match &literal.kind {
            LiteralKind::Call(callee, args) => {
                let callees = verdict(&circuit.predicates, callee.index());
                if callees.now {
                    let inside = subject.graph.component_of(*callee)
                        == subject.graph.component_of(rule.head);
                    let stated = declared(subject, *callee).is_some();
                    return match (inside, stated) {
                        (_, true) => Some((Reason::Empty(*callee), literal.span)),
                        (true, _) if callees.ever => {
                            Some((Reason::Circular(*callee), literal.span))
                        }
                        // The rules of the callee are dead, which is told there.
                        _ => None,
                    };
                }
                if let Some(missing) = circuit::missing_of(&circuit.missing, *callee, args) {
                    return Some((Reason::Missing(missing), literal.span));
                }
            }
            LiteralKind::Fail => return None,
            _ => {}
        }
    }
    circuit::contradicts_itself(body).map(|span| (Reason::Contradiction(span), rule.head_span))
}

fn nothing_has(
    subject: &Subject<'_>,
    missing: circuit::Missing,
    place: Span,
    suggest: bool,
) -> Diagnostic {
    let key = subject.predicates.key(missing.callee);
    let text = subject.constants.text(missing.value);
    let finding = Diagnostic::new(
        Code::DeadRule,
        place,
        format!(
            "this rule never fires: nothing has `{text}` as argument {} of `{key}`",
            missing.column + 1
        ),
    );
    let facts = subject.facts.get(missing.callee.index());
    let mut column: Vec<Value> = facts
        .into_iter()
        .flat_map(|facts| facts.values.iter().skip(missing.column))
        .step_by(key.arity().max(1))
        .take(MAX_CANDIDATES)
        .copied()
        .collect();
    column.sort_unstable();
    column.dedup();
    let near = subject
        .constants
        .atom_text(missing.value)
        .filter(|_| suggest)
        .and_then(|name| {
            let names = column
                .iter()
                .filter_map(|value| subject.constants.atom_text(*value));
            near::nearest(name, names)
        });
    match near {
        Some(near) => finding.help(format!(
            "did you mean `{}`?",
            crate::syntax::quoted_atom(near)
        )),
        None => finding.help("state a fact that has it, or mend the name"),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Code, Program, Rulebase, Severity, Source};

    fn found(rules: &str) -> Vec<(Code, Severity, usize)> {
        let checked = Rulebase::check(Program::parse([Source::new("a.pl", rules)]));
        let wanted = [Code::VacuousNegation, Code::DeadRule];
        checked
            .diagnostics
            .iter()
            .filter(|found| wanted.contains(&found.code))
            .map(|found| {
                (
                    found.code,
                    found.severity,
                    checked.sources.start(found.span).line,
                )
            })
            .collect()
    }

    #[test]
    fn what_facts_may_come_of_is_a_note() {
        use Code::{DeadRule, VacuousNegation};
        use Severity::{Note, Warning};
        assert_eq!(
            found(":- dynamic b/1.\na(x).\np(X) :- a(X), \\+ b(X).\n"),
            [(VacuousNegation, Note, 3)]
        );
        assert_eq!(
            found("a(x).\nb(X) :- b(X), a(X).\np(X) :- a(X), \\+ b(X).\n"),
            [(DeadRule, Warning, 2), (VacuousNegation, Warning, 3)]
        );
        assert_eq!(
            found("a(x).\nb(_) :- fail.\np(X) :- a(X), \\+ b(X).\n"),
            [(VacuousNegation, Note, 3)]
        );
    }

    #[test]
    fn what_is_written_otherwise_is_a_warning_and_what_nobody_has_is_none() {
        let rules = |state: &str, asked: &str| {
            format!("a(x).\ns(x, {state}).\np(X) :- a(X), \\+ s(X, {asked}).\n")
        };
        let expected = [(Code::VacuousNegation, Severity::Warning, 3)];
        for (state, asked) in [("'1'", "1"), ("\"off\"", "off"), ("1", "1.0")] {
            assert_eq!(found(&rules(state, asked)), expected, "{state} {asked}");
        }
        for (state, asked) in [("on", "off"), ("f(1)", "1"), ("1", "X"), ("off", "off")] {
            assert_eq!(found(&rules(state, asked)), [], "{state} {asked}");
        }
    }
}
