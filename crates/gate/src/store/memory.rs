//! Requests in memory: gone with the process, and with them all that was pending.
//!
//! Nothing here outlives the process.

use super::book::{self, MOST_DUE, Rows};
use super::{Asked, Claim, Consumed, Decided, End, Store, StoreError};
use crate::approval::{Record, Request, State, Verdict};
use crate::clock::Millis;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// How many settled requests are remembered.
const MAX_SETTLED: usize = 10_000;

/// Keeps requests in memory.
///
/// ```
/// use horngate_gate::{MemoryStore, Store};
/// let store = MemoryStore::new();
/// assert_eq!(store.open("gate", "sha256:a", 0), Ok(1));
/// assert_eq!(store.open("gate", "sha256:b", 0), Ok(2));
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    rows: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By the order of arrival.
    records: BTreeMap<u64, Record>,
    by_id: BTreeMap<String, u64>,
    by_binding: BTreeMap<String, Vec<u64>>,
    policies: BTreeMap<String, (String, u64)>,
    next: u64,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A panic elsewhere while the lock was held may have left half a change behind.
    fn rows(&self) -> Result<MutexGuard<'_, Table>, StoreError> {
        self.rows.lock().map_err(|_| {
            StoreError::new("the store is broken: something panicked while changing it")
        })
    }
}

impl Table {
    fn forget_old(&mut self) {
        while self.records.len() > MAX_SETTLED {
            let is_settled =
                |record: &Record| !matches!(record.state, State::Pending | State::Approved);
            let oldest = self.records.iter().find(|(_, record)| is_settled(record));
            let Some((number, record)) = oldest.map(|(number, record)| (*number, record)) else {
                return;
            };
            self.by_id.remove(&record.request.id);
            let binding = record.request.binding().to_string();
            self.records.remove(&number);
            if let Some(numbers) = self.by_binding.get_mut(&binding) {
                numbers.retain(|other| *other != number);
                if numbers.is_empty() {
                    self.by_binding.remove(&binding);
                }
            }
        }
    }
}

impl Rows for Table {
    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        let number = self.by_id.get(id);
        Ok(number.and_then(|number| self.records.get(number)).cloned())
    }

    fn of_binding(&self, binding: &str) -> Result<Vec<Record>, StoreError> {
        let numbers = self.by_binding.get(binding).map_or(&[][..], Vec::as_slice);
        Ok(numbers
            .iter()
            .filter_map(|number| self.records.get(number).cloned())
            .collect())
    }

    fn live(&self, gate: &str) -> Result<Vec<Record>, StoreError> {
        let is_live = |record: &&Record| {
            record.request.gate == gate && matches!(record.state, State::Pending | State::Approved)
        };
        Ok(self.records.values().filter(is_live).cloned().collect())
    }

    fn due(&self, gate: &str, now: Millis) -> Result<Vec<Record>, StoreError> {
        let is_due = |record: &&Record| {
            record.request.gate == gate
                && matches!(record.state, State::Pending | State::Approved)
                && record.request.expires_at <= now
        };
        let due = self.records.values().filter(is_due).take(MOST_DUE);
        Ok(due.cloned().collect())
    }

    fn pending(&self, gate: &str, session: &str, now: Millis) -> Result<usize, StoreError> {
        let is_pending = |record: &&Record| {
            record.request.gate == gate
                && record.request.session == session
                && record.state_at(now) == State::Pending
        };
        Ok(self.records.values().filter(is_pending).count())
    }

    fn insert(&mut self, record: &Record) -> Result<(), StoreError> {
        let id = &record.request.id;
        if self.by_id.contains_key(id) {
            return Err(StoreError::new(format!(
                "there is a request `{id}` already"
            )));
        }
        self.forget_old();
        let number = self.next;
        self.next += 1;
        self.by_id.insert(id.clone(), number);
        let binding = record.request.binding().to_string();
        self.by_binding.entry(binding).or_default().push(number);
        self.records.insert(number, record.clone());
        Ok(())
    }

    fn change(&mut self, record: &Record) -> Result<(), StoreError> {
        let number = self.by_id.get(&record.request.id);
        match number.and_then(|number| self.records.get_mut(number)) {
            Some(slot) => {
                *slot = record.clone();
                Ok(())
            }
            None => Err(StoreError::new("there is no such request")),
        }
    }

    fn policy(&self, gate: &str) -> Result<Option<(String, u64)>, StoreError> {
        Ok(self.policies.get(gate).cloned())
    }

    fn set_policy(&mut self, gate: &str, policy: &str, epoch: u64) -> Result<(), StoreError> {
        self.policies
            .insert(gate.to_owned(), (policy.to_owned(), epoch));
        Ok(())
    }
}

impl Store for MemoryStore {
    fn may_block(&self) -> bool {
        false
    }

    fn open(&self, gate: &str, policy: &str, now: Millis) -> Result<u64, StoreError> {
        book::open(&mut *self.rows()?, gate, policy, now)
    }

    fn request(
        &self,
        request: &Request,
        max_pending: usize,
        now: Millis,
    ) -> Result<Asked, StoreError> {
        book::request(&mut *self.rows()?, request, max_pending, now)
    }

    fn decide(&self, verdict: &Verdict, now: Millis) -> Result<Decided, StoreError> {
        book::decide(&mut *self.rows()?, verdict, now)
    }

    fn end(&self, id: &str, end: End, now: Millis) -> Result<Decided, StoreError> {
        book::end(&mut *self.rows()?, id, end, now)
    }

    fn consume(&self, claim: &Claim, now: Millis) -> Result<Consumed, StoreError> {
        book::consume(&mut *self.rows()?, claim, now)
    }

    fn get(&self, id: &str) -> Result<Option<Record>, StoreError> {
        self.rows()?.get(id)
    }

    fn list(&self) -> Result<Vec<Record>, StoreError> {
        Ok(self.rows()?.records.values().cloned().collect())
    }
}
