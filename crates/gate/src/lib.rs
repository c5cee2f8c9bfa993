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
//! # A gate with all its parts
//!
//! ```toml
//! [dependencies]
//! horngate = "0.1"
//! horngate-gate = "0.1"
//! serde = { version = "1", features = ["derive"] }
//! serde_json = "1"
//! tokio = { version = "1", features = ["macros", "rt", "time"] }
//! ```
//!
//! Two tools, one of which a person must confirm; a store and a log that outlive the process; a sub-agent.
//!
//! ```
//! use horngate::{Allowlist, Budget, Rulebase, Source};
//! use horngate_gate::{
//!     Answer, AuditLog, Callback, Closure, Gate, Permitted, Reason, SqliteStore, Tool, ToolError, ToolSpec,
//! };
//! use serde_json::{Value, json};
//! use std::sync::Arc;
//!
//! /// A tool is `tool_` and its name in the rules; an actor is any quoted atom.
//! const RULES: &str = "
//!     may_execute_tool('U:Qa', tool_read_note).
//!     may_execute_tool('U:Qa', tool_delete_note).
//!     may_execute_tool('U:Helper', tool_read_note).
//!     may_approve(ann, 'U:Qa', tool_delete_note).
//! ";
//!
//! #[derive(serde::Deserialize)]
//! struct Note {
//!     name: String,
//! }
//!
//! /// A tool that is a type. What the schema lets through and `Note` does not read is refused before anybody is asked.
//! struct ReadNote;
//!
//! impl Tool for ReadNote {
//!     type Arguments = Note;
//!     type Output = String;
//!
//!     fn spec(&self) -> ToolSpec {
//!         ToolSpec::new("read_note", "Reads a note").schema(json!({
//!             "type": "object",
//!             "properties": {"name": {"type": "string"}},
//!             "required": ["name"],
//!             "additionalProperties": false,
//!         }))
//!     }
//!
//!     async fn run<'call>(&'call self, permit: Permitted<'call, Self>) -> Result<String, ToolError> {
//!         Ok(format!("the text of {}", permit.arguments().name))
//!     }
//! }
//!
//! # async fn example(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//! let model = Rulebase::load([Source::new("rules.pl", RULES)])?.evaluate(&Budget::default())?;
//! let delete = ToolSpec::new("delete_note", "Deletes a note").confirm("the note is gone then");
//! let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
//!     .tool(ReadNote)
//!     .tool(Closure::<Value>::new(delete, |permit| Ok(json!({"deleted": permit.arguments()["name"]}))))
//!     // A program with a person before it uses `Terminal::new("ann")`; a service uses `Deferred` or `Webhook`.
//!     .approver(Callback::new("ann", |request| {
//!         println!("{}", request.for_people());
//!         Ok(Answer::Approve)
//!     }))
//!     .store(Arc::new(SqliteStore::open(folder.join("approvals.db"))?))
//!     .audit(Arc::new(AuditLog::open(folder.join("audit.jsonl"))?))
//!     .build()?;
//!
//! // One context for each turn of the person who talks to the agent.
//! let qa = gate.invocation("U:Qa", "session-1");
//! assert_eq!(gate.call(&qa, "read_note", r#"{"name": "a"}"#).await?.data, "the text of a");
//! assert_eq!(gate.call(&qa, "delete_note", r#"{"name": "a"}"#).await?.data["deleted"], "a");
//!
//! // A sub-agent may do what it and all that it acts for may.
//! let helper = qa.child("U:Helper");
//! assert!(gate.call(&helper, "read_note", r#"{"name": "a"}"#).await.is_ok());
//! let refusal = gate.call(&helper, "delete_note", r#"{"name": "a"}"#).await.unwrap_err();
//! assert_eq!(refusal.reason, Reason::NotGranted);
//! eprintln!("to the model: {refusal}; to people: {}", refusal.detail());
//! # Ok(())
//! # }
//! # let folder = tempfile::tempdir()?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(example(folder.path()))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The log is checked with [`verify`] or `horngate audit verify audit.jsonl`, and people answer what is left in the store
//! with `horngate approvals`. A tool that asks, in a gate without an approver, is refused with [`Reason::NoApprover`]; with
//! [`Deferred`] alone the gate also needs an [`GateBuilder::approver_key`].
//!
//! # What it costs
//!
//! The gate adds 3.3 µs to a call that needs no approval, with two lines of the audit log to a buffered sink, and 1.6 µs
//! without a log: the call takes 3.6 µs and 1.9 µs, and the same body without a gate, which reads its arguments, too,
//! 0.3 µs. Measured with `cargo bench -p horngate-gate --bench overhead` on two cores of an AMD EPYC at 2.45 GHz, with
//! rustc 1.95, arguments of 70 bytes and the rules of `rules/governance.pl`; medians, on a
//! machine without other work. A log in a file adds the time of the disk.
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
