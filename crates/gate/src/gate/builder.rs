//! Puts a gate together, and refuses to when anything is doubtful.
//!
//! Nothing here can be set that turns a denial into an allow.

use super::approve::Asker;
use super::registry::{Hidden, LOCAL, Registry, ToolRefused};
use super::{Current, Gate, Inner, Policy, Settings};
use crate::adapters::ForeignTool;
use crate::approval::{Approver, ApproverKey};
use crate::audit::{AuditLog, Entry, Event};
use crate::clock::{Clock, SystemClock};
use crate::context::Delegation;
use crate::digest::Digest;
use crate::policy::{DOUBTS, PolicyError, Rules};
use crate::store::{MemoryStore, Store, StoreError};
use crate::tool::{Confined, Tool};
use horngate::Allowlist;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

/// Why there is no gate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The rules cannot be its policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A tool cannot be registered.
    #[error(transparent)]
    Tool(#[from] ToolRefused),
    /// A setting makes no sense.
    #[error("{0}")]
    Setting(String),
    /// The store failed.
    #[error("the approvals cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// The audit log failed.
    #[error("the audit log cannot be written: {0}")]
    Audit(#[from] std::io::Error),
}

/// How long things may take, and how many there may be.
///
/// ```
/// use horngate_gate::Limits;
/// use std::time::Duration;
/// let limits = Limits { approver: Duration::from_secs(60), ..Limits::default() };
/// assert_eq!(limits.pending, Duration::from_secs(300));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a request can be answered.
    pub pending: Duration,
    /// How long an approver may take; the shorter of this and `pending` counts.
    pub approver: Duration,
    /// How many requests of one session may be pending.
    pub max_pending: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pending: Duration::from_secs(300),
            approver: Duration::from_secs(1800),
            max_pending: 16,
        }
    }
}

/// What happens when the audit log cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditFailure {
    /// Nothing runs that is not in the log.
    #[default]
    Deny,
    /// Calls go on, and `tracing` gets an error.
    GoOn,
}

/// Puts a [`Gate`] together.
///
/// ```
/// use horngate::{Allowlist, Budget, Rulebase, Source};
/// use horngate_gate::{AuditLog, Closure, Deferred, Gate, Signatory, SqliteStore, ToolSpec};
/// use serde_json::Value;
/// use std::sync::Arc;
///
/// let rules = "may_execute_tool('U:Qa', tool_deploy). may_approve(ann, 'U:Qa', tool_deploy).";
/// let model = Rulebase::load([Source::new("rules.pl", rules)])?.evaluate(&Budget::default())?;
/// let spec = ToolSpec::new("deploy", "Deploys").confirm("customers see it");
/// let folder = tempfile::tempdir()?;
/// let ann = Signatory::generate("ann")?;
/// ann.save(folder.path().join("ann.key"))?;
///
/// let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2")?)
///     .name("staging")
///     .tool(Closure::new(spec, |permit| Ok(permit.into_arguments())) as Closure<Value>)
///     // The call is left in the store, and ann answers with her key.
///     .approver(Deferred::new())
///     .approver_key("ann", ann.key())
///     .store(Arc::new(SqliteStore::open(folder.path().join("approvals.db"))?))
///     .audit(Arc::new(AuditLog::open(folder.path().join("audit.jsonl"))?))
///     .build()?;
/// assert!(gate.policy_hash().starts_with("sha256:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct GateBuilder {
    allowlist: Allowlist,
    registry: Registry,
    refused: Option<ToolRefused>,
    name: String,
    approvers: Vec<Box<dyn Approver>>,
    keys: BTreeMap<String, ApproverKey>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    audit: Option<Arc<AuditLog>>,
    audit_failure: AuditFailure,
    delegation: Delegation,
    limits: Limits,
    accepted: BTreeMap<String, String>,
    unknown: Option<String>,
}

impl GateBuilder {
    pub(super) fn new(allowlist: Allowlist) -> Self {
        Self {
            allowlist,
            registry: Registry::default(),
            refused: None,
            name: "gate".to_owned(),
            approvers: Vec::new(),
            keys: BTreeMap::new(),
            store: Arc::new(MemoryStore::new()),
            clock: Arc::new(SystemClock),
            audit: None,
            audit_failure: AuditFailure::default(),
            delegation: Delegation::default(),
            limits: Limits::default(),
            accepted: BTreeMap::new(),
            unknown: None,
        }
    }

    /// A tool, which needs a grant.
    pub fn tool<T: Tool>(mut self, tool: T) -> Self {
        let added = self.registry.add(tool.spec(), LOCAL, None, Box::new(tool));
        self.refused = self.refused.or(added.err());
        self
    }

    /// A tool that needs no grant, by its construction. The rules can still ask for a person.
    pub fn confined<T: Confined>(mut self, tool: T) -> Self {
        let spec = tool.spec();
        let added = self.registry.add(spec, LOCAL, Some(T::WHY), Box::new(tool));
        self.refused = self.refused.or(added.err());
        self
    }

    /// A tool of another server. One whose name or schema cannot be used is hidden, see [`Gate::hidden`].
    pub fn foreign(mut self, tool: ForeignTool) -> Self {
        add_foreign(&mut self.registry, tool);
        self
    }

    /// The gate's name: approvals of one gate are none for another. Gates that share a store need different names.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Who is asked; of several the first that does not pass.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approvers.push(Box::new(approver));
        self
    }

    /// Somebody whose signature on an answer in the store counts.
    pub fn approver_key(mut self, person: impl Into<String>, key: ApproverKey) -> Self {
        let person = person.into();
        if person.is_empty() || self.keys.contains_key(&person) {
            self.unknown
                .get_or_insert(format!("`{person}` cannot be the name of one more key"));
        }
        self.keys.insert(person, key);
        self
    }

    /// Where approvals are kept; in memory unless said otherwise.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    /// The clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The audit log.
    pub fn audit(mut self, log: Arc<AuditLog>) -> Self {
        self.audit = Some(log);
        self
    }

    /// What happens when the audit log cannot be written.
    pub fn audit_failure(mut self, failure: AuditFailure) -> Self {
        self.audit_failure = failure;
        self
    }

    /// What sub-agents may do.
    pub fn delegation(mut self, delegation: Delegation) -> Self {
        self.delegation = delegation;
        self
    }

    /// How long things may take.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Builds the gate although the allowlist has this doubt: `default-allow`, `always-true` or `cartesian-grant`.
    pub fn accept_doubt(mut self, lint: impl Into<String>, reason: impl Into<String>) -> Self {
        let (lint, reason) = (lint.into(), reason.into());
        if !DOUBTS.contains(&&*lint) {
            self.unknown.get_or_insert(format!(
                "`{lint}` is no doubt that a gate needs a reason for; those are {}",
                DOUBTS.join(", ")
            ));
        }
        if reason.trim().is_empty() {
            self.unknown
                .get_or_insert(format!("give a reason why `{lint}` is meant"));
        }
        self.accepted.insert(lint, reason);
        self
    }

    /// The gate.
    ///
    /// # Errors
    /// [`BuildError`] when anything is wrong with the rules, the tools or the settings.
    pub fn build(self) -> Result<Gate, BuildError> {
        if let Some(refused) = self.refused {
            return Err(refused.into());
        }
        if let Some(wrong) = self.unknown {
            return Err(BuildError::Setting(wrong));
        }
        let Limits {
            pending,
            approver,
            max_pending,
        } = self.limits;
        let day = Duration::from_secs(24 * 60 * 60);
        if pending.is_zero() || approver.is_zero() || pending > day || approver > day {
            return Err(BuildError::Setting(
                "a time limit is longer than nothing and at most a day".to_owned(),
            ));
        }
        if max_pending == 0 || self.name.is_empty() {
            return Err(BuildError::Setting(
                "a gate has a name, and at least one request may be pending".to_owned(),
            ));
        }
        let approvers: Option<Vec<Asker>> = self.approvers.into_iter().map(Asker::new).collect();
        let approvers = approvers.ok_or_else(|| {
            BuildError::Setting("an approver panicked when it was asked who it is".to_owned())
        })?;
        let settings = Settings {
            text: settings_text(
                &approvers,
                &self.keys,
                self.delegation,
                &self.limits,
                &self.accepted,
                self.audit_failure,
                &self.registry,
            ),
            delegation: self.delegation,
            limits: self.limits,
            accepted: self.accepted,
            audit_failure: self.audit_failure,
        };
        let rules = Rules::bind(self.allowlist, &settings.accepted)?;
        let hash = settings.policy_hash(&rules)?;
        let now = self.clock.now();
        let epoch = self.store.open(&self.name, &hash, now)?;
        if let Some(log) = &self.audit {
            let mut entry = Entry::new(now, Event::Policy, &self.name);
            entry.policy_hash = &hash;
            entry.epoch = epoch;
            log.append(&entry)?;
        }
        let process = crate::approval::random_id().map_err(BuildError::Setting)?;
        Ok(Gate {
            inner: Arc::new(Inner {
                name: self.name,
                registry: RwLock::new(Arc::new(self.registry)),
                current: RwLock::new(Arc::new(Current::Open(Policy { rules, hash, epoch }))),
                reloading: Mutex::new(()),
                approvers,
                keys: self.keys,
                store: self.store,
                clock: self.clock,
                audit: self.audit,
                settings,
                process,
                calls: AtomicU64::new(1),
                invocations: AtomicU64::new(0),
                used: Mutex::default(),
            }),
        })
    }
}

impl std::fmt::Debug for GateBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GateBuilder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Adds a tool of another server, or hides it.
pub(super) fn add_foreign(registry: &mut Registry, tool: ForeignTool) {
    let (spec, server) = (crate::tool::Tool::spec(&tool), tool.server().to_owned());
    let confined = tool.confined();
    if let Err(ToolRefused { tool: name, reason }) =
        registry.add(spec, &server, confined, Box::new(tool))
    {
        // A tool that is offered again is hidden once.
        registry.hidden.retain(|hidden| hidden.name != name);
        registry.hidden.push(Hidden { name, reason });
    }
}

/// All settings that an approval rests on.
fn settings_text(
    approvers: &[Asker],
    keys: &BTreeMap<String, ApproverKey>,
    delegation: Delegation,
    limits: &Limits,
    accepted: &BTreeMap<String, String>,
    audit_failure: AuditFailure,
    registry: &Registry,
) -> String {
    // Tools of other servers come and go; their definitions are a part of each approval.
    let tools: Vec<String> = registry
        .iter()
        .filter(|entry| entry.server == LOCAL)
        .map(|entry| {
            format!(
                "{:?} {} {:?}",
                entry.spec.name(),
                entry.spec.level(),
                entry.confined
            )
        })
        .collect();
    let approvers: Vec<String> = approvers
        .iter()
        .map(|asker| {
            let (person, provider) = (&asker.person, &asker.provider);
            format!("{person:?} {provider:?} {:?}", asker.settings)
        })
        .collect();
    format!(
        "approvers {approvers:?} keys {keys:?} delegation {} limits {limits:?} accepted {accepted:?} \
         audit failure {audit_failure:?} tools {tools:?}",
        delegation.as_str()
    )
}

impl Settings {
    /// Names the policy: the rules and all settings.
    pub(super) fn policy_hash(&self, rules: &Rules) -> Result<String, PolicyError> {
        let rules = rules.allowlist.policy_hash().ok_or(PolicyError::Unnamed)?;
        let digest = Digest::of_parts("horngate-gate-1", [&*rules, &self.text]);
        Ok(format!("sha256:{digest}"))
    }
}
