//! Requests in memory: gone with the process, and with them all that was pending.
//!
//! Nothing here outlives the process.

use super::book::{self, MOST_DUE, Rows};
use super::{Asked, Claim, Consumed, Decided, End, Store, StoreError};
use crate::approval::{Record, Request, State, Verdict};
use crate::clock::Millis;
use std::collections::{BTreeMap, BTreeSet};
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
    /// What is pending or approved, by gate and session, and by when it can be answered no more.
    live: BTreeMap<(String, String), BTreeSet<u64>>,
    dues: BTreeSet<(Millis, u64)>,
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

fn is_live(record: &Record) -> bool {
    matches!(record.state, State::Pending | State::Approved)
}

impl Table {
    /// Keeps the lists of what is live.
    fn track(&mut self, number: u64, record: &Record) {
        let request = &record.request;
        let key = (request.gate.clone(), request.session.clone());
        let due = (request.expires_at, number);
        if is_live(record) {
            self.live.entry(key).or_default().insert(number);
            self.dues.insert(due);
        } else {
            if let Some(numbers) = self.live.get_mut(&key) {
                numbers.remove(&number);
                if numbers.is_empty() {
                    self.live.remove(&key);
                }
            }
            self.dues.remove(&due);
        }
    }

    fn forget_old(&mut self) {
        while self.records.len() > MAX_SETTLED {
            let oldest = self.records.iter().find(|(_, record)| !is_live(record));
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
        let live = self.live.values().flatten();
        let of_gate = live.filter_map(|number| self.records.get(number));
        let of_gate = of_gate.filter(|record| record.request.gate == gate);
        Ok(of_gate.cloned().collect())
    }

    fn due(&self, gate: &str, now: Millis) -> Result<Vec<Record>, StoreError> {
        let due = self.dues.range(..=(now, u64::MAX));
        let of_gate = due
            .filter_map(|(_, number)| self.records.get(number))
            .filter(|record| record.request.gate == gate);
        Ok(of_gate.take(MOST_DUE).cloned().collect())
    }

    fn pending(&self, gate: &str, session: &str, now: Millis) -> Result<usize, StoreError> {
        let of_session = self.live.get(&(gate.to_owned(), session.to_owned()));
        let records = of_session.into_iter().flatten();
        let records = records.filter_map(|number| self.records.get(number));
        Ok(records
            .filter(|record| record.state_at(now) == State::Pending)
            .count())
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
        self.track(number, record);
        self.records.insert(number, record.clone());
        Ok(())
    }

    fn change(&mut self, record: &Record) -> Result<(), StoreError> {
        let number = self.by_id.get(&record.request.id).copied();
        let slot = number.and_then(|number| Some((number, self.records.get_mut(&number)?)));
        let Some((number, slot)) = slot else {
            return Err(StoreError::new("there is no such request"));
        };
        *slot = record.clone();
        self.track(number, record);
        Ok(())
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
