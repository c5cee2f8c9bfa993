//! Stores: where requests and answers are kept, and where an approval is used once.
//!
//! Nothing here verifies a signature or knows a policy: that is the gate's part. The rules of change are in one place,
//! `book.rs`, and every store runs them in one atomic step.

mod book;
mod memory;
mod sqlite;

pub use memory::MemoryStore;
pub use sqlite::SqliteStore;

use crate::approval::{Record, Request, Verdict};
use crate::clock::Millis;
use crate::context::InvocationId;

/// A store that failed; whatever needed it is denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(String);

impl StoreError {
    /// A failure, in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What a store says to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is new, and pending now.
    Created,
    /// The same call is pending or approved already.
    Live(Box<Record>),
    /// The same call was settled in the same turn, and is not asked for again.
    Settled(Box<Record>),
    /// Too many requests of the session are pending.
    TooMany,
    /// The policy has changed since it was decided.
    Stale,
}

/// What a store says to an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// It is recorded.
    Recorded,
    /// There is no such request.
    NoSuch,
    /// The request does not wait for an answer any more.
    NotPending(crate::approval::State),
}

/// A call that is about to use an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The request's id.
    pub id: String,
    /// The gate.
    pub gate: String,
    /// Names the call, see [`Request::binding`].
    pub binding: String,
    /// The policy's epoch.
    pub epoch: u64,
    /// The turn of the call.
    pub invocation: InvocationId,
    /// How the call comes to its approval.
    pub by: Basis,
}

/// How a call comes to its approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// It asked and waited, and the approver answered it.
    Answered,
    /// It asked and waited; the answer came through the store, and the gate verified this signature.
    Waited(String),
    /// An earlier turn asked; the gate verified this signature.
    Later(String),
}

/// What a store says to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumed {
    /// The approval is used now, by this call and no other.
    Yes,
    /// There is no such request, or it is for another call.
    NoSuch,
    /// It was used before.
    Used,
    /// It is too old.
    Expired,
    /// The policy changed, or it was revoked.
    Void,
    /// It was not approved, or not by what the gate verified.
    NotApproved,
    /// It is for a later turn than the one that asked.
    SameInvocation,
}

/// How a request ends without being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Somebody said no.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// It was revoked, or what the store holds is no approval.
    Void,
}

/// Keeps requests and answers. Each method is one atomic step, also between processes and across a crash.
pub trait Store: Send + Sync {
    /// Whether a step may wait for a disk or for another process. If so, the gate takes it on a thread for that, which
    /// needs a tokio runtime.
    fn may_block(&self) -> bool {
        true
    }

    /// Says which policy the gate has, and tells its epoch. When the policy is another than last time, the epoch rises
    /// and all that is pending or approved is void.
    ///
    /// # Errors
    /// [`StoreError`] when nothing was changed.
    fn open(&self, gate: &str, policy: &str, now: Millis) -> Result<u64, StoreError>;

    /// Enters a request, unless the same call is pending or approved, or was settled in the same turn.
    ///
    /// # Errors
    /// [`StoreError`] when nothing was changed.
    fn request(
        &self,
        request: &Request,
        max_pending: usize,
        now: Millis,
    ) -> Result<Asked, StoreError>;

    /// Enters an answer.
    ///
    /// # Errors
    /// [`StoreError`] when nothing was changed.
    fn decide(&self, verdict: &Verdict, now: Millis) -> Result<Decided, StoreError>;

    /// Ends a request that is pending or approved.
    ///
    /// # Errors
    /// [`StoreError`] when nothing was changed.
    fn end(&self, id: &str, end: End, now: Millis) -> Result<Decided, StoreError>;

    /// Uses an approval.
    ///
    /// # Errors
    /// [`StoreError`] when it is not known to have been used by this call.
    fn consume(&self, claim: &Claim, now: Millis) -> Result<Consumed, StoreError>;

    /// One request.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    fn get(&self, id: &str) -> Result<Option<Record>, StoreError>;

    /// All requests, the oldest first.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    fn list(&self) -> Result<Vec<Record>, StoreError>;
}
