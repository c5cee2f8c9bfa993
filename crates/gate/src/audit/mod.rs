//! The audit log: what was asked, decided and run, each line bound to the one before.
//!
//! Nothing here is left out because it failed: a line that cannot be written is an error of the call.

mod file;
mod redact;
mod verify;

pub use file::{AuditLog, Durability};
pub(crate) use redact::is_written;
use redact::redacted;
pub use verify::{Broken, Whole, verify};

use crate::arguments::Arguments;
use crate::canonical;
use crate::clock::Millis;
use crate::visible::shortened;
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

impl Event {
    /// The stable name, as in the log.
    ///
    /// ```
    /// assert_eq!(horngate_gate::Event::ApprovalRequired.as_str(), "approval_required");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApprovalRequired => "approval_required",
            Self::ApprovalDecision => "approval_decision",
            Self::Executing => "executing",
            Self::Executed => "executed",
            Self::Denied => "denied",
            Self::Error => "error",
            Self::Observed => "observed",
            Self::Policy => "policy",
            Self::Repaired => "repaired",
        }
    }
}

/// One line. What is longer than 16,384 characters is cut, and ends with `…`.
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
    /// Arguments that are written without what looks secret, instead of `arguments`.
    #[serde(skip)]
    pub(crate) redacting: Option<&'a Value>,
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
            redacting: None,
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

    /// Appends the entry as JSON, as `Serialize` writes it, but without the last brace.
    fn write_open(&self, text: &mut String) {
        text.push_str("{\"v\":");
        canonical::write_whole(text, self.v.into());
        text.push_str(",\"at\":");
        canonical::write_whole(text, self.at);
        write_member(text, "event", self.event.as_str());
        text.push_str(",\"gate\":");
        canonical::write_string(text, self.gate);
        write_member(text, "call", self.call);
        for (place, actor) in self.chain.iter().enumerate() {
            text.push_str(if place == 0 { ",\"chain\":[" } else { "," });
            canonical::write_string(text, actor);
        }
        if !self.chain.is_empty() {
            text.push(']');
        }
        write_member(text, "session", self.session);
        if let Some(invocation) = self.invocation {
            text.push_str(",\"invocation\":");
            canonical::write_whole(text, invocation);
        }
        write_member(text, "server", self.server);
        write_member(text, "tool", self.tool);
        if let Some(arguments) = self.redacting.or(self.arguments.as_ref()) {
            text.push_str(",\"arguments\":");
            match self.redacting {
                Some(arguments) => redact::write(text, arguments),
                None => canonical::write(text, arguments),
            }
        }
        if let Some(hash) = &self.arguments_hash {
            write_member(text, "arguments_hash", hash);
        }
        for (name, value) in [
            ("reason", self.reason),
            ("detail", self.detail),
            ("derivation", self.derivation),
            ("approval", self.approval),
            ("approver", self.approver),
            ("provider", self.provider),
            ("policy_hash", self.policy_hash),
        ] {
            write_member(text, name, value);
        }
        text.push_str(",\"epoch\":");
        canonical::write_whole(text, self.epoch);
    }
}

/// The longest member, in characters: models and servers choose some of them.
const MAX_MEMBER: usize = 16 << 10;

/// Appends a member that is not empty.
fn write_member(text: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        text.push_str(",\"");
        text.push_str(name);
        text.push_str("\":");
        match value.len() > MAX_MEMBER {
            true => canonical::write_string(text, &shortened(value, MAX_MEMBER)),
            false => canonical::write_string(text, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_is_written_as_it_is_serialized() {
        let bare = Entry::new(7, Event::Policy, "");
        let arguments = json!({"b": [1, "x\n\"", null], "a": {"token": 1.5}});
        let mut full = Entry::new(7, Event::ApprovalRequired, "gate");
        full.call = "c\u{1}";
        full.chain = vec!["U:Qa", "é"];
        full.session = "s";
        full.invocation = Some(3);
        full.server = "local";
        full.tool = "repl";
        full.arguments = Some(arguments.clone());
        full.arguments_hash = Some("00".to_owned());
        full.reason = "r";
        full.detail = "d\\";
        full.derivation = "may('x')";
        full.approval = "id";
        full.approver = "ann";
        full.provider = "terminal";
        full.policy_hash = "sha256:0";
        full.epoch = 9;
        for entry in [&bare, &full] {
            let mut text = String::new();
            entry.write_open(&mut text);
            text.push('}');
            assert_eq!(text, serde_json::to_string(entry).unwrap());
        }
        full.redacting = Some(&arguments);
        let mut text = String::new();
        full.write_open(&mut text);
        assert!(text.contains(r#""token":"[redacted]""#) && !text.contains("1.5"));
    }

    #[test]
    fn events_have_one_name() {
        for event in [
            Event::ApprovalRequired,
            Event::ApprovalDecision,
            Event::Executing,
            Event::Executed,
            Event::Denied,
            Event::Error,
            Event::Observed,
            Event::Policy,
            Event::Repaired,
        ] {
            assert_eq!(json!(event), json!(event.as_str()));
        }
    }
}
