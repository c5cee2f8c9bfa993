//! Observe mode: says what a gate would refuse, and runs it.
//!
//! Nothing here is a [`Gate`], and nothing turns one into the other.

use super::{BuildError, Gate, GateBuilder, Hidden, Inner, Trail, open, prepare};
use crate::adapters::ForeignTool;
use crate::audit::Event;
use crate::context::InvocationContext;
use crate::outcome::{Done, Reason, Refusal};
use crate::permit::Passed;
use crate::spec::Level;
use std::sync::Arc;

/// Runs every call, and says which ones a gate with the same rules and tools would refuse. It protects nothing.
///
/// It is a type of its own, so that no setting makes a gate one.
///
/// ```
/// use horngate::{Allowlist, Budget, Rulebase, Source};
/// use horngate_gate::{Closure, Gate, InvocationContext, InvocationId, Reason, ToolSpec};
/// use serde_json::Value;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let rules = Rulebase::load([Source::new("a.pl", "may_execute_tool('U:Qa', tool_echo).")])?;
/// let model = rules.evaluate(&Budget::default())?;
/// let echo = Closure::<Value>::new(ToolSpec::new("echo", "Says it again"), |permit| Ok(permit.into_arguments()));
/// let observer = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?).tool(echo).observe()?;
/// let ux = InvocationContext::new("U:Ux", "s", InvocationId(1));
/// let observed = observer.call(&ux, "echo", "{}").await;
/// assert!(observed.outcome.is_ok(), "it ran all the same");
/// assert_eq!(observed.would_refuse, Some(Reason::UnknownActor));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Observer {
    inner: Arc<Inner>,
}

/// A call that was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// What the call came to.
    pub outcome: Result<Done, Refusal>,
    /// Why a gate would not have run it at once: it would deny it, or ask a person.
    pub would_refuse: Option<Reason>,
}

impl GateBuilder {
    /// An observer instead of a gate: it protects nothing.
    ///
    /// # Errors
    /// As [`GateBuilder::build`].
    pub fn observe(self) -> Result<Observer, BuildError> {
        let Gate { inner } = self.build()?;
        Ok(Observer { inner })
    }
}

impl Observer {
    /// Runs a call, whatever the rules say. Arguments that do not read or break the schema are refused all the same.
    pub async fn call(&self, context: &InvocationContext, tool: &str, arguments: &str) -> Observed {
        let mut would_refuse = None;
        let inner = &*self.inner;
        let outcome = inner
            .finish(context, tool, async |trail| {
                let (entry, arguments) = inner.look_up(tool, arguments, trail)?;
                let passed = Passed {
                    context: context.clone(),
                    arguments,
                    call: trail.call.clone(),
                };
                let prepared = prepare(&entry, &passed.arguments)?;
                would_refuse = self.judge(context, &entry, trail);
                tracing::info!(?would_refuse, "observed");
                let recorded = inner.record(Event::Observed, context, tool, trail, None);
                recorded.map_err(|error| super::unrecorded(&error))?;
                inner.run(prepared, &passed, tool, trail).await
            })
            .await;
        Observed {
            outcome,
            would_refuse,
        }
    }

    /// Adds a tool of another server, or hides it if it cannot be used.
    pub fn offer(&self, tool: ForeignTool) {
        self.inner
            .change_registry(|registry| super::builder::add_foreign(registry, tool));
    }

    /// Takes a tool away.
    pub fn withdraw(&self, tool: &str) -> bool {
        self.inner.change_registry(|registry| registry.remove(tool))
    }

    /// The tools of other servers that cannot be called, and why.
    #[must_use]
    pub fn hidden(&self) -> Vec<Hidden> {
        self.inner.registry().hidden.clone()
    }

    fn judge(
        &self,
        context: &InvocationContext,
        entry: &super::Entry,
        trail: &mut Trail,
    ) -> Option<Reason> {
        let inner = &*self.inner;
        let current = inner.current();
        let policy = match open(&current) {
            Ok(policy) => policy,
            Err(stop) => return Some(stop.reason),
        };
        trail.policy_hash.clone_from(&policy.hash);
        trail.epoch = policy.epoch;
        match inner.decide(policy, context, entry) {
            Ok(derivation) => trail.derivation = derivation,
            Err(stop) => return Some(stop.reason),
        }
        let (level, _) = inner.guard(policy, context, entry);
        (level != Level::None).then_some(Reason::ConfirmationRequired)
    }
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer")
            .field("name", &self.inner.name)
            .finish_non_exhaustive()
    }
}
