//! The gate around the tools of AI agents: **only what is derived passes**.
//!
//! A [`Tool`]'s body gets its arguments only out of a [`Permitted`], which only [`Gate::call`] makes: after it looked
//! the tool up, checked the arguments, found the grant derived from the rules, and, where the tool or the rules ask
//! for it, got a person's consent to this exact call. A bypass is not forbidden, it does not compile.
//!
//! - No error, panic, timeout or missing answer ever allows.
//! - What a person approved is what runs, byte for byte, once.
//! - Approvals end with the policy that they were given under.
//!
//! Nothing in the crate is unsafe, and nothing panics; panics of tools and approvers are caught and deny.

mod adapters;
mod approval;
mod arguments;
mod audit;
mod canonical;
mod catch;
mod clock;
mod context;
mod cost;
mod digest;
mod gate;
mod outcome;
mod permit;
mod policy;
mod precheck;
mod private;
mod schema;
mod secret;
mod spec;
mod store;
mod tool;
mod visible;

pub use adapters::{Closure, ForeignTool, Remote};
#[cfg(unix)]
pub use approval::Terminal;
pub use approval::{
    APPROVED_MILLIS, Answer, ApprovedPairs, Approver, ApproverError, ApproverKey, AutoDeny, BadKey,
    Callback, Deferred, NotSigned, Record, Request, Signatory, State, Verdict,
};
pub use arguments::{Arguments, ArgumentsError, MAX_ARGUMENT_BYTES};
pub use audit::{AuditLog, Broken, Durability, Entry, Event, Whole, verify};
pub use clock::{Clock, ManualClock, Millis, SystemClock};
pub use context::{Delegation, InvocationContext, InvocationId};
pub use digest::Digest;
pub use gate::{
    AuditFailure, BuildError, Gate, GateBuilder, Hidden, Limits, Observed, Observer, OnBadRules,
    ReloadError, ToolRefused,
};
pub use outcome::{Done, Reason, Refusal};
pub use permit::Permitted;
pub use policy::{DOUBTS, PolicyError};
pub use precheck::{Precheck, RESTRICTIONS};
pub use secret::read_secret;
pub use spec::{Level, ToolSpec};
pub use store::{
    Asked, Basis, Claim, Consumed, Decided, End, MemoryStore, SqliteStore, Store, StoreError,
};
pub use tool::{BoxFuture, Confined, Tool, ToolError};
pub use visible::visible;

/// The example of the document about approvals is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/approvals.md")]
struct ApprovalsDocument;
