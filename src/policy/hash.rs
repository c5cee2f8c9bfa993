//! The name of a policy: what the rule files say and by what authority they decide.
//!
//! Nothing here depends on where the files lie or in which order they were read.

use crate::analysis::Rulebase;
use crate::engine::Model;
use crate::key::PredicateKey;
use sha2::{Digest, Sha256};

impl Rulebase {
    /// Names the policy: SHA-256 over a version tag, the allowlist, the prefix of tools and the digests of the rule
    /// files, sorted. It is a name only: the allowlist need not be one that can be bound. `None` if a text was loaded
    /// without its digest ([`crate::Loader::without_digests`]).
    ///
    /// ```
    /// use horngate::{Rulebase, Source};
    /// let name = |rules: &str, prefix: &str| {
    ///     let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
    ///     rulebase.policy_hash(&"may/2".parse().unwrap(), prefix).unwrap()
    /// };
    /// assert!(name("may(a, b).", "tool_").starts_with("sha256:"));
    /// assert_ne!(name("may(a, b).", "tool_"), name("may(a, c).", "tool_"));
    /// assert_ne!(name("may(a, b).", "tool_"), name("may(a, b).", ""));
    /// ```
    #[must_use]
    pub fn policy_hash(&self, allowlist: &PredicateKey, tool_prefix: &str) -> Option<String> {
        policy_hash(self, allowlist, tool_prefix, &[])
    }
}

impl Model {
    /// Names the policy that the model is of: [`Rulebase::policy_hash`], and how its facts differ from those of the rule
    /// files after [`Model::apply`].
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source};
    /// let rulebase = Rulebase::load([Source::new("a.pl", ":- dynamic p/1. p(a).")]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// let name = |model: &horngate::Model| model.policy_hash(&"p/1".parse().unwrap(), "");
    /// assert_eq!(name(&model), rulebase.policy_hash(&"p/1".parse().unwrap(), ""));
    /// assert_ne!(name(&model), name(&model.apply(["p(b)"], []).unwrap()));
    /// ```
    #[must_use]
    pub fn policy_hash(&self, allowlist: &PredicateKey, tool_prefix: &str) -> Option<String> {
        let edits = self.data.edits();
        policy_hash(self.rulebase(), allowlist, tool_prefix, &edits)
    }
}

/// The name of a policy whose facts differ from those of the rule files by `edits`, sorted.
pub(crate) fn policy_hash(
    rulebase: &Rulebase,
    allowlist: &PredicateKey,
    tool_prefix: &str,
    edits: &[String],
) -> Option<String> {
    let sources = rulebase.sources().iter();
    let digests: Option<Vec<[u8; 32]>> = sources.map(|(_, source)| source.digest()).collect();
    let mut digests = digests?;
    digests.sort_unstable();
    let mut hash = Sha256::new();
    for part in ["horngate-policy-1", &allowlist.to_string(), tool_prefix] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    for digest in digests {
        hash.update(digest);
    }
    for edit in edits {
        hash.update((edit.len() as u64).to_be_bytes());
        hash.update(edit.as_bytes());
    }
    let hex: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Some(format!("sha256:{hex}"))
}
