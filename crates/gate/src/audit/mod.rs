//! The audit log: what was asked, decided and run, each line bound to the one before.
//!
//! Nothing here is left out because it failed: a line that cannot be written is an error of the call.

mod file;
mod redact;
mod verify;

pub use file::{AuditLog, Durability};
pub(crate) use redact::redacted;
pub use verify::{Broken, Whole, verify};

use crate::arguments::Arguments;
use crate::clock::Millis;
use serde::Serialize;
use serde_json::Value;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A person must be asked.
    ApprovalRequired,
    /// A person answered, or did not.
    ApprovalDecision,
    /// The body is about to run.
    Executing,
    /// The body ran.
    Executed,
    /// The call was refused.
    Denied,
    /// The body failed, or something around it.
    Error,
    /// What observe mode let through although it would be refused.
    Observed,
    /// The policy changed.
    Policy,
    /// A line that was cut short was taken away.
    Repaired,
}

/// One line.
#[derive(Clone, Debug, Serialize)]
pub struct Entry<'a> {
    /// The version of the form.
    pub v: u8,
    /// When.
    pub at: Millis,
    /// What happened.
    pub event: Event,
    /// The gate.
    pub gate: &'a str,
    /// The call.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub call: &'a str,
    /// The actors, from the root to the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<&'a str>,
    /// The session.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub session: &'a str,
    /// The turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invocation: Option<u64>,
    /// Where the tool is.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub server: &'a str,
    /// The tool.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub tool: &'a str,
    /// The arguments, without what looks secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// SHA-256 of the canonical arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_hash: Option<String>,
    /// Why it was refused or failed.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'a str,
    /// The same in words, for people.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub detail: &'a str,
    /// What the rules derive for the call.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub derivation: &'a str,
    /// The request for approval.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub approval: &'a str,
    /// Who answered.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub approver: &'a str,
    /// Through what.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub provider: &'a str,
    /// The policy.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub policy_hash: &'a str,
    /// Its epoch.
    pub epoch: u64,
}

impl<'a> Entry<'a> {
    /// A line that says only what happened, and where.
    #[must_use]
    pub fn new(at: Millis, event: Event, gate: &'a str) -> Self {
        Self {
            v: 1,
            at,
            event,
            gate,
            call: "",
            chain: Vec::new(),
            session: "",
            invocation: None,
            server: "",
            tool: "",
            arguments: None,
            arguments_hash: None,
            reason: "",
            detail: "",
            derivation: "",
            approval: "",
            approver: "",
            provider: "",
            policy_hash: "",
            epoch: 0,
        }
    }

    /// The same with a call's arguments, without what looks secret, and their hash.
    ///
    /// ```
    /// use horngate_gate::{Arguments, Entry, Event};
    /// let arguments = Arguments::parse(r#"{"token": "t", "n": 1}"#)?;
    /// let entry = Entry::new(0, Event::Executing, "gate").with_arguments(&arguments);
    /// assert_eq!(entry.arguments.unwrap()["token"], "[redacted]");
    /// # Ok::<(), horngate_gate::ArgumentsError>(())
    /// ```
    #[must_use]
    pub fn with_arguments(mut self, arguments: &Arguments) -> Self {
        self.arguments = redacted(arguments.value(), arguments.canonical().len());
        self.arguments_hash = Some(arguments.digest().to_string());
        self
    }
}
