//! The gate: the one way to a tool.
//!
//! Nothing here allows because something failed.

mod approve;
mod builder;
mod observe;
mod registry;
mod reload;

pub use builder::{AuditFailure, BuildError, GateBuilder, Limits};
pub use observe::{Observed, Observer};
pub use registry::{Hidden, ToolRefused};
pub use reload::{OnBadRules, ReloadError};

use crate::adapters::ForeignTool;
use crate::approval::{ApproverKey, Record, Verdict};
use crate::arguments::Arguments;
use crate::audit::{AuditLog, Entry as Line, Event, is_written};
use crate::catch::{Panicked, catch};
use crate::clock::{Clock, Millis, millis};
use crate::context::{Delegation, InvocationContext, InvocationId};
use crate::outcome::{Approval, Done, Reason, Refusal};
use crate::permit::Passed;
use crate::policy::Rules;
use crate::spec::{Level, MAX_NAME, ToolSpec};
use crate::store::{Claim, Consumed, Decided, Store, StoreError};
use crate::tool::Prepared;
use crate::visible::{shortened, visible};
use approve::Asker;
use horngate::Allowlist;
use registry::{Entry, Registry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Instant;
use tracing::Instrument as _;

/// The gate around a set of tools. Cheap to clone; all clones are the same gate.
///
/// ```
/// use horngate::{Allowlist, Budget, Rulebase, Source};
/// use horngate_gate::{Closure, Gate, Reason, ToolError, ToolSpec};
/// use serde_json::Value;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let rules = Rulebase::load([Source::new("a.pl", "may_execute_tool('U:Qa', tool_echo).")])?;
/// let model = rules.evaluate(&Budget::default())?;
/// let echo = Closure::new(ToolSpec::new("echo", "Says it again"), |permit| {
///     Ok::<Value, ToolError>(permit.into_arguments())
/// });
/// let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
///     .tool(echo)
///     .build()?;
///
/// let qa = gate.invocation("U:Qa", "session-1");
/// assert_eq!(gate.call(&qa, "echo", r#"{"n": 1.0}"#).await?.data["n"], 1);
///
/// let ux = gate.invocation("U:Ux", "session-1");
/// let refusal = gate.call(&ux, "echo", "{}").await.unwrap_err();
/// assert_eq!(refusal.reason, Reason::UnknownActor);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Gate {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    registry: RwLock<Arc<Registry>>,
    current: RwLock<Arc<Current>>,
    reloading: Mutex<()>,
    approvers: Vec<Asker>,
    keys: BTreeMap<String, ApproverKey>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    audit: Option<Arc<AuditLog>>,
    settings: Settings,
    /// Tells the calls of this process from those of others.
    process: String,
    calls: AtomicU64,
    invocations: AtomicU64,
    /// The approvals that were used here, and when: a row of the store that is turned back brings none of them back.
    used: Mutex<BTreeMap<String, (Millis, Instant)>>,
}

/// How long used approvals are remembered: longer than any can last.
const REMEMBERED: Millis = 2 * 24 * 60 * 60 * 1000;

/// What does not change while the gate lives.
struct Settings {
    text: String,
    delegation: Delegation,
    limits: Limits,
    accepted: BTreeMap<String, String>,
    audit_failure: AuditFailure,
}

/// What the gate decides by at one moment.
enum Current {
    Open(Policy),
    /// Rules that could not be loaded closed it.
    Closed(String),
}

struct Policy {
    rules: Rules,
    hash: String,
    epoch: u64,
}

/// Why a call goes no further.
struct Stop {
    reason: Reason,
    /// For the model.
    message: String,
    /// For people, if there is more to say.
    detail: String,
}

impl Stop {
    fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            detail: String::new(),
        }
    }

    fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

/// What is known of a call so far, for its outcome and the log.
#[derive(Default)]
struct Trail {
    call: String,
    server: String,
    arguments: Option<Arc<Arguments>>,
    derivation: String,
    policy_hash: String,
    epoch: u64,
    approval: Approval,
    approver: String,
    ran: bool,
}

impl Gate {
    /// Starts to put a gate together, on rules that bind an allowlist.
    pub fn builder(allowlist: Allowlist) -> GateBuilder {
        GateBuilder::new(allowlist)
    }

    /// A new turn of `actor` in `session`, numbered by the clock and larger than all before it in this process.
    #[must_use]
    pub fn invocation(&self, actor: &str, session: &str) -> InvocationContext {
        let micros = self.inner.clock.now().saturating_mul(1000);
        let after = |last: u64| last.saturating_add(1).max(micros);
        let last =
            self.inner
                .invocations
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(after(last)));
        let number = after(last.unwrap_or_else(|last| last));
        InvocationContext::new(actor, session, InvocationId(number))
    }

    /// Calls a tool: looks it up, checks the arguments, decides, asks a person if one must be asked, decides again, and
    /// runs it.
    ///
    /// # Errors
    /// [`Refusal`] when there is no result, for whatever reason.
    pub async fn call(
        &self,
        context: &InvocationContext,
        tool: &str,
        arguments: &str,
    ) -> Result<Done, Refusal> {
        let span = tracing::info_span!(
            "call",
            gate = %self.inner.name,
            actor = context.actor(),
            session = context.session(),
            tool
        );
        self.inner
            .finish(context, tool, async |trail| {
                self.inner.attempt(context, tool, arguments, trail).await
            })
            .instrument(span)
            .await
    }

    /// The tools that the caller may call.
    #[must_use]
    pub fn tools_for(&self, context: &InvocationContext) -> Vec<ToolSpec> {
        let current = self.inner.current();
        let Current::Open(policy) = &*current else {
            return Vec::new();
        };
        self.inner
            .registry()
            .iter()
            .filter(|entry| self.inner.allows(policy, context, entry))
            .map(|entry| entry.spec.clone())
            .collect()
    }

    /// The tools of other servers that cannot be called, and why.
    #[must_use]
    pub fn hidden(&self) -> Vec<Hidden> {
        self.inner.registry().hidden.clone()
    }

    /// Facts `tool_guard(Tool, Level)` about all tools, in the syntax of rule files, sorted.
    ///
    /// The level is `confined`, `none`, `confirm` or `destructive`.
    #[must_use]
    pub fn tool_facts(&self) -> String {
        let current = self.inner.current();
        let Current::Open(policy) = &*current else {
            return String::new();
        };
        self.inner
            .registry()
            .iter()
            .map(|entry| {
                let tool = policy.rules.allowlist.tool_atom(entry.spec.name());
                let level = match (entry.spec.level(), entry.confined) {
                    (Level::None, Some(_)) => "confined",
                    (level, _) => level.as_str(),
                };
                format!("tool_guard({tool}, {level}).\n")
            })
            .collect()
    }

    /// Adds a tool of another server, or hides it if it cannot be used.
    pub fn offer(&self, tool: ForeignTool) {
        self.inner
            .change_registry(|registry| builder::add_foreign(registry, tool));
    }

    /// Takes a tool away; calls that wait for a person will not run it.
    pub fn withdraw(&self, tool: &str) -> bool {
        self.inner.change_registry(|registry| registry.remove(tool))
    }

    /// Names the policy: the rules and all settings that decide. Empty when the gate is closed.
    #[must_use]
    pub fn policy_hash(&self) -> String {
        match &*self.inner.current() {
            Current::Open(policy) => policy.hash.clone(),
            Current::Closed(_) => String::new(),
        }
    }

    /// The requests that wait for a person: those of the caller and of the sub-agents that act for it.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub fn pending(&self, context: &InvocationContext) -> Result<Vec<Record>, StoreError> {
        let now = self.inner.clock.now();
        let mine = |record: &Record| {
            let request = &record.request;
            request.gate == self.inner.name
                && request.session == context.session()
                && context
                    .chain()
                    .zip(
                        request
                            .chain
                            .iter()
                            .map(Some)
                            .chain(std::iter::repeat(None)),
                    )
                    .all(|(own, theirs)| theirs.is_some_and(|theirs| own == theirs))
        };
        let mut records = self.inner.store.list()?;
        records.retain(|record| {
            mine(record) && record.state_at(now) == crate::approval::State::Pending
        });
        Ok(records)
    }

    /// Enters a signed answer into the store. An answer that is not signed by a key of the gate changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] when it was not entered.
    pub fn submit(&self, verdict: &Verdict) -> Result<Decided, StoreError> {
        let signed = self
            .inner
            .keys
            .get(&verdict.approver)
            .is_some_and(|key| verdict.is_signed_by(key));
        if !signed {
            return Err(StoreError::new(
                "the answer is not signed by a key of this gate",
            ));
        }
        self.inner.store.decide(verdict, self.inner.clock.now())
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate")
            .field("name", &self.inner.name)
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change_registry<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> T {
        let mut slot = self
            .registry
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let mut registry = Registry::clone(&slot);
        let result = change(&mut registry);
        *slot = Arc::new(registry);
        result
    }

    fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs an attempt and makes its outcome.
    async fn finish(
        &self,
        context: &InvocationContext,
        tool: &str,
        attempt: impl AsyncFnOnce(&mut Trail) -> Result<Value, Stop>,
    ) -> Result<Done, Refusal> {
        let started = Instant::now();
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut trail = Trail {
            call: format!("{}-{number}", self.process),
            ..Trail::default()
        };
        let result = attempt(&mut trail).await;
        let tool = shown(tool);
        match result {
            Ok(data) => {
                tracing::info!("executed");
                Ok(Done {
                    data,
                    tool,
                    took: started.elapsed(),
                    approval: trail.approval,
                })
            }
            Err(stop) => {
                if trail.ran {
                    tracing::error!(reason = %stop.reason, "failed");
                } else {
                    tracing::warn!(reason = %stop.reason, "denied");
                    // A refusal stays one, whether or not it can be written down.
                    let _ = self.record(Event::Denied, context, &tool, &trail, Some(&stop));
                }
                Err(Refusal {
                    reason: stop.reason,
                    message: match trail.ran {
                        true => stop.message,
                        false => shortened(&stop.message, MAX_MESSAGE),
                    },
                    detail: stop.detail,
                    ran: trail.ran,
                    tool,
                    took: started.elapsed(),
                    approval: trail.approval,
                })
            }
        }
    }

    async fn attempt(
        &self,
        context: &InvocationContext,
        tool: &str,
        text: &str,
        trail: &mut Trail,
    ) -> Result<Value, Stop> {
        let (entry, arguments) = self.look_up(tool, text, trail)?;
        let passed = Passed {
            context: context.clone(),
            arguments,
            call: trail.call.clone(),
        };
        let prepared = prepare(&entry, &passed.arguments)?;
        let claim = {
            let current = self.current();
            let policy = open(&current)?;
            trail.policy_hash.clone_from(&policy.hash);
            trail.epoch = policy.epoch;
            trail.derivation = self.decide(policy, context, &entry)?;
            tracing::info!(
                derivation = trail.derivation,
                policy = policy.hash,
                epoch = policy.epoch,
                "granted"
            );
            match self.guard(policy, context, &entry) {
                (Level::None, _) => None,
                (level, reason) => {
                    let asked = approve::Asked {
                        entry: &entry,
                        passed: &passed,
                        policy,
                        level,
                        reason,
                    };
                    let claim = self.approve(&asked, trail).await?;
                    tracing::info!(id = claim.id, approver = trail.approver, "approved");
                    Some(claim)
                }
            }
        };
        self.record(Event::Executing, context, tool, trail, None)
            .map_err(|error| unrecorded(&error))?;
        self.last_step(context, &entry, claim, trail).await?;
        self.run(prepared, &passed, tool, trail).await
    }

    /// Finds the tool and reads the arguments.
    fn look_up(
        &self,
        tool: &str,
        text: &str,
        trail: &mut Trail,
    ) -> Result<(Arc<Entry>, Arc<Arguments>), Stop> {
        let registry = self.registry();
        let Some(entry) = registry.get(tool) else {
            let message = format!("there is no tool `{}`", shown(tool));
            return Err(Stop::new(Reason::NoSuchTool, message));
        };
        trail.server.clone_from(&entry.server);
        let invalid = |what: String| {
            Stop::new(
                Reason::InvalidArguments,
                format!("the arguments of `{tool}` are invalid: {what}"),
            )
        };
        let arguments =
            Arguments::parse(text).map_err(|error| invalid(visible(&error.to_string())))?;
        let arguments = Arc::new(arguments);
        trail.arguments = Some(Arc::clone(&arguments));
        entry.schema.check(&arguments).map_err(invalid)?;
        Ok((Arc::clone(entry), arguments))
    }

    /// What the policy derives for the actors who call the tool, or why it denies.
    fn decide(
        &self,
        policy: &Policy,
        context: &InvocationContext,
        entry: &Entry,
    ) -> Result<String, Stop> {
        if let Some(why) = entry.confined {
            return Ok(format!("confined: {why}"));
        }
        let tool = entry.spec.name();
        policy
            .rules
            .decide(context, tool, self.settings.delegation)
            .map_err(|(reason, detail)| {
                Stop::new(reason, format!("you may not use `{tool}`")).detail(visible(&detail))
            })
    }

    /// Whether the policy lets the actors call the tool.
    fn allows(&self, policy: &Policy, context: &InvocationContext, entry: &Entry) -> bool {
        let (tool, delegation) = (entry.spec.name(), self.settings.delegation);
        entry.confined.is_some() || policy.rules.allows(context, tool, delegation)
    }

    /// How strictly a call is guarded and why: the stricter of what the tool says and what the rules demand.
    fn guard(
        &self,
        policy: &Policy,
        context: &InvocationContext,
        entry: &Entry,
    ) -> (Level, String) {
        let own = entry.spec.level();
        match policy.rules.demand(context, entry.spec.name()) {
            Some(demand) if demand.level > own => (demand.level, demand.reason.clone()),
            _ => (own, entry.spec.reason().unwrap_or_default().to_owned()),
        }
    }

    /// Everything once more, on what is current now; and the approval is used. After this only the body runs.
    async fn last_step(
        &self,
        context: &InvocationContext,
        entry: &Entry,
        claim: Option<Claim>,
        trail: &Trail,
    ) -> Result<(), Stop> {
        self.still_allowed(context, entry, claim.is_some(), trail)?;
        let Some(claim) = claim else {
            return Ok(());
        };
        let id = claim.id.clone();
        let (consumed, now) = self
            .with_store(move |store, now| Ok((store.consume(&claim, now)?, now)))
            .await?;
        let used = (Reason::ApprovalUsed, "the approval was used already");
        let (reason, message) = match consumed {
            // The store may have taken its time.
            Consumed::Yes if self.is_first_use(id, now) => {
                return self.still_allowed(context, entry, true, trail);
            }
            Consumed::Yes | Consumed::Used => used,
            Consumed::Void => return Err(policy_changed()),
            Consumed::Expired => (Reason::ApprovalExpired, "the approval is too old"),
            Consumed::SameInvocation => (Reason::SameInvocation, approve::LATER),
            Consumed::NoSuch | Consumed::NotApproved => (Reason::Revoked, "it is not approved"),
        };
        Err(Stop::new(reason, message))
    }

    /// Whether tool and policy are those that the call was decided by, or decide the same for a call that asks nobody.
    fn still_allowed(
        &self,
        context: &InvocationContext,
        entry: &Entry,
        approved: bool,
        trail: &Trail,
    ) -> Result<(), Stop> {
        let registry = self.registry();
        let now = registry.get(entry.spec.name());
        // Whether it still is confined is for the tool that is there now to say.
        let Some(entry) = now.filter(|now| now.definition == entry.definition) else {
            let message = "the tool changed; try again";
            return Err(Stop::new(Reason::DefinitionChanged, message));
        };
        let current = self.current();
        let policy = open(&current)?;
        if !self.allows(policy, context, entry) {
            let denied = self.decide(policy, context, entry);
            return Err(denied.err().unwrap_or_else(policy_changed));
        }
        if policy.epoch != trail.epoch
            && (approved || self.guard(policy, context, entry).0 != Level::None)
        {
            return Err(policy_changed());
        }
        Ok(())
    }

    /// Remembered by two clocks, since one of them can be set.
    fn is_first_use(&self, id: String, now: Millis) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, (at, since)| {
            at.saturating_add(REMEMBERED) > now || millis(since.elapsed()) < REMEMBERED
        });
        used.insert(id, (now, Instant::now())).is_none()
    }

    /// Runs the body.
    async fn run<'t>(
        &self,
        prepared: Prepared<'t>,
        passed: &'t Passed,
        tool: &str,
        trail: &mut Trail,
    ) -> Result<Value, Stop> {
        trail.ran = true;
        let span = tracing::info_span!("body");
        // Also the part of a body before its first await may panic.
        let result = catch(async move { prepared(passed).await })
            .instrument(span)
            .await;
        let result = match result {
            Ok(Ok(data)) => Ok(data),
            Ok(Err(error)) => Err(Stop::new(Reason::ToolFailed, error.to_string())),
            Err(Panicked) => Err(Stop::new(Reason::ToolPanicked, "the tool failed")
                .detail("the tool's body panicked")),
        };
        let event = match &result {
            Ok(_) => Event::Executed,
            Err(_) => Event::Error,
        };
        match self.record(event, &passed.context, tool, trail, result.as_ref().err()) {
            Ok(()) => result,
            Err(error) => Err(Stop::new(
                Reason::AuditFailed,
                "the tool ran, but that could not be recorded",
            )
            .detail(error.to_string())),
        }
    }

    /// Writes a line into the audit log, if there is one.
    fn record(
        &self,
        event: Event,
        context: &InvocationContext,
        tool: &str,
        trail: &Trail,
        stop: Option<&Stop>,
    ) -> std::io::Result<()> {
        tracing::debug!(?event);
        let Some(log) = &self.audit else {
            return Ok(());
        };
        let mut line = Line::new(self.clock.now(), event, &self.name);
        line.call = &trail.call;
        line.chain = context.chain().collect();
        line.session = context.session();
        line.invocation = Some(context.invocation().0);
        line.server = &trail.server;
        line.tool = tool;
        if event != Event::Executed
            && let Some(arguments) = &trail.arguments
        {
            line.redacting = is_written(arguments.canonical().len()).then(|| arguments.value());
            line.arguments_hash = Some(arguments.digest().to_string());
        }
        if let Some(stop) = stop {
            line.reason = stop.reason.as_str();
            line.detail = match stop.detail.is_empty() {
                true => &stop.message,
                false => &stop.detail,
            };
        }
        // What ran was told in full by the line before it ran.
        if event != Event::Executed {
            line.derivation = &trail.derivation;
            line.policy_hash = &trail.policy_hash;
        }
        line.approval = trail.approval.id.as_deref().unwrap_or_default();
        line.provider = trail.approval.provider.as_deref().unwrap_or_default();
        line.approver = &trail.approver;
        line.epoch = trail.epoch;
        let written = catch_unwind(AssertUnwindSafe(|| log.append(&line)))
            .unwrap_or_else(|_| Err(std::io::Error::other("the log's writer panicked")));
        match (written, self.settings.audit_failure) {
            (Err(error), AuditFailure::GoOn) => {
                tracing::error!(%error, "the audit log cannot be written");
                Ok(())
            }
            (written, _) => written,
        }
    }

    /// Uses the store, on a thread that may block if the store may.
    async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Store, Millis) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Stop> {
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        let failed = |detail: String| {
            Stop::new(Reason::StoreFailed, "approvals are not available").detail(detail)
        };
        if !store.may_block() {
            return match catch_unwind(AssertUnwindSafe(|| work(&*store, clock.now()))) {
                Ok(done) => done.map_err(|error| failed(error.to_string())),
                Err(_) => Err(failed("the store panicked".to_owned())),
            };
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return Err(failed("approvals need a tokio runtime".to_owned()));
        };
        match runtime
            .spawn_blocking(move || work(&*store, clock.now()))
            .await
        {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// How much a model is told of why it is refused, in characters.
const MAX_MESSAGE: usize = 2000;

/// The name that was called; no tool's is longer than this.
fn shown(tool: &str) -> String {
    visible(&shortened(tool, MAX_NAME))
}

/// The policy, unless the gate is closed.
fn open(current: &Current) -> Result<&Policy, Stop> {
    match current {
        Current::Open(policy) => Ok(policy),
        Current::Closed(why) => {
            Err(Stop::new(Reason::Closed, "no tool can be used now").detail(why.as_str()))
        }
    }
}

fn policy_changed() -> Stop {
    Stop::new(Reason::PolicyChanged, "the policy changed; try again")
}

fn unrecorded(error: &std::io::Error) -> Stop {
    Stop::new(Reason::AuditFailed, "the call cannot be recorded").detail(error.to_string())
}

/// Reads the arguments into the tool's type.
fn prepare<'t>(entry: &'t Entry, arguments: &Arguments) -> Result<Prepared<'t>, Stop> {
    let tool = entry.spec.name();
    let read = catch_unwind(AssertUnwindSafe(|| entry.tool.prepare(arguments)));
    let invalid = |what: &str| {
        Stop::new(
            Reason::InvalidArguments,
            format!("the arguments of `{tool}` are invalid: {}", visible(what)),
        )
    };
    match read {
        Ok(Ok(prepared)) => Ok(prepared),
        Ok(Err(error)) => Err(invalid(&error)),
        Err(_) => Err(invalid("they cannot be read")),
    }
}
