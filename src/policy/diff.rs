//! What a change of the rules changes: the pairs that become allowed or denied.
//!
//! Nothing here is evaluated: each side has been, once. Only what decisions ask for is compared.

use super::Allowlist;

/// The pairs that two allowlists decide differently, each side sorted by actor and tool.
///
/// ```
/// use horngate::{Allowlist, Budget, Diff, Rulebase, Source};
/// let allowlist = |rules: &str| {
///     let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
///     let model = rulebase.evaluate(&Budget::default()).unwrap();
///     Allowlist::bind(&model, "may_execute_tool/2").unwrap()
/// };
/// let old = allowlist("may_execute_tool(ann, tool_x). may_execute_tool(bob, tool_x).");
/// let new = allowlist("may_execute_tool(ann, tool_x). may_execute_tool(ann, tool_y).");
///
/// let diff = Diff::between(&old, &new);
/// assert_eq!(diff.allowed, [("ann", "y")]);
/// assert_eq!(diff.denied, [("bob", "x")]);
/// assert!(Diff::between(&new, &new).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff<'a> {
    /// Denied by the old side, allowed by the new one: the actor, and the tool without its prefix.
    pub allowed: Vec<(&'a str, &'a str)>,
    /// Allowed by the old side, denied by the new one.
    pub denied: Vec<(&'a str, &'a str)>,
}

impl<'a> Diff<'a> {
    /// Compares two allowlists, which may be of different predicates and prefixes.
    #[must_use]
    pub fn between(old: &'a Allowlist, new: &'a Allowlist) -> Self {
        let lost = |from: &'a Allowlist, to: &Allowlist| {
            let pairs = from.rows().filter_map(|row| from.names(row));
            let mut pairs: Vec<_> = pairs
                .filter(|(actor, tool)| !to.decide(actor, tool).is_allow())
                .collect();
            pairs.sort_unstable();
            pairs
        };
        Self {
            allowed: lost(new, old),
            denied: lost(old, new),
        }
    }

    /// Whether all pairs are decided alike.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.denied.is_empty()
    }
}
