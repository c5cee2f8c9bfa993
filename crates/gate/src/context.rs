//! Who calls, for whom, and in which turn.
//!
//! Nothing here is taken from a call's arguments: the host says who calls.

use std::sync::Arc;

/// Numbers the turns of a session; a later turn has a larger number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationId(pub u64);

/// Whether a sub-agent acts within the rights of those it acts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delegation {
    /// It may do only what every actor of its chain may.
    #[default]
    Intersect,
    /// It may do what it is itself granted.
    Own,
}

impl Delegation {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Intersect => "intersect",
            Self::Own => "own",
        }
    }
}

/// Who calls: the chain of actors from the root to the caller, the session and the turn.
///
/// ```
/// use horngate_gate::{InvocationContext, InvocationId};
/// let root = InvocationContext::new("U:Qa", "session-1", InvocationId(7));
/// let child = root.child("U:Helper");
/// assert_eq!(child.actor(), "U:Helper");
/// assert_eq!(child.root(), "U:Qa");
/// assert_eq!(child.invocation(), root.invocation());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvocationContext {
    /// The actors before the caller, the root first.
    parents: Arc<[Arc<str>]>,
    actor: Arc<str>,
    session: Arc<str>,
    invocation: InvocationId,
}

impl InvocationContext {
    /// A root: `actor` calls for itself.
    #[must_use]
    pub fn new(actor: &str, session: &str, invocation: InvocationId) -> Self {
        Self {
            parents: Arc::new([]),
            actor: actor.into(),
            session: session.into(),
            invocation,
        }
    }

    /// A sub-agent that acts for this one, in the same session and turn: a turn of a sub-agent is no turn of the person
    /// who talks to the root.
    #[must_use]
    pub fn child(&self, actor: &str) -> Self {
        let mut parents = self.parents.to_vec();
        parents.push(Arc::clone(&self.actor));
        Self {
            parents: parents.into(),
            actor: actor.into(),
            session: Arc::clone(&self.session),
            invocation: self.invocation,
        }
    }

    /// Who calls.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// For whom, in the end.
    #[must_use]
    pub fn root(&self) -> &str {
        self.parents.first().unwrap_or(&self.actor)
    }

    /// All actors, from the root to the caller.
    pub fn chain(&self) -> impl Iterator<Item = &str> {
        self.parents
            .iter()
            .chain(std::iter::once(&self.actor))
            .map(|actor| &**actor)
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The turn.
    #[must_use]
    pub fn invocation(&self) -> InvocationId {
        self.invocation
    }
}
