//! Other rules for a gate that runs.
//!
//! Nothing here leaves an approval of other rules behind.

use super::{Current, Gate, Policy};
use crate::audit::{Entry, Event};
use crate::policy::{PolicyError, Rules};
use crate::store::StoreError;
use horngate::Allowlist;
use std::fmt::Display;
use std::sync::{Arc, PoisonError};

/// What a gate does when new rules cannot be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBadRules {
    /// It keeps the rules that it has.
    KeepOld,
    /// It denies everything until there are good rules.
    DenyAll,
}

/// Why there are no new rules.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// They could not be loaded.
    #[error("{0}")]
    Load(String),
    /// They cannot be the gate's policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The store failed.
    #[error("the approvals cannot be made void: {0}")]
    Store(#[from] StoreError),
    /// The audit log failed.
    #[error("the change cannot be recorded: {0}")]
    Audit(#[from] std::io::Error),
}

impl Gate {
    /// Exchanges the rules. What is pending or approved becomes void in one step with the change, unless the policy is
    /// the same as before.
    ///
    /// # Errors
    /// [`ReloadError`] when the new rules do not count; `on_bad` says what does then.
    ///
    /// ```
    /// use horngate::{Allowlist, Budget, Rulebase, Source};
    /// use horngate_gate::{Gate, OnBadRules};
    ///
    /// fn load(rules: &str) -> Result<Allowlist, Box<dyn std::error::Error>> {
    ///     let model = Rulebase::load([Source::new("rules.pl", rules)])?.evaluate(&Budget::default())?;
    ///     Ok(Allowlist::bind(&model, "may_execute_tool/2")?)
    /// }
    ///
    /// let gate = Gate::builder(load("may_execute_tool('U:Qa', tool_repl).")?).build()?;
    /// let before = gate.policy_hash();
    /// gate.reload(load("may_execute_tool('U:Qa', tool_deploy)."), OnBadRules::DenyAll)?;
    /// assert_ne!(gate.policy_hash(), before);
    ///
    /// assert!(gate.reload(load("may_execute_tool("), OnBadRules::DenyAll).is_err());
    /// assert!(gate.policy_hash().is_empty(), "closed until there are good rules");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reload<E: Display>(
        &self,
        rules: Result<Allowlist, E>,
        on_bad: OnBadRules,
    ) -> Result<(), ReloadError> {
        let inner = &*self.inner;
        let _one_at_a_time = inner
            .reloading
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let changed = rules
            .map_err(|error| ReloadError::Load(error.to_string()))
            .and_then(|allowlist| self.opened(allowlist));
        match changed {
            Ok(policy) => {
                tracing::info!(
                    policy = policy.hash,
                    epoch = policy.epoch,
                    "the policy changed"
                );
                self.set(Current::Open(policy));
                Ok(())
            }
            Err(error) => {
                tracing::error!(%error, ?on_bad, "the new rules do not count");
                if on_bad == OnBadRules::DenyAll {
                    self.set(Current::Closed(error.to_string()));
                    // Should it fail, the gate is closed all the same, and other rules make them void.
                    let _ = inner.store.open(&inner.name, "closed", inner.clock.now());
                }
                Err(error)
            }
        }
    }

    fn opened(&self, allowlist: Allowlist) -> Result<Policy, ReloadError> {
        let inner = &*self.inner;
        let rules = Rules::bind(allowlist, &inner.settings.accepted)?;
        let hash = inner.settings.policy_hash(&rules)?;
        let now = inner.clock.now();
        let epoch = inner.store.open(&inner.name, &hash, now)?;
        if let Some(log) = &inner.audit {
            let mut entry = Entry::new(now, Event::Policy, &inner.name);
            entry.policy_hash = &hash;
            entry.epoch = epoch;
            log.append(&entry)?;
        }
        Ok(Policy { rules, hash, epoch })
    }

    fn set(&self, current: Current) {
        let slot = self.inner.current.write();
        *slot.unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
    }
}
