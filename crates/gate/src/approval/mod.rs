//! Approvals: a person's consent to one exact call.
//!
//! Nothing here consents: a yes is given by somebody, to what they were shown, once.

mod approver;
mod request;
#[cfg(unix)]
mod terminal;
mod verdict;

pub use approver::{Answer, ApprovedPairs, Approver, ApproverError, AutoDeny, Callback, Deferred};
pub use request::{Record, Request, State};
#[cfg(unix)]
pub use terminal::Terminal;
pub use verdict::{APPROVED_MILLIS, ApproverKey, BadKey, NotSigned, Signatory, Verdict};
pub(crate) use verdict::{names, random_id};
