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
//! A closure behind the gate, in a program that has nothing else:
//!
//! ```
//! use horngate::{Allowlist, Budget, Rulebase, Source};
//! use horngate_gate::{Closure, Gate, ToolSpec};
//! use serde_json::Value;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let rules = "may_execute_tool('U:Qa', tool_echo).";
//! let model = Rulebase::load([Source::new("rules.pl", rules)])?.evaluate(&Budget::default())?;
//! let echo = ToolSpec::new("echo", "Says it again");
//! let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
//!     .tool(Closure::<Value>::new(echo, |permit| Ok(permit.into_arguments())))
//!     .build()?;
//!
//! let qa = gate.invocation("U:Qa", "session-1");
//! assert_eq!(gate.call(&qa, "echo", r#"{"n": 1}"#).await?.data["n"], 1);
//! assert!(gate.call(&gate.invocation("U:Ux", "session-1"), "echo", "{}").await.is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it costs
//!
//! The gate adds 4.0 µs to a call that needs no approval, with two lines of the audit log to a buffered sink, and 2.0 µs
//! without a log: the call takes 4.4 µs and 2.4 µs, and the same body without a gate, which reads its arguments, too,
//! 0.4 µs. Measured with `cargo bench -p horngate-gate --bench overhead` on two cores of an AMD EPYC at 2.45 GHz, with
//! rustc 1.95, arguments of 70 bytes and the rules of `rules/governance.pl`; of 200 samples the quickest, since the
//! machine had other work. A log in a file adds the time of the disk.
//!
//! # Features
//!
//! `http` (off): `HttpTransport`, with which the [`Webhook`] approver POSTs.
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
#[cfg(feature = "http")]
pub use approval::HttpTransport;
#[cfg(unix)]
pub use approval::Terminal;
pub use approval::{
    APPROVED_MILLIS, Answer, AnswerRefused, ApprovedPairs, Approver, ApproverError, ApproverKey,
    AutoDeny, BadKey, Callback, Deferred, NotSigned, Post, Record, Reply, Request, Signatory,
    State, Transport, Verdict, Webhook, WebhookAnswers, WebhookKey,
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
