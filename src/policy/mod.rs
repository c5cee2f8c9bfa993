//! From a model to decisions: the one predicate that grants, and what it says about an actor and a tool; and from two
//! of them, or one and the lists of tools, to their differences.
//!
//! Nothing here derives anything, and nothing allows what was not derived.

mod allowlist;
mod basis;
mod diff;
mod doubts;
mod edit;
mod hash;
mod names;
mod pairs;
pub mod pins;
mod places;
mod probe;
mod restriction;
mod review;
mod ties;

pub(crate) use hash::policy_hash;

pub use allowlist::{Allowlist, BindError, Decision, Denial, DenyReason, Grant};
pub use basis::Basis;
pub use diff::Diff;
pub use edit::FactEdit;
pub use places::GrantingClauses;
pub use probe::{ProbeError, Probed};
pub use restriction::{Argument, Restriction, RestrictionError};
pub use review::Review;

/// The predicate that grants unless another is named.
pub const DEFAULT_ALLOWLIST: &str = "may_execute_tool/2";

/// What the name of a tool is prefixed with to make its atom.
pub const DEFAULT_TOOL_PREFIX: &str = "tool_";
