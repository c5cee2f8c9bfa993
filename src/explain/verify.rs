//! The independent check of proof documents: every step an instance of a clause, tests that hold, absences that are,
//! no circle.
//!
//! Nothing here looks at a model or trusts a word of the document. What a proof does not show, that something is
//! absent, is derived by the naive evaluator.

use super::check::Check;
use super::document::{self, Node};
use super::fit::Tuple;
use super::naive::{Edits, Naive, Stop};
use crate::analysis::{Data, Rulebase};
use crate::key::PredicateKey;
use crate::policy::{DEFAULT_ALLOWLIST, DEFAULT_TOOL_PREFIX, policy_hash};
use crate::source::{Source, SourceId};
use crate::syntax;
use crate::value::Value;

/// How many steps a verification may take unless told otherwise.
const STEPS: u64 = 100_000_000;

/// What a valid proof shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What holds.
    pub goal: String,
    /// How many nodes of the document were checked: all.
    pub nodes: usize,
}

/// Why a proof is not known to be valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It is not valid.
    #[error("{}{reason}", node.as_ref().map_or(String::new(), |node| format!("`{node}`: ")))]
    Invalid {
        /// The node at which that was found, if it was at one.
        node: Option<String>,
        /// What is wrong.
        reason: String,
    },
    /// It cannot be said.
    #[error("{0}")]
    Undecided(String),
}

/// Checks proof documents against a rulebase. It shares nothing with the engine and with [`crate::explain::why`] but
/// the rules as they were read and the way literals are written.
///
/// ```
/// use horngate::{Budget, Rulebase, Source, explain};
/// let load = |rules: &str| Rulebase::load([Source::new("a.pl", rules)]).unwrap();
/// let rulebase = load("p(a).\nq(X) :- p(X).\n");
/// let model = rulebase.evaluate(&Budget::default()).unwrap();
/// let proof = explain::why(&model, "q(a)").unwrap().unwrap();
///
/// let verifier = explain::Verifier::new(&rulebase);
/// let document = proof.to_json(&verifier.policy_hash().unwrap());
/// assert_eq!(verifier.verify(&document).unwrap().goal, "q(a)");
/// assert!(verifier.verify(&document.replace("q(a)", "q(b)")).is_err());
/// assert!(explain::verify(&load("p(b).\nq(X) :- p(X).\n"), &document).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Verifier<'r> {
    rulebase: &'r Rulebase,
    allowlist: PredicateKey,
    tool_prefix: String,
    steps: u64,
    /// The facts that were added (`true`) and retracted, in that order.
    edits: Vec<(String, bool)>,
}

/// Checks a document against a rulebase with the usual allowlist and prefix: see [`Verifier`].
///
/// # Errors
/// [`VerifyError`] unless the proof is valid.
pub fn verify(rulebase: &Rulebase, document: &str) -> Result<Verified, VerifyError> {
    Verifier::new(rulebase).verify(document)
}

impl<'r> Verifier<'r> {
    /// A verifier for documents about the rulebase under the usual allowlist and prefix of tools.
    #[must_use]
    pub fn new(rulebase: &'r Rulebase) -> Self {
        let (name, arity) = DEFAULT_ALLOWLIST.rsplit_once('/').unwrap_or_default();
        Self {
            rulebase,
            allowlist: PredicateKey::new(name, arity.parse().unwrap_or(2)),
            tool_prefix: DEFAULT_TOOL_PREFIX.to_owned(),
            steps: STEPS,
            edits: Vec::new(),
        }
    }

    /// The policy is named by another allowlist or prefix.
    #[must_use]
    pub fn with_policy(mut self, allowlist: &PredicateKey, tool_prefix: &str) -> Self {
        self.allowlist = allowlist.clone();
        tool_prefix.clone_into(&mut self.tool_prefix);
        self
    }

    /// At most so many steps are taken: the trials of a literal and the looks at a tuple.
    #[must_use]
    pub fn with_steps(mut self, steps: u64) -> Self {
        self.steps = steps;
        self
    }

    /// The facts differ from those of the rulebase, as after [`crate::Model::apply`], once for each call of it. A fact
    /// that was added and stands in no file has no clause.
    #[must_use]
    pub fn with_facts<'f>(
        mut self,
        added: impl IntoIterator<Item = &'f str>,
        retracted: impl IntoIterator<Item = &'f str>,
    ) -> Self {
        let retracted = retracted.into_iter().map(|fact| (fact, false));
        let edits = retracted.chain(added.into_iter().map(|fact| (fact, true)));
        self.edits
            .extend(edits.map(|(fact, added)| (fact.to_owned(), added)));
        self
    }

    /// What a document must name as its policy; see [`crate::Model::policy_hash`].
    #[must_use]
    pub fn policy_hash(&self) -> Option<String> {
        let mut naive = Naive::new(self.rulebase, 0);
        // A text that is no fact changes nothing, and is refused when a document is checked.
        for (text, added) in &self.edits {
            if let Some(fact) = parse(&self.rulebase.data, &mut naive, text) {
                naive.edits.enter(fact, *added);
            }
        }
        self.hash(&naive)
    }

    /// The name of the policy with the edits that differ from the facts of the rule files.
    fn hash(&self, naive: &Naive) -> Option<String> {
        let data = &self.rulebase.data;
        let stated = |(id, row): &Tuple| {
            let facts = data.facts.get(id.index());
            facts.is_some_and(|facts| facts.rows(row.len()).any(|other| other == row))
        };
        let text = |sign: char, (id, row): &Tuple| {
            let name = data.predicates.key(*id);
            let args: Vec<String> = row.iter().map(|arg| naive.constants.text(*arg)).collect();
            format!(
                "{sign}{}({})",
                syntax::quoted_atom(name.name()),
                args.join(",")
            )
        };
        let added = naive.edits.added.iter().filter(|fact| !stated(fact));
        let retracted = naive.edits.retracted.iter().filter(|fact| stated(fact));
        let mut edits: Vec<String> = added
            .map(|fact| text('+', fact))
            .chain(retracted.map(|fact| text('-', fact)))
            .collect();
        edits.sort_unstable();
        policy_hash(self.rulebase, &self.allowlist, &self.tool_prefix, &edits)
    }

    /// Checks a document.
    ///
    /// # Errors
    /// [`VerifyError::Invalid`] if it is no valid proof, [`VerifyError::Undecided`] if the steps ran out or the rules
    /// were loaded without their text.
    pub fn verify(&self, document: &str) -> Result<Verified, VerifyError> {
        let document = document::read(document)
            .map_err(|problem| invalid(format!("the document is no proof: {problem}")))?;
        let mut sources = self.rulebase.sources().iter();
        if sources.any(|(_, source)| !source.has_text()) {
            return Err(VerifyError::Undecided(
                "the rules were loaded without their text".to_owned(),
            ));
        }
        let mut naive = Naive::new(self.rulebase, self.steps);
        for (text, added) in &self.edits {
            let fact = parse(&self.rulebase.data, &mut naive, text)
                .ok_or_else(|| invalid(format!("`{text}` is no fact of these rules")))?;
            naive.edits.enter(fact, *added);
        }
        if self.hash(&naive).as_ref() != Some(&document.policy_hash) {
            return Err(invalid(
                "the proof is for another policy: its `policy_hash` differs from that of these rules",
            ));
        }
        Check::new(self.rulebase, naive, &document.nodes).document(&document.goal)?;
        Ok(Verified {
            goal: document.goal,
            nodes: document.nodes.len(),
        })
    }
}

impl Edits {
    /// The last word counts.
    fn enter(&mut self, fact: Tuple, added: bool) {
        let (to, from) = match added {
            true => (&mut self.added, &mut self.retracted),
            false => (&mut self.retracted, &mut self.added),
        };
        from.remove(&fact);
        to.insert(fact);
    }
}

pub(super) fn invalid(reason: impl Into<String>) -> VerifyError {
    VerifyError::Invalid {
        node: None,
        reason: reason.into(),
    }
}

pub(super) fn cannot(reason: &str) -> VerifyError {
    invalid(format!("the goal cannot be answered: {reason}"))
}

pub(super) fn at(node: &Node, reason: impl Into<String>) -> VerifyError {
    VerifyError::Invalid {
        node: node.text().map(str::to_owned),
        reason: reason.into(),
    }
}

impl From<Stop> for VerifyError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::OutOfSteps => Self::Undecided(
                "the check takes more steps than it may: it is not known to be valid".to_owned(),
            ),
            Stop::NoValue => invalid("a test has no value"),
        }
    }
}

impl Node {
    fn text(&self) -> Option<&str> {
        let texts = [&self.fact, &self.absent, &self.builtin];
        texts.into_iter().find_map(|text| text.as_deref())
    }
}

/// A ground fact of a predicate that is defined.
fn parse(data: &Data, naive: &mut Naive, text: &str) -> Option<Tuple> {
    let text = text.trim_end();
    let text = text.strip_suffix('.').unwrap_or(text);
    let term = syntax::parse_goal(SourceId::default(), &Source::new("fact", text)).ok()?;
    let (name, arity) = term.functor()?;
    let id = data.find(&PredicateKey::new(name, arity))?;
    let values = term.args().iter();
    let row: Option<Vec<Value>> = values
        .map(|arg| naive.constants.intern(arg).ok().flatten())
        .collect();
    Some((id, row.filter(|row| row.len() == arity)?))
}
