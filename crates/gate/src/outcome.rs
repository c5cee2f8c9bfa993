//! What a call comes to: its result, or a refusal in a stable shape.
//!
//! Nothing here is a third thing, and no refusal can be turned into a result.

use serde_json::{Value, json};
use std::fmt;
use std::time::Duration;

/// Why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The gate has no tool of that name.
    NoSuchTool,
    /// The arguments do not read, or break the tool's schema.
    InvalidArguments,
    /// Nothing is granted to the actor.
    UnknownActor,
    /// The tool is granted to nobody.
    UnknownTool,
    /// This tool is not granted to this actor.
    NotGranted,
    /// There is no answer.
    Error,
    /// A person must be asked, and there is no approver.
    NoApprover,
    /// The person said no.
    Declined,
    /// The person has been asked, and has not answered yet.
    ConfirmationRequired,
    /// Nobody answered in time.
    ApproverTimeout,
    /// The approver failed.
    ApproverError,
    /// The approver panicked.
    ApproverPanic,
    /// The answer was neither yes nor no.
    UnknownAnswer,
    /// Whoever answered may not approve this.
    NotAuthorized,
    /// The approval is not signed by an approver's key.
    BadSignature,
    /// The approval is valid, but only for a later turn than the one that asked.
    SameInvocation,
    /// The request or its approval is too old.
    ApprovalExpired,
    /// The approval was used already.
    ApprovalUsed,
    /// Too many requests of the session are pending.
    TooManyPending,
    /// The request or its approval was revoked, or could not be trusted.
    Revoked,
    /// The rules or the gate's settings changed meanwhile.
    PolicyChanged,
    /// The tool changed or went away meanwhile.
    DefinitionChanged,
    /// The approvals cannot be read or written.
    StoreFailed,
    /// The audit log cannot be written.
    AuditFailed,
    /// The gate was closed by rules that could not be loaded.
    Closed,
    /// The body ran and failed.
    ToolFailed,
    /// The body ran and panicked.
    ToolPanicked,
}

impl Reason {
    /// The stable name, as in JSON.
    ///
    /// ```
    /// assert_eq!(horngate_gate::Reason::NotGranted.as_str(), "not-granted");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSuchTool => "no-such-tool",
            Self::InvalidArguments => "invalid-arguments",
            Self::UnknownActor => "unknown-actor",
            Self::UnknownTool => "unknown-tool",
            Self::NotGranted => "not-granted",
            Self::Error => "error",
            Self::NoApprover => "no-approver",
            Self::Declined => "declined",
            Self::ConfirmationRequired => "confirmation-required",
            Self::ApproverTimeout => "approver-timeout",
            Self::ApproverError => "approver-error",
            Self::ApproverPanic => "approver-panic",
            Self::UnknownAnswer => "unknown-answer",
            Self::NotAuthorized => "not-authorized",
            Self::BadSignature => "bad-signature",
            Self::SameInvocation => "same-invocation",
            Self::ApprovalExpired => "approval-expired",
            Self::ApprovalUsed => "approval-used",
            Self::TooManyPending => "too-many-pending",
            Self::Revoked => "revoked",
            Self::PolicyChanged => "policy-changed",
            Self::DefinitionChanged => "definition-changed",
            Self::StoreFailed => "store-failed",
            Self::AuditFailed => "audit-failed",
            Self::Closed => "closed",
            Self::ToolFailed => "tool-failed",
            Self::ToolPanicked => "tool-panicked",
        }
    }

    /// What became of the approval that was needed: `denied`, `pending`, `expired`, `void` or `error`.
    pub(crate) fn approval_decision(self) -> &'static str {
        match self {
            Self::ConfirmationRequired | Self::SameInvocation => "pending",
            Self::ApproverTimeout | Self::ApprovalExpired => "expired",
            Self::Revoked | Self::PolicyChanged | Self::DefinitionChanged | Self::ApprovalUsed => {
                "void"
            }
            Self::ApproverError
            | Self::ApproverPanic
            | Self::UnknownAnswer
            | Self::StoreFailed
            | Self::AuditFailed
            | Self::Error => "error",
            _ => "denied",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<horngate::DenyReason> for Reason {
    fn from(reason: horngate::DenyReason) -> Self {
        match reason {
            horngate::DenyReason::UnknownActor => Self::UnknownActor,
            horngate::DenyReason::UnknownTool => Self::UnknownTool,
            horngate::DenyReason::NotGranted => Self::NotGranted,
            _ => Self::Error,
        }
    }
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// What the tool gave.
    pub data: Value,
    pub(crate) tool: String,
    pub(crate) took: Duration,
    pub(crate) approval: Approval,
}

/// A call without a result.
///
/// ```
/// # use horngate_gate::Refusal;
/// # fn show(refusal: &Refusal) {
/// println!("to the model: {refusal}");
/// eprintln!("to the person: {}", refusal.detail());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("Error: {message}")]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// A short text, for the model.
    pub message: String,
    pub(crate) detail: String,
    pub(crate) ran: bool,
    pub(crate) tool: String,
    pub(crate) took: Duration,
    pub(crate) approval: Approval,
}

/// What a call had to do with approvals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Approval {
    pub(crate) required: bool,
    pub(crate) provider: Option<String>,
    pub(crate) id: Option<String>,
}

impl Done {
    /// As JSON, in the shape that refusals have too.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "success": true,
            "data": self.data,
            "error": null,
            "tool_name": self.tool,
            "execution_time_ms": milliseconds(self.took),
            "metadata": {
                "approval_required": self.approval.required,
                "approval_decision": self.approval.required.then_some("approved"),
                "approval_provider": self.approval.provider,
                "approval_id": self.approval.id,
                "reason": null,
            },
        })
    }
}

impl Refusal {
    /// All there is to say, for people.
    #[must_use]
    pub fn detail(&self) -> &str {
        if self.detail.is_empty() {
            &self.message
        } else {
            &self.detail
        }
    }

    /// The id of the request that waits for a person, if there is one.
    #[must_use]
    pub fn approval_id(&self) -> Option<&str> {
        self.approval.id.as_deref()
    }

    /// Whether the body ran.
    #[must_use]
    pub fn ran(&self) -> bool {
        self.ran
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let decision = match (self.approval.required, self.ran()) {
            (false, _) => None,
            (true, true) => Some("approved"),
            (true, false) => Some(self.reason.approval_decision()),
        };
        json!({
            "success": false,
            "data": null,
            "error": self.message,
            "tool_name": self.tool,
            "execution_time_ms": milliseconds(self.took),
            "metadata": {
                "approval_required": self.approval.required,
                "approval_decision": decision,
                "approval_provider": self.approval.provider,
                "approval_id": self.approval.id,
                "reason": self.reason.as_str(),
            },
        })
    }
}

fn milliseconds(took: Duration) -> u64 {
    crate::clock::millis(took)
}
