//! Approvers: who is asked, and what may be answered.
//!
//! Nothing here takes silence, an error, a panic or an answer that is not understood for a yes.

use super::request::Request;
use crate::spec::Level;
use crate::tool::BoxFuture;
use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, to exactly this call.
    Approve,
    /// No, and why.
    Deny(String),
    /// The answer comes later, through the store.
    Defer,
    /// This approver does not answer for such calls; the next is asked.
    Pass,
    /// Something else, which is no yes.
    Unknown(String),
}

impl Answer {
    /// Reads the answer of somebody who types or sends text: `approve` or `deny`, and nothing around it but spaces.
    ///
    /// ```
    /// use horngate_gate::Answer;
    /// assert_eq!(Answer::from_text("approve\n"), Answer::Approve);
    /// assert!(matches!(Answer::from_text("do not approve"), Answer::Unknown(_)));
    /// assert!(matches!(Answer::from_text("yes"), Answer::Unknown(_)));
    /// ```
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text.trim_ascii() {
            "approve" => Self::Approve,
            "deny" => Self::Deny("the answer was `deny`".to_owned()),
            other => Self::Unknown(other.to_owned()),
        }
    }
}

/// An approver that failed; it denies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ApproverError(String);

impl ApproverError {
    /// A failure, in words.
    ///
    /// ```
    /// assert_eq!(horngate_gate::ApproverError::new("no terminal").to_string(), "no terminal");
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Asks somebody.
///
/// ```
/// use horngate_gate::{Answer, Approver, ApproverError, BoxFuture, Request};
/// use std::sync::Arc;
///
/// /// Says yes to what is only confirmed, in working hours that somebody else knows.
/// struct OfficeHours(fn() -> bool);
///
/// impl Approver for OfficeHours {
///     fn person(&self) -> &str {
///         "office-hours"
///     }
///
///     fn provider(&self) -> &str {
///         "office-hours"
///     }
///
///     fn ask<'a>(&'a self, _: &'a Arc<Request>) -> BoxFuture<'a, Result<Answer, ApproverError>> {
///         let answer = if self.0() { Answer::Approve } else { Answer::Pass };
///         Box::pin(std::future::ready(Ok(answer)))
///     }
/// }
/// ```
pub trait Approver: Send + Sync {
    /// The person who answers, as `may_approve/3` names them.
    fn person(&self) -> &str;

    /// What kind of approver this is, as in `terminal`.
    fn provider(&self) -> &str;

    /// How long a call waits for an answer that comes through the store.
    fn patience(&self) -> Duration {
        Duration::ZERO
    }

    /// What else belongs to its settings; any change voids what is pending or approved.
    fn settings(&self) -> String {
        String::new()
    }

    /// Asks about one call.
    fn ask<'a>(&'a self, request: &'a Arc<Request>)
    -> BoxFuture<'a, Result<Answer, ApproverError>>;
}

type Asking =
    Box<dyn Fn(Arc<Request>) -> BoxFuture<'static, Result<Answer, ApproverError>> + Send + Sync>;

/// A function that answers.
///
/// ```
/// use horngate_gate::{Answer, Callback};
/// let sync = Callback::new("ann", |request| {
///     Ok(if request.tool == "repl" { Answer::Approve } else { Answer::Deny("not that".to_owned()) })
/// });
/// let later = Callback::of_future("ann", |request| async move { Ok(Answer::from_text(&request.reason)) });
/// # let _ = (sync, later);
/// ```
pub struct Callback {
    person: String,
    asking: Asking,
}

impl Callback {
    /// A function that may block: it runs on a thread of its own.
    pub fn new<F>(person: impl Into<String>, ask: F) -> Self
    where
        F: Fn(&Request) -> Result<Answer, ApproverError> + Send + Sync + 'static,
    {
        let ask = Arc::new(ask);
        Self {
            person: person.into(),
            asking: Box::new(move |request| {
                let ask = Arc::clone(&ask);
                Box::pin(async move {
                    match tokio::task::spawn_blocking(move || ask(&request)).await {
                        Ok(answer) => answer,
                        Err(error) => match error.try_into_panic() {
                            Ok(panic) => std::panic::resume_unwind(panic),
                            Err(_) => Err(ApproverError::new("the approver was stopped")),
                        },
                    }
                })
            }),
        }
    }

    /// A function that returns a future.
    pub fn of_future<F, R>(person: impl Into<String>, ask: F) -> Self
    where
        F: Fn(Arc<Request>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Answer, ApproverError>> + Send + 'static,
    {
        Self {
            person: person.into(),
            asking: Box::new(move |request| Box::pin(ask(request))),
        }
    }
}

impl Approver for Callback {
    fn person(&self) -> &str {
        &self.person
    }

    fn provider(&self) -> &str {
        "callback"
    }

    fn ask<'a>(
        &'a self,
        request: &'a Arc<Request>,
    ) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        (self.asking)(Arc::clone(request))
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callback").field(&self.person).finish()
    }
}

/// Says no to everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AutoDeny;

impl Approver for AutoDeny {
    fn person(&self) -> &str {
        "nobody"
    }

    fn provider(&self) -> &str {
        "auto-deny"
    }

    fn ask<'a>(&'a self, _: &'a Arc<Request>) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        let answer = Answer::Deny("this gate approves nothing".to_owned());
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// A list of calls that need no person: pairs of an actor and a tool. It never answers for a destructive call.
///
/// ```
/// let list = horngate_gate::ApprovedPairs::new("ops-policy", [("U:Qa", "repl")]);
/// # let _ = list;
/// ```
#[derive(Clone, Debug)]
pub struct ApprovedPairs {
    name: String,
    pairs: BTreeSet<(String, String)>,
}

impl ApprovedPairs {
    /// The list, and the name under which it answers.
    pub fn new<A, T>(name: impl Into<String>, pairs: impl IntoIterator<Item = (A, T)>) -> Self
    where
        A: Into<String>,
        T: Into<String>,
    {
        Self {
            name: name.into(),
            pairs: pairs
                .into_iter()
                .map(|(actor, tool)| (actor.into(), tool.into()))
                .collect(),
        }
    }
}

impl Approver for ApprovedPairs {
    fn person(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "approved-pairs"
    }

    fn settings(&self) -> String {
        format!("{:?}", self.pairs)
    }

    fn ask<'a>(
        &'a self,
        request: &'a Arc<Request>,
    ) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        // A sub-agent's call is listed only if every actor of its chain is.
        let listed = request
            .chain
            .iter()
            .all(|actor| self.pairs.contains(&(actor.clone(), request.tool.clone())));
        let answer = match request.level {
            Level::Destructive => Answer::Pass,
            _ if listed => Answer::Approve,
            _ => Answer::Pass,
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// Leaves the request in the store, where somebody with a key answers it.
///
/// The call is refused with `confirmation-required` and the id, unless it waits.
///
/// ```
/// use horngate::{Allowlist, Budget, Rulebase, Source};
/// use horngate_gate::{Clock, Closure, Deferred, Gate, Reason, Signatory, SystemClock, ToolSpec};
/// use serde_json::Value;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let rules = Rulebase::load([Source::new("a.pl", "may_execute_tool('U:Qa', tool_deploy).")])?;
/// let model = rules.evaluate(&Budget::default())?;
/// let spec = ToolSpec::new("deploy", "Deploys").confirm("customers see it");
/// let ann = Signatory::generate("ann")?;
/// let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
///     .tool(Closure::<Value>::new(spec, |permit| Ok(permit.into_arguments())))
///     .approver(Deferred::new())
///     .approver_key("ann", ann.key())
///     .build()?;
///
/// let first = gate.invocation("U:Qa", "session-1");
/// let refusal = gate.call(&first, "deploy", "{}").await.unwrap_err();
/// assert_eq!(refusal.reason, Reason::ConfirmationRequired);
///
/// // Ann reads all of it, and signs.
/// let record = gate.pending(&first)?.pop().expect("it waits");
/// assert!(record.request.for_people().contains("customers see it"));
/// gate.submit(&ann.answer(&record.request, true, SystemClock.now())?)?;
///
/// // The same call in a later turn uses the approval, and no other does.
/// let later = gate.invocation("U:Qa", "session-1");
/// assert!(gate.call(&later, "deploy", "{}").await.is_ok());
/// assert!(gate.call(&gate.invocation("U:Qa", "session-1"), "deploy", "{}").await.is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Deferred {
    patience: Duration,
}

impl Deferred {
    /// The call does not wait.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The call waits for an answer so long.
    #[must_use]
    pub fn waiting(patience: Duration) -> Self {
        Self { patience }
    }
}

impl Approver for Deferred {
    fn person(&self) -> &str {
        ""
    }

    fn provider(&self) -> &str {
        "deferred"
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn ask<'a>(&'a self, _: &'a Arc<Request>) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        Box::pin(std::future::ready(Ok(Answer::Defer)))
    }
}
