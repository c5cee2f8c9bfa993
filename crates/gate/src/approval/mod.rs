//! Approvals: a person's consent to one exact call.
//!
//! Nothing here consents: a yes is given by somebody, to what they were shown, once.

mod approver;
mod request;
mod verdict;

pub use approver::{Answer, ApprovedPairs, Approver, ApproverError, AutoDeny, Callback, Deferred};
pub use request::{Record, Request, State};
pub use verdict::{APPROVED_MILLIS, ApproverKey, BadKey, NotSigned, Signatory, Verdict};
pub(crate) use verdict::{names, random_id};
