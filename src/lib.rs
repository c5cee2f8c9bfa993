//! horngate answers one question for people who run AI agents: **may this actor run this tool, right now?**
//!
//! The answer comes from rule files in Prolog syntax. They are checked, evaluated as Datalog with stratified negation
//! and no default clause, and whatever is not derived is denied. Each stage is a type:
//!
//! [`Source`] → [`Program`] → [`Rulebase`] → [`Model`] → [`Allowlist`] → [`Decision`]
//!
//! ```
//! use horngate::{Allowlist, Budget, Decision, DenyReason, Rulebase, Source};
//!
//! let rules = "
//!     :- dynamic suspended/1.
//!     member_of('U:Qa', testers).
//!     team_tool(testers, tool_repl).
//!     may_execute_tool(Agent, Tool) :-
//!         member_of(Agent, Team), team_tool(Team, Tool), \\+ suspended(Agent).
//! ";
//! let rulebase = Rulebase::load([Source::new("governance.pl", rules)])?;
//! let model = rulebase.evaluate(&Budget::default())?;
//! let gate = Allowlist::bind(&model, "may_execute_tool/2")?;
//!
//! assert!(gate.decide("U:Qa", "repl").is_allow());
//! match gate.decide("NOBODY", "rm_rf_slash") {
//!     Decision::Allow(grant) => unreachable!("{grant} was derived"),
//!     Decision::Deny(denial) => assert_eq!(denial.reason, DenyReason::UnknownActor),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No error is ever read as "not derived": a rule that Prolog would read differently, an undefined predicate,
//! arithmetic without a value and a budget that ran out each refuse what depends on them. For every ground goal the
//! answer is SWI-Prolog's, or there is none.
//!
//! The crate does no I/O, reads no clock, and has no unsafe code. Nothing in it panics on any input, but for
//! [`assert_pinned`], which is for tests. The cargo feature `tool-lists` adds readers for lists of tools: see [`pins`].

mod analysis;
mod budget;
pub mod compile;
pub mod compiled;
mod diagnostic;
mod engine;
pub mod explain;
mod key;
mod loader;
mod number;
mod policy;
mod program;
mod source;
pub mod suite;
pub mod syntax;
mod value;

pub use analysis::{Checked, Refused, Rulebase, Silenced};
pub use budget::{Budget, BudgetExceeded};
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use engine::{Answers, Model, QueryError, UpdateError};
pub use key::{BadPredicateKey, PredicateKey};
pub use loader::{Loader, NotClean};
pub use policy::pins::{self, AdvertisedTools, assert_pinned};
pub use policy::{
    Allowlist, Argument, Basis, BindError, DEFAULT_ALLOWLIST, DEFAULT_TOOL_PREFIX, Decision,
    Denial, DenyReason, Diff, FactEdit, Grant, GrantingClauses, ProbeError, Probed, Restriction,
    RestrictionError, Review,
};
pub use program::Program;
pub use source::{LineColumn, MAX_SOURCE_BYTES, Source, SourceId, Sources, Span};

/// The README's example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// So is that of the explanations.
#[cfg(doctest)]
#[doc = include_str!("../docs/explanations.md")]
struct Explanations;
