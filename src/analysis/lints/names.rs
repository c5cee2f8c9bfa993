//! Names that look like another: of predicates, of constants.
//!
//! Nothing here is done for a decision, and no finding changes one: the two names stay different.

use super::Subject;
use super::sorts::Sorts;
use crate::analysis::near::{self, Likeness};
use crate::analysis::shape;
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::source::Span;
use crate::syntax::{ClauseKind, Term, TermKind, quoted_atom};
use crate::value::Value;
use std::collections::{BTreeMap, HashMap};

/// How many findings there are of predicates, and of constants.
const MAX_FOUND: usize = 20;
/// How many letters a constant must have for an edit to be an accident.
const MIN_LETTERS: usize = 5;

pub(super) fn all(subject: &Subject<'_>, sorts: &Sorts, found: &mut Vec<Diagnostic>) {
    predicates(subject, found);
    constants(subject, sorts, found);
}

fn predicates(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    let mut by_arity: BTreeMap<usize, Vec<(PredicateKey, Option<Span>)>> = BTreeMap::new();
    for (_, known) in subject.predicates.iter() {
        if let Some(place) = known.place() {
            let list = by_arity.entry(known.key.arity()).or_default();
            list.push((known.key.clone(), Some(place)));
        }
    }
    for (name, arity) in shape::CONVENTIONAL {
        let key = PredicateKey::new(name, arity);
        let list = by_arity.entry(arity).or_default();
        if !list.iter().any(|(known, _)| *known == key) {
            list.push((key, None));
        }
    }
    let mut findings = Vec::new();
    for known in by_arity.values() {
        let names: Vec<&str> = known.iter().map(|(key, _)| key.name()).collect();
        let pairs = near::alike(&names, |a, b, likeness| {
            let (a, b) = (names.get(a), names.get(b));
            let (Some(a), Some(b)) = (a, b) else {
                return false;
            };
            let plural = a.strip_suffix('s') == Some(b) || b.strip_suffix('s') == Some(a);
            likeness != Likeness::Edit || !plural
        });
        for (a, b, likeness) in pairs {
            let (Some((first, place)), Some((second, span))) = (known.get(a), known.get(b)) else {
                continue;
            };
            let found = |span, odd: &PredicateKey, other: &PredicateKey| {
                Diagnostic::new(
                    Code::NearName,
                    span,
                    format!(
                        "`{odd}` looks like `{other}`{}",
                        how(odd.name(), other.name(), likeness)
                    ),
                )
                .help("mend the name if the two are meant to be one predicate")
                .of(odd)
            };
            findings.extend(match (place, span) {
                (Some(place), Some(span)) => {
                    Some(found(*span, second, first).label(*place, format!("`{first}` is here")))
                }
                (Some(place), None) => Some(found(*place, first, second).help(format!(
                    "rename it if it is meant to be `{second}`, which a gate asks by name"
                ))),
                _ => None,
            });
        }
    }
    findings.sort_by_key(|found: &Diagnostic| found.span);
    findings.truncate(MAX_FOUND);
    found.append(&mut findings);
}

/// In which way the two look alike, if that is not plain to see.
fn how(odd: &str, other: &str, likeness: Likeness) -> String {
    if likeness != Likeness::Confusable {
        return String::new();
    }
    let invisible = odd
        .chars()
        .chain(other.chars())
        .find(|c| near::is_invisible(*c));
    let code = |c: char| format!("U+{:04X}", u32::from(c));
    if let Some(c) = invisible {
        return format!(": one of them has the invisible character {}", code(c));
    }
    if odd.trim() == other.trim() {
        return ": one of them has a blank at its end or at its start".to_owned();
    }
    match odd.chars().zip(other.chars()).find(|(a, b)| a != b) {
        Some((a, b)) => format!(
            ": they are drawn alike, and differ in {} and {}",
            code(a),
            code(b)
        ),
        None => ": they are drawn alike, and differ in their characters".to_owned(),
    }
}

fn constants(subject: &Subject<'_>, sorts: &Sorts, found: &mut Vec<Diagnostic>) {
    let atoms: Vec<(Value, &str)> = (0..subject.constants.len())
        .map(Value)
        .filter(|value| sorts.count(*value) > 0)
        .filter_map(|value| Some((value, subject.constants.atom_text(value)?)))
        .collect();
    let names: Vec<&str> = atoms.iter().map(|(_, name)| *name).collect();
    let mut pairs = near::alike(&names, |a, b, likeness| {
        let (Some((a, x)), Some((b, y))) = (atoms.get(a), atoms.get(b)) else {
            return false;
        };
        likeness != Likeness::Edit
            || (sorts.count(*a).min(sorts.count(*b)) == 1
                && (sorts.share(*a, *b) || are_of_one_form(x, y))
                && letters(x).min(letters(y)) >= MIN_LETTERS)
    });
    // What nobody can see needs no second name to be an accident.
    let hidden = names.iter().enumerate().filter(|(at, name)| {
        let visible = |c: char| !near::is_invisible(c);
        !name.is_ascii()
            && name.chars().filter(|c| visible(*c)).all(|c| c.is_ascii())
            && !name.chars().all(visible)
            && !pairs.iter().any(|(a, b, _)| a == at || b == at)
    });
    let hidden: Vec<usize> = hidden.map(|(at, _)| at).take(MAX_FOUND).collect();
    pairs.truncate(MAX_FOUND);
    let wanted = pairs
        .iter()
        .flat_map(|(a, b, _)| [*a, *b])
        .chain(hidden.iter().copied());
    let mut places: HashMap<&str, Places> = wanted
        .filter_map(|at| Some((*names.get(at)?, Places::default())))
        .collect();
    if places.is_empty() {
        return;
    }
    for (id, clause) in subject.clauses {
        let (head, body) = match &clause.kind {
            ClauseKind::Fact(head) => (head, None),
            ClauseKind::Rule(head, body) => (head, Some(body)),
            _ => continue,
        };
        for part in head.args().iter().chain(body) {
            look(part, &mut |name, span| {
                if let Some(place) = places.get_mut(name) {
                    place.count += 1;
                    place
                        .first
                        .get_or_insert((span, subject.predicates.key(*id)));
                }
            });
        }
    }
    let mut findings: Vec<Diagnostic> = Vec::new();
    for (a, b, likeness) in pairs {
        let (Some(a), Some(b)) = (names.get(a), names.get(b)) else {
            continue;
        };
        findings.extend(pair(a, b, likeness, &places));
    }
    for name in hidden.into_iter().filter_map(|at| names.get(at)) {
        let Some((span, key)) = places.get(name).and_then(|place| place.first.clone()) else {
            continue;
        };
        let (code, rest) = match name.chars().find(|c| near::is_invisible(*c)) {
            Some(c) => (
                format!("U+{:04X}", u32::from(c)),
                name.replace(near::is_invisible, ""),
            ),
            None => continue,
        };
        findings.push(
            Diagnostic::new(
                Code::NearName,
                span,
                format!("this name has the invisible character {code}"),
            )
            .help(format!("did you mean `{}`?", quoted_atom(&rest)))
            .of(key),
        );
    }
    findings.sort_by_key(|found| found.span);
    findings.truncate(MAX_FOUND);
    found.append(&mut findings);
}

/// Where a name stands.
#[derive(Default)]
struct Places {
    count: usize,
    first: Option<(Span, PredicateKey)>,
}

fn pair(
    a: &str,
    b: &str,
    likeness: Likeness,
    places: &HashMap<&str, Places>,
) -> Option<Diagnostic> {
    let of = |name: &str| {
        let place = places.get(name)?;
        let (span, key) = place.first.clone()?;
        Some((place.count, span, key))
    };
    let (one, other) = (of(a)?, of(b)?);
    // The rarer one is the odd one; of two the later.
    let first_is_odd = (one.0, std::cmp::Reverse(one.1)) < (other.0, std::cmp::Reverse(other.1));
    let (odd, (_, span, key), like, (count, place, _)) = match first_is_odd {
        true => (a, one, b, other),
        false => (b, other, a, one),
    };
    let (odd_name, like_name) = (quoted_atom(odd), quoted_atom(like));
    Some(
        Diagnostic::new(
            Code::NearName,
            span,
            format!(
                "`{odd_name}` looks like `{like_name}`{}",
                how(odd, like, likeness)
            ),
        )
        .label(
            place,
            match count {
                1 => format!("`{like_name}` is here"),
                _ => format!("`{like_name}` is here, and in {} more places", count - 1),
            },
        )
        .help(format!(
            "write `{like_name}` if the two are meant to be one"
        ))
        .of(key),
    )
}

/// Whether both names are written as tools are, or as actors with a kind are.
fn are_of_one_form(a: &str, b: &str) -> bool {
    let both = |form: fn(&str) -> bool| form(a) && form(b);
    both(|name| name.starts_with("tool_")) || both(|name| name.contains(':'))
}

fn letters(name: &str) -> usize {
    let name = name.strip_prefix("tool_").unwrap_or(name);
    name.chars().filter(|c| c.is_alphabetic()).count()
}

/// Every atom that is an argument, with its place.
fn look<'t>(term: &'t Term, visit: &mut impl FnMut(&'t str, Span)) {
    match &term.kind {
        TermKind::Atom(name) => visit(name, term.span),
        TermKind::Compound(_, parts)
        | TermKind::Conjunction(parts)
        | TermKind::Disjunction(parts) => parts.iter().for_each(|part| look(part, visit)),
        TermKind::List(items, tail) => {
            items.iter().for_each(|item| look(item, visit));
            if let Some(tail) = tail {
                look(tail, visit);
            }
        }
        _ => {}
    }
}
