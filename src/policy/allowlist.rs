//! The allowlist: a predicate bound as the gate's authority, and the decisions that it makes.
//!
//! Binding is refused unless the whole slice of the predicate is free of faults. A decision looks one tuple up;
//! it takes no lock and allocates nothing.

use super::doubts::Doubts;
use super::names::Names;
use super::pairs::Pairs;
use crate::analysis::rule::PredicateId;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::Model;
use crate::engine::relation::Relation;
use crate::key::PredicateKey;
use crate::source::Sources;
use crate::syntax::Term;
use crate::value::Value;
use crate::{DEFAULT_TOOL_PREFIX, Span};
use std::fmt;
use std::sync::Arc;

/// How many steps the search for a witness of a doubt takes.
const STEPS: u64 = 200_000;

/// A predicate `name/2` whose tuples are the grants: who may run what.
///
/// ```
/// use horngate::{Allowlist, Budget, Decision, DenyReason, Rulebase, Source};
///
/// let rules = include_str!("../../rules/governance.pl");
/// let rulebase = Rulebase::load([Source::new("governance.pl", rules)])?;
/// let model = rulebase.evaluate(&Budget::default())?;
/// let gate = Allowlist::bind(&model, "may_execute_tool/2")?;
///
/// assert!(gate.decide("U:Qa", "repl").is_allow());
/// match gate.decide("U:Ux", "repl") {
///     Decision::Allow(grant) => panic!("not granted: {grant}"),
///     Decision::Deny(denial) => assert_eq!(denial.reason, DenyReason::UnknownActor),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Allowlist {
    inner: Arc<Bound>,
}

#[derive(Debug)]
struct Bound {
    model: Model,
    key: PredicateKey,
    prefix: Box<str>,
    /// The actors and the tools by name, and by number the atom of each.
    actors: Names,
    actor_atoms: Vec<Value>,
    tools: Names,
    tool_atoms: Vec<Value>,
    granted: Pairs,
    doubts: Vec<Diagnostic>,
}

/// Why a predicate cannot be the gate's authority.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{predicate}` cannot be the allowlist: {reason}")]
pub struct BindError {
    /// What was asked for.
    pub predicate: String,
    /// Why not, in words.
    pub reason: String,
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// What was found; may be empty.
    pub diagnostics: Vec<Diagnostic>,
}

/// The answer to one question: allowed, or denied. There is no third.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub enum Decision<'a> {
    /// The pair was derived.
    Allow(Grant<'a>),
    /// It was not.
    Deny(Denial<'a>),
}

impl Decision<'_> {
    /// Whether it allows.
    #[must_use]
    pub fn is_allow(&self) -> bool {
        matches!(self, Self::Allow(_))
    }
}

/// The derived tuple that allows.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    bound: &'a Bound,
    /// The numbers of the actor and the tool.
    actor: u32,
    tool: u32,
}

impl fmt::Display for Grant<'_> {
    /// The tuple as a fact: `may_execute_tool('U:Qa',tool_repl)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constants = &self.bound.model.data.constants;
        let text = |atoms: &[Value], number: u32| {
            let atom = atoms.get(number as usize).copied();
            atom.map(|atom| constants.text(atom)).unwrap_or_default()
        };
        let name = crate::syntax::quoted_atom(self.bound.key.name());
        let actor = text(&self.bound.actor_atoms, self.actor);
        let tool = text(&self.bound.tool_atoms, self.tool);
        write!(f, "{name}({actor},{tool})")
    }
}

/// A denial, and which it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial<'a> {
    /// Which denial it is.
    pub reason: DenyReason,
    /// The actor, as given.
    pub actor: &'a str,
    /// The tool, as given.
    pub tool: &'a str,
}

/// Which denial it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DenyReason {
    /// Nothing is granted to the actor. Wins over [`DenyReason::UnknownTool`].
    UnknownActor,
    /// The tool is granted to nobody.
    UnknownTool,
    /// Both are known, but this pair was not derived.
    NotGranted,
    /// There is no answer, which denies.
    Error,
}

impl DenyReason {
    /// The stable name, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownActor => "unknown-actor",
            Self::UnknownTool => "unknown-tool",
            Self::NotGranted => "not-granted",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for DenyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Denial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (actor, tool) = (self.actor, self.tool);
        match self.reason {
            DenyReason::UnknownActor => write!(f, "nothing is granted to `{actor}`"),
            DenyReason::UnknownTool => write!(f, "`{tool}` is granted to nobody"),
            DenyReason::NotGranted => write!(f, "`{tool}` is not granted to `{actor}`"),
            DenyReason::Error => write!(f, "there is no answer for `{actor}` and `{tool}`"),
        }
    }
}

impl Allowlist {
    /// Binds `predicate`, as `name/2`, with the prefix `tool_` for tools.
    ///
    /// # Errors
    /// [`BindError`] when the predicate is not of arity 2, not defined, private to a module, or anything in its
    /// slice has a fault or no model.
    pub fn bind(model: &Model, predicate: &str) -> Result<Self, BindError> {
        Self::bind_with_prefix(model, predicate, DEFAULT_TOOL_PREFIX)
    }

    /// Binds `predicate` with another prefix for tools; it may be empty.
    ///
    /// # Errors
    /// As [`Allowlist::bind`].
    pub fn bind_with_prefix(
        model: &Model,
        predicate: &str,
        prefix: &str,
    ) -> Result<Self, BindError> {
        let data = &model.data.rulebase.data;
        let error = |reason: String, diagnostics: Vec<Diagnostic>| BindError {
            predicate: predicate.to_owned(),
            reason,
            sources: data.sources.clone(),
            diagnostics,
        };
        let key: PredicateKey = predicate
            .parse()
            .map_err(|bad: crate::BadPredicateKey| error(bad.to_string(), Vec::new()))?;
        if key.arity() != 2 {
            return Err(error(
                "an allowlist has two arguments, the actor and the tool".to_owned(),
                Vec::new(),
            ));
        }
        let id = clean(model, &key).map_err(|(reason, diagnostics)| error(reason, diagnostics))?;
        Ok(Self {
            inner: Arc::new(Bound::new(model, key, id, prefix)),
        })
    }

    /// Whether `actor` may run `tool`, both as plain text; the tool without its prefix.
    #[inline]
    pub fn decide<'a>(&'a self, actor: &'a str, tool: &'a str) -> Decision<'a> {
        let bound = &*self.inner;
        let reason = match bound.actors.find(actor) {
            None => DenyReason::UnknownActor,
            Some(number) => match bound.tools.find(tool) {
                None => DenyReason::UnknownTool,
                Some(tool) if bound.granted.contains(number, tool) => {
                    return Decision::Allow(Grant {
                        bound,
                        actor: number,
                        tool,
                    });
                }
                Some(_) => DenyReason::NotGranted,
            },
        };
        Decision::Deny(Denial {
            reason,
            actor,
            tool,
        })
    }

    /// What makes it doubtful as the authority of a gate: `default-allow`, `always-true` and `cartesian-grant`. No gate
    /// should be built on an allowlist with a doubt unless its builder names the lint and a reason; a comment in the
    /// rules is no such word. They are found when it is bound, from the rules alone.
    ///
    /// ```
    /// use horngate::{Allowlist, Budget, Rulebase, Source};
    /// let rules = "may_execute_tool(Agent, Tool) :- agent(Agent), tool(Tool).\nagent(a). tool(tool_x).\n";
    /// let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// let gate = Allowlist::bind(&model, "may_execute_tool/2").unwrap();
    /// assert_eq!(gate.doubts()[0].code.kind(), "cartesian-grant");
    /// ```
    #[must_use]
    pub fn doubts(&self) -> &[Diagnostic] {
        &self.inner.doubts
    }

    /// The model that it decides by.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.inner.model
    }

    /// The predicate that is bound.
    #[must_use]
    pub fn predicate(&self) -> &PredicateKey {
        &self.inner.key
    }

    /// The prefix of tools.
    #[must_use]
    pub fn tool_prefix(&self) -> &str {
        &self.inner.prefix
    }

    /// The atom that stands for `tool` in rules, as `writeq` writes it.
    #[must_use]
    pub fn tool_atom(&self, tool: &str) -> String {
        crate::syntax::quoted_atom(&format!("{}{tool}", self.inner.prefix)).to_string()
    }

    /// Every pair that is allowed, sorted: the actor, and the tool without its prefix.
    ///
    /// ```
    /// use horngate::{Allowlist, Budget, Rulebase, Source};
    /// let rules = "may_execute_tool(b, tool_x). may_execute_tool(a, tool_y).";
    /// let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// let gate = Allowlist::bind(&model, "may_execute_tool/2").unwrap();
    /// assert_eq!(gate.grants(), [("a", "y"), ("b", "x")]);
    /// ```
    #[must_use]
    pub fn grants(&self) -> Vec<(&str, &str)> {
        let mut pairs: Vec<(&str, &str)> = self.rows().filter_map(|row| self.names(row)).collect();
        pairs.sort_unstable();
        pairs
    }

    /// The texts of the rules; without their text if they were loaded piece by piece.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        self.inner.model.data.rulebase.sources()
    }

    /// The tuples of the predicate, also those that no decision asks for.
    pub(crate) fn rows(&self) -> impl Iterator<Item = [Value; 2]> {
        let relation = self.inner.model.relation(&self.inner.key);
        let rows = relation.into_iter().flat_map(Relation::rows);
        rows.filter_map(|row| match row {
            [actor, tool] => Some([*actor, *tool]),
            _ => None,
        })
    }

    /// The actor and the tool of a tuple, if a decision can ask for it.
    pub(crate) fn names(&self, row: [Value; 2]) -> Option<(&str, &str)> {
        let [actor, tool] = row.map(|value| self.atom(value));
        Some((actor?, tool?.strip_prefix(&*self.inner.prefix)?))
    }

    /// The tuple of a pair that is allowed.
    pub(crate) fn values(&self, actor: &str, tool: &str) -> Option<[Value; 2]> {
        match self.decide(actor, tool) {
            Decision::Allow(grant) => {
                let actor = self.inner.actor_atoms.get(grant.actor as usize)?;
                let tool = self.inner.tool_atoms.get(grant.tool as usize)?;
                Some([*actor, *tool])
            }
            Decision::Deny(_) => None,
        }
    }

    /// The name of an atom.
    pub(crate) fn atom(&self, value: Value) -> Option<&str> {
        self.inner.model.data.constants.atom_text(value)
    }

    pub(crate) fn term(&self, value: Value) -> Term {
        self.inner.model.data.constants.term(value, Span::default())
    }

    /// Names the policy: see [`Model::policy_hash`].
    #[must_use]
    pub fn policy_hash(&self) -> Option<String> {
        let bound = &*self.inner;
        bound.model.policy_hash(&bound.key, &bound.prefix)
    }
}

impl Bound {
    fn new(model: &Model, key: PredicateKey, id: PredicateId, prefix: &str) -> Self {
        let none = Relation::new(2);
        let relation = model.relation(&key).unwrap_or(&none);
        let (actor_atoms, tool_atoms, granted) = match relation.bits() {
            Some(bits) => {
                let (actors, tools) = (bits.first_values(), bits.second_values());
                let count = relation.len() as usize;
                let pairs = Pairs::of_bits(
                    count,
                    actors.len(),
                    tools.len(),
                    bits.stride(),
                    bits.words(),
                );
                (actors, tools, pairs)
            }
            None => {
                let (mut actors, mut tools) = (Column::default(), Column::default());
                relation.each_pair(|actor, tool| {
                    actors.enter(actor);
                    tools.enter(tool);
                });
                let count = relation.len() as usize;
                let pairs = Pairs::new(count, actors.values.len(), tools.values.len(), |visit| {
                    relation.each_pair(|actor, tool| {
                        if let (Some(actor), Some(tool)) =
                            (actors.number(actor), tools.number(tool))
                        {
                            visit(actor, tool);
                        }
                    });
                });
                (actors.values, tools.values, pairs)
            }
        };
        let constants = &model.data.constants;
        // Whatever is no atom, and a tool without the prefix, has a number but no name, and is never found.
        let names = |values: &[Value], prefix: &str| {
            let mut names = Names::default();
            for (number, value) in (0..).zip(values) {
                let text = constants.atom_text(*value);
                if let Some(name) = text.and_then(|text| text.strip_prefix(prefix)) {
                    names.insert(name, number);
                }
            }
            names
        };
        Self {
            actors: names(&actor_atoms, ""),
            tools: names(&tool_atoms, prefix),
            model: model.clone(),
            key,
            prefix: prefix.into(),
            actor_atoms,
            tool_atoms,
            granted,
            doubts: Doubts::new(model, STEPS).of(id, true),
        }
    }
}

/// The values of one column, numbered in order of appearance.
#[derive(Default)]
struct Column {
    values: Vec<Value>,
    /// By value its number from 1; 0 is none.
    numbers: Vec<u32>,
}

impl Column {
    fn enter(&mut self, value: Value) {
        let at = value.0 as usize;
        if at >= self.numbers.len() {
            self.numbers.resize((at + 1).next_power_of_two(), 0);
        }
        if let Some(slot) = self.numbers.get_mut(at).filter(|slot| **slot == 0) {
            self.values.push(value);
            *slot = u32::try_from(self.values.len()).unwrap_or(0);
        }
    }

    fn number(&self, value: Value) -> Option<u32> {
        self.numbers.get(value.0 as usize)?.checked_sub(1)
    }
}

/// The predicate, unless it is not defined, is private to a module, or its slice is not clean: why, and what was found.
pub(super) fn clean(
    model: &Model,
    key: &PredicateKey,
) -> Result<PredicateId, (String, Vec<Diagnostic>)> {
    let data = &model.data.rulebase.data;
    let Some(id) = data.find(key) else {
        return Err(("nothing defines it".to_owned(), vec![undefined(model, key)]));
    };
    if data.predicates.get(id).is_some_and(|known| known.private) {
        return Err((
            "it is private to the module that defines it".to_owned(),
            Vec::new(),
        ));
    }
    let needs = data.needs.get(id.index());
    if let Some(place) = needs.and_then(|needs| needs.arithmetic) {
        let message = format!(
            "`{key}` does arithmetic with what the call brings, where Prolog may raise an error"
        );
        return Err((
            "it does arithmetic with what the call brings".to_owned(),
            vec![
                Diagnostic::new(Code::Evaluation, place, message)
                    .help("move the tests behind the literals that bind their variables"),
            ],
        ));
    }
    if let Some(faults) = model.refusal(id) {
        let own = key.to_string();
        let is_own = |fault: &Diagnostic| fault.predicate.as_ref() == Some(&own);
        let permissive = model.data.rulebase.is_permissive(key);
        let reason = match faults.first().and_then(|fault| fault.predicate.as_ref()) {
            _ if permissive && faults.iter().any(is_own) => {
                "it holds for any actor and action, also for ones that occur nowhere".to_owned()
            }
            Some(other) if *other != own => {
                format!(
                    "it depends on `{other}`, which has a fault: {}",
                    summary(&faults)
                )
            }
            _ => summary(&faults),
        };
        return Err((reason, faults));
    }
    Ok(id)
}

fn undefined(model: &Model, key: &PredicateKey) -> Diagnostic {
    let rulebase = &model.data.rulebase;
    let names = rulebase
        .predicates()
        .filter(|other| other.arity() == key.arity())
        .map(PredicateKey::name);
    let diagnostic = Diagnostic::new(
        Code::UndefinedCall,
        Span::default(),
        format!("nothing defines `{key}`"),
    );
    match crate::analysis::near::nearest(key.name(), names) {
        Some(near) => diagnostic.help(format!("did you mean `{near}/{}`?", key.arity())),
        None => diagnostic.help(format!(
            "state a grant, or write `:- dynamic {key}.` to grant nothing"
        )),
    }
}

fn summary(faults: &[Diagnostic]) -> String {
    let more = match faults.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    match faults.first() {
        Some(first) => format!("{}{more}", first.message),
        None => "it has no model".to_owned(),
    }
}
