//! Predicates that narrow what the allowlist grants: who must be asked, and who may answer.
//!
//! Nothing here grants. A name that is almost that of a restriction is refused: a misspelt restriction would restrict
//! nothing.

use super::allowlist::clean;
use crate::analysis::near;
use crate::diagnostic::Diagnostic;
use crate::engine::Model;
use crate::engine::relation::Relation;
use crate::key::PredicateKey;
use crate::source::Sources;

/// A predicate, bound as strictly as an allowlist, whose tuples narrow what is granted.
///
/// ```
/// use horngate::{Budget, Restriction, Rulebase, Source};
///
/// let model = |rules| {
///     let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
///     rulebase.evaluate(&Budget::default()).unwrap()
/// };
/// let bound = Restriction::bind(&model("confirm_tool(ann, tool_x)."), "confirm_tool", &[2, 3]).unwrap();
/// assert_eq!(bound[0].predicate().to_string(), "confirm_tool/2");
/// assert_eq!(bound[0].rows()[0][1].atom(), Some("tool_x"));
///
/// assert!(Restriction::bind(&model("p(a)."), "confirm_tool", &[2, 3]).unwrap().is_empty());
/// // One letter off: it would restrict nothing.
/// assert!(Restriction::bind(&model("confrm_tool(ann, tool_x)."), "confirm_tool", &[2, 3]).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Restriction {
    model: Model,
    key: PredicateKey,
}

/// One argument of a tuple.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Argument {
    /// An atom, as plain text.
    Atom(String),
    /// Anything else, as `writeq` writes it.
    Other(String),
}

impl Argument {
    /// The plain text, if it is an atom.
    ///
    /// ```
    /// assert_eq!(horngate::Argument::Other("1".to_owned()).atom(), None);
    /// ```
    #[must_use]
    pub fn atom(&self) -> Option<&str> {
        match self {
            Self::Atom(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// The text for people.
    ///
    /// ```
    /// assert_eq!(horngate::Argument::Other("\"why\"".to_owned()).text(), "\"why\"");
    /// ```
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Atom(text) | Self::Other(text) => text,
        }
    }
}

/// Why a predicate cannot narrow anything.
#[derive(Clone, Debug, thiserror::Error)]
#[error("`{predicate}` cannot restrict anything: {reason}")]
pub struct RestrictionError {
    /// The predicate, as name/arity.
    pub predicate: String,
    /// Why not, in words.
    pub reason: String,
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// What was found; may be empty.
    pub diagnostics: Vec<Diagnostic>,
}

impl Restriction {
    /// Binds all that is defined of `name` with one of the `arities`; none is no error.
    ///
    /// # Errors
    /// [`RestrictionError`] when a predicate of that name is not clean or has another arity, or when one is defined
    /// whose name is one edit away.
    pub fn bind(
        model: &Model,
        name: &str,
        arities: &[usize],
    ) -> Result<Vec<Self>, RestrictionError> {
        let rulebase = &model.data.rulebase;
        let refuse = |key: &PredicateKey, reason: String, diagnostics| RestrictionError {
            predicate: key.to_string(),
            reason,
            sources: rulebase.sources().clone(),
            diagnostics,
        };
        let wanted = || {
            let all: Vec<String> = arities.iter().map(|n| format!("`{name}/{n}`")).collect();
            all.join(" or ")
        };
        let mut bound = Vec::new();
        for key in rulebase.predicates() {
            if key.name() != name {
                if near::distance(key.name(), name, 1).is_some() {
                    let reason = format!("its name is almost that of {}; rename it", wanted());
                    return Err(refuse(key, reason, Vec::new()));
                }
                continue;
            }
            if !arities.contains(&key.arity()) {
                let reason = format!("write {}", wanted());
                return Err(refuse(key, reason, Vec::new()));
            }
            clean(model, key).map_err(|(reason, found)| refuse(key, reason, found))?;
            bound.push(Self {
                model: model.clone(),
                key: key.clone(),
            });
        }
        bound.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(bound)
    }

    /// The predicate.
    #[must_use]
    pub fn predicate(&self) -> &PredicateKey {
        &self.key
    }

    /// The tuples, sorted.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<Argument>> {
        let constants = &self.model.data.constants;
        let relation = self.model.relation(&self.key);
        let mut rows: Vec<Vec<Argument>> = relation
            .into_iter()
            .flat_map(Relation::rows)
            .map(|row| {
                row.iter()
                    .map(|value| match constants.atom_text(*value) {
                        Some(text) => Argument::Atom(text.to_owned()),
                        None => Argument::Other(constants.text(*value)),
                    })
                    .collect()
            })
            .collect();
        rows.sort_unstable();
        rows
    }
}
