//! Approvals: a person's consent to one exact call.
//!
//! Nothing here consents: a yes is given by somebody, to what they were shown, once.

mod approver;
#[cfg(feature = "http")]
mod http;
mod request;
#[cfg(unix)]
mod terminal;
mod verdict;
mod webhook;

pub use approver::{Answer, ApprovedPairs, Approver, ApproverError, AutoDeny, Callback, Deferred};
#[cfg(feature = "http")]
pub use http::HttpTransport;
pub use request::{Record, Request, State};
#[cfg(unix)]
pub use terminal::Terminal;
pub use verdict::{APPROVED_MILLIS, ApproverKey, BadKey, NotSigned, Signatory, Verdict};
pub(crate) use verdict::{names, random_id};
pub use webhook::{AnswerRefused, Post, Reply, Transport, Webhook, WebhookAnswers, WebhookKey};
