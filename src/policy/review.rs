//! All there is to say about rules: what checking found, what only a model shows, what comments silence.
//!
//! Nothing here decides, and nothing here makes a fault smaller than it is, except with an allowlist, which need not be
//! clean beyond its slice.

use super::basis::Basis;
use super::doubts::Doubts;
use super::{Allowlist, BindError, DEFAULT_ALLOWLIST, DEFAULT_TOOL_PREFIX};
use crate::analysis::rule::PredicateId;
use crate::analysis::{Checked, Data, Rulebase, Silenced, shape};
use crate::budget::Budget;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::engine::Model;
use crate::key::PredicateKey;
use crate::source::{Sources, Span};
use crate::syntax;
use crate::value::{Constant, Value};
use std::collections::HashSet;

/// How many steps the searches for witnesses take.
const STEPS: u64 = 10_000_000;
/// How many grants that no call can ask for are named.
const MAX_UNREACHABLE: usize = 20;

/// All there is to say about rules.
///
/// ```
/// use horngate::{Budget, Program, Rulebase, Source};
/// let rules = "may_execute(Agent, Action) :- \\+ blocked(Agent, Action).\n:- dynamic blocked/2.\n";
/// let checked = Rulebase::check(Program::parse([Source::new("open.pl", rules)]));
/// let review = checked.review(None, &Budget::default());
/// let kinds: Vec<&str> = review.diagnostics.iter().map(|found| found.code.kind()).collect();
/// assert_eq!(kinds, ["unsafe", "default-allow", "vacuous-negation"]);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Review {
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// Every error, fault, lint and note, in the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
    /// The lints and notes that comments silence, in the order of the texts.
    pub silenced: Vec<Silenced>,
    /// What the allowlist rests on, if one is named and defined.
    pub basis: Option<Basis>,
    /// The predicates that the allowlist depends on, as diagnostics name them, sorted; itself included.
    pub slice: Vec<String>,
}

impl Checked {
    /// Says all there is to say, also what only the model shows. With an allowlist, as `name/2`, it is judged by what
    /// that depends on: whatever is about other predicates becomes a note.
    #[must_use]
    pub fn review(self, allowlist: Option<&str>, budget: &Budget) -> Review {
        let mut review = Review {
            sources: self.sources,
            diagnostics: self.diagnostics,
            ..Review::default()
        };
        if let Ok(rulebase) = &self.rulebase {
            review.model(rulebase, allowlist, budget);
        }
        review.silenced = self.silences.apply(&mut review.diagnostics);
        review
            .silenced
            .sort_by(|a, b| a.diagnostic.by_place(&b.diagnostic));
        review.diagnostics.sort_by(Diagnostic::by_place);
        review
    }
}

impl Review {
    fn model(&mut self, rulebase: &Rulebase, allowlist: Option<&str>, budget: &Budget) {
        let data: &Data = &rulebase.data;
        let named = allowlist.map(|name| (name, name.parse::<PredicateKey>().ok()));
        let chosen = match &named {
            Some((_, key)) => key.as_ref().and_then(|key| data.find(key)),
            None => None,
        };
        let model = match rulebase.evaluate(budget) {
            Ok(model) => {
                self.diagnostics.extend(model.failures());
                self.doubts(&model, chosen);
                Some(model)
            }
            Err(exceeded) => {
                self.diagnostics.push(exceeded.diagnostic());
                None
            }
        };
        let Some((name, key)) = named else {
            let default = DEFAULT_ALLOWLIST.parse().ok();
            let default = default.and_then(|key| data.find(&key));
            if let (Some(model), Some(id)) = (&model, default) {
                self.diagnostics.extend(grants(model, id));
            }
            return;
        };
        if let Some(key) = &key {
            self.judge(rulebase, key);
            self.basis = rulebase.basis(key);
        }
        let slice: Vec<PredicateKey> = key.into_iter().collect();
        let model = match model {
            Some(model) => Ok(model),
            // What the allowlist does not need may cost more than all that it needs.
            None => rulebase.evaluate_slice(&slice, budget),
        };
        match model {
            Ok(model) => match Allowlist::bind(&model, name) {
                Ok(bound) => {
                    self.diagnostics.extend_from_slice(bound.doubts());
                    self.diagnostics
                        .extend(chosen.into_iter().flat_map(|id| grants(&model, id)));
                }
                Err(error) => {
                    self.diagnostics.extend(
                        chosen
                            .into_iter()
                            .flat_map(|id| Doubts::new(&model, STEPS).of(id, true)),
                    );
                    self.diagnostics.push(unbound(&error));
                }
            },
            Err(exceeded) => {
                self.diagnostics.retain(|found| found.code != Code::Budget);
                self.diagnostics.push(exceeded.diagnostic());
            }
        }
    }

    /// The doubts about all predicates but the one that is told of apart.
    fn doubts(&mut self, model: &Model, apart: Option<PredicateId>) {
        let mut doubts = Doubts::new(model, STEPS);
        for (id, known) in model.data.rulebase.data.predicates.iter() {
            if known.is_defined() && Some(id) != apart {
                let grants = shape::grants(&known.key);
                self.diagnostics.extend(doubts.of(id, grants));
            }
        }
    }

    /// Makes notes of what is about predicates that the allowlist does not depend on.
    fn judge(&mut self, rulebase: &Rulebase, allowlist: &PredicateKey) {
        let slice = rulebase.slice(allowlist);
        self.slice = slice.into_iter().map(ToString::to_string).collect();
        self.slice.sort();
        let slice = &self.slice;
        let is_elsewhere =
            |predicate: &String| !slice.is_empty() && slice.binary_search(predicate).is_err();
        for found in &mut self.diagnostics {
            if found.predicate.as_ref().is_some_and(is_elsewhere) {
                found.severity = Severity::Note;
            }
        }
    }
}

fn unbound(error: &BindError) -> Diagnostic {
    let first = error.diagnostics.first();
    let place = first.map_or_else(Span::default, |first| first.span);
    let found = Diagnostic::new(Code::FaultySlice, place, error.to_string()).of(&error.predicate);
    match error
        .diagnostics
        .iter()
        .find_map(|first| first.help.as_ref())
    {
        Some(help) => found.help(help),
        None => found,
    }
}

/// What is odd about the grants themselves.
fn grants(model: &Model, id: PredicateId) -> Vec<Diagnostic> {
    let data: &Data = &model.data.rulebase.data;
    let (Some(known), None, 2) = (
        data.predicates.get(id),
        model.refusal(id),
        data.predicates.key(id).arity(),
    ) else {
        return Vec::new();
    };
    let key = &known.key;
    let Some(relation) = model.data.relations.get(id.index()) else {
        return Vec::new();
    };
    let Some(place) = known.place() else {
        return Vec::new();
    };
    if relation.len() == 0 {
        let mut found = Diagnostic::new(
            Code::NeverTrue,
            place,
            format!("`{key}` grants nothing: every call is denied"),
        )
        .help("state a grant, or check it together with the file that does")
        .of(key);
        let basis = model.data.rulebase.basis(key).unwrap_or_default();
        if basis.facts.iter().any(|(_, count)| *count == 0) {
            found.severity = Severity::Note;
        }
        return vec![found];
    }
    let mut found = Vec::new();
    let mut count: usize = 0;
    let mut seen: HashSet<&[Value]> = HashSet::new();
    let mut tell = |row: &[Value], place: Span| {
        if let Some((why, help)) = unreachable(model, row) {
            count += 1;
            if found.len() < MAX_UNREACHABLE {
                let tuple = super::probe::fact(model, &model.data.constants, id, row);
                found.push(
                    Diagnostic::new(
                        Code::UnreachableGrant,
                        place,
                        format!("no call can ask for `{tuple}`: {why}"),
                    )
                    .help(help)
                    .of(key),
                );
            }
        }
    };
    let rules = data.rules_of.get(id.index()).into_iter().flatten();
    let rule = rules.filter_map(|at| data.rules.get(*at)).next();
    if let Some(facts) = data.facts.get(id.index()) {
        for (row, span) in facts.rows(2).zip(&facts.spans) {
            tell(row, *span);
            if rule.is_some() {
                seen.insert(row);
            }
        }
    }
    if let Some(rule) = rule {
        for row in relation.rows().filter(|row| !seen.contains(row)) {
            tell(row, rule.head_span);
        }
    }
    if let (Some(more @ 1..), Some(last)) = (count.checked_sub(MAX_UNREACHABLE), found.last_mut()) {
        last.message = format!("{}; and so it is with {more} more", last.message);
    }
    found
}

/// Why no call can ask for the pair, and what to write.
fn unreachable(model: &Model, row: &[Value]) -> Option<(String, String)> {
    let constants = &model.data.constants;
    let [actor, tool] = row else { return None };
    let kind = |value: &Value| match constants.get(*value) {
        Constant::Atom(_) => None,
        Constant::String(_) => Some("a string"),
        Constant::Integer(_) | Constant::Float(_) => Some("a number"),
        Constant::Nil => Some("the empty list"),
        Constant::Compound(..) => Some("a term"),
    };
    let plain = |value: &Value| match constants.get(*value) {
        Constant::String(text) => text.to_string(),
        _ => constants.text(*value).replace('\'', ""),
    };
    if let Some(kind) = kind(actor) {
        return Some((
            format!("the actor is {kind}, and actors are atoms"),
            format!("write `{}`", syntax::quoted_atom(&plain(actor))),
        ));
    }
    let with_prefix = |name: &str| match name.strip_prefix(DEFAULT_TOOL_PREFIX) {
        Some(_) => name.to_owned(),
        None => format!("{DEFAULT_TOOL_PREFIX}{name}"),
    };
    if let Some(kind) = kind(tool) {
        return Some((
            format!("the tool is {kind}, and tools are atoms"),
            format!(
                "write `{}`",
                syntax::quoted_atom(&with_prefix(&plain(tool)))
            ),
        ));
    }
    let name = constants.atom_text(*tool)?;
    (!name.starts_with(DEFAULT_TOOL_PREFIX)).then(|| {
        (
            format!("the tool has no prefix `{DEFAULT_TOOL_PREFIX}`"),
            format!("write `{}`", syntax::quoted_atom(&with_prefix(name))),
        )
    })
}
