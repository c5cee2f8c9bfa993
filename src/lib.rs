//! horngate answers one question for people who run AI agents: may this actor run this tool, right now?
#![doc = ""]

mod analysis;
mod diagnostic;
mod engine;
pub mod explain;
mod loader;
mod number;
mod policy;
mod program;
mod source;
pub mod syntax;
mod value;

pub use analysis::rule::{BadPredicateKey, PredicateKey};
pub use analysis::{Checked, Refused, Rulebase};
pub use diagnostic::{Code, Diagnostic, Label, Severity};
pub use engine::{Answers, Budget, BudgetExceeded, Model, QueryError};
pub use loader::{Loader, NotClean};
pub use policy::{
    Allowlist, Basis, BindError, DEFAULT_ALLOWLIST, DEFAULT_TOOL_PREFIX, Decision, Denial,
    DenyReason, Grant, ProbeError, Probed,
};
pub use program::Program;
pub use source::{LineColumn, MAX_SOURCE_BYTES, Source, SourceId, Sources, Span};
