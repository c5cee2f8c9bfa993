//! The rules by which requests change, over rows that a store holds still meanwhile.
//!
//! Nothing here locks, commits or reads a clock.

use super::{Asked, Basis, Claim, Consumed, Decided, End, StoreError};
use crate::approval::{Record, Request, State, Verdict};
use crate::clock::Millis;

/// How many requests that are too old one step writes down at the most.
pub(super) const MOST_DUE: usize = 1000;

/// The rows of a store, within one atomic step.
pub(super) trait Rows {
    fn get(&self, id: &str) -> Result<Option<Record>, StoreError>;
    /// The requests for one call, the oldest first.
    fn of_binding(&self, binding: &str) -> Result<Vec<Record>, StoreError>;
    /// The requests of a gate that are pending or approved.
    fn live(&self, gate: &str) -> Result<Vec<Record>, StoreError>;
    /// Some of those that can be answered no more.
    fn due(&self, gate: &str, now: Millis) -> Result<Vec<Record>, StoreError>;
    /// How many requests of a session are pending.
    fn pending(&self, gate: &str, session: &str, now: Millis) -> Result<usize, StoreError>;
    fn insert(&mut self, record: &Record) -> Result<(), StoreError>;
    fn change(&mut self, record: &Record) -> Result<(), StoreError>;
    /// The policy and the epoch of a gate.
    fn policy(&self, gate: &str) -> Result<Option<(String, u64)>, StoreError>;
    fn set_policy(&mut self, gate: &str, policy: &str, epoch: u64) -> Result<(), StoreError>;
}

fn to(
    rows: &mut impl Rows,
    mut record: Record,
    state: State,
    now: Millis,
) -> Result<(), StoreError> {
    record.state = state;
    record.changed_at = now;
    rows.change(&record)
}

/// What became of a request by now. That it is too old is written down: a clock that goes back revives nothing.
fn settle(rows: &mut impl Rows, record: &mut Record, now: Millis) -> Result<State, StoreError> {
    let state = record.state_at(now);
    if state != record.state {
        to(rows, record.clone(), state, now)?;
        record.state = state;
    }
    Ok(state)
}

pub(super) fn open(
    rows: &mut impl Rows,
    gate: &str,
    policy: &str,
    now: Millis,
) -> Result<u64, StoreError> {
    let epoch = match rows.policy(gate)? {
        Some((same, epoch)) if same == policy => return Ok(epoch),
        Some((_, epoch)) => epoch
            .checked_add(1)
            .ok_or_else(|| StoreError::new("the policy changed too often"))?,
        None => 1,
    };
    for record in rows.live(gate)? {
        to(rows, record, State::Void, now)?;
    }
    rows.set_policy(gate, policy, epoch)?;
    Ok(epoch)
}

fn is_current(rows: &impl Rows, gate: &str, epoch: u64) -> Result<bool, StoreError> {
    Ok(rows
        .policy(gate)?
        .is_some_and(|(_, current)| current == epoch))
}

pub(super) fn request(
    rows: &mut impl Rows,
    request: &Request,
    max_pending: usize,
    now: Millis,
) -> Result<Asked, StoreError> {
    if !is_current(rows, &request.gate, request.epoch)? {
        return Ok(Asked::Stale);
    }
    for mut record in rows
        .of_binding(&request.binding().to_string())?
        .into_iter()
        .rev()
    {
        let state = settle(rows, &mut record, now)?;
        let same_turn = record.request.invocation == request.invocation;
        match state {
            State::Pending | State::Approved => return Ok(Asked::Live(Box::new(record))),
            State::Denied | State::Expired | State::Void if same_turn => {
                return Ok(Asked::Settled(Box::new(record)));
            }
            _ => {}
        }
    }
    for mut record in rows.due(&request.gate, now)? {
        settle(rows, &mut record, now)?;
    }
    if rows.pending(&request.gate, &request.session, now)? >= max_pending {
        return Ok(Asked::TooMany);
    }
    rows.insert(&Record {
        request: request.clone(),
        state: State::Pending,
        verdict: None,
        changed_at: now,
    })?;
    Ok(Asked::Created)
}

pub(super) fn decide(
    rows: &mut impl Rows,
    verdict: &Verdict,
    now: Millis,
) -> Result<Decided, StoreError> {
    let Some(mut record) = rows.get(&verdict.request)? else {
        return Ok(Decided::NoSuch);
    };
    let state = settle(rows, &mut record, now)?;
    if state != State::Pending {
        return Ok(Decided::NotPending(state));
    }
    record.verdict = Some(verdict.clone());
    let state = if verdict.approve {
        State::Approved
    } else {
        State::Denied
    };
    to(rows, record, state, now)?;
    Ok(Decided::Recorded)
}

pub(super) fn end(
    rows: &mut impl Rows,
    id: &str,
    end: End,
    now: Millis,
) -> Result<Decided, StoreError> {
    let Some(record) = rows.get(id)? else {
        return Ok(Decided::NoSuch);
    };
    if !matches!(record.state, State::Pending | State::Approved) {
        return Ok(Decided::NotPending(record.state));
    }
    let state = match end {
        End::Denied => State::Denied,
        End::Expired => State::Expired,
        End::Void => State::Void,
    };
    to(rows, record, state, now)?;
    Ok(Decided::Recorded)
}

pub(super) fn consume(
    rows: &mut impl Rows,
    claim: &Claim,
    now: Millis,
) -> Result<Consumed, StoreError> {
    let Some(mut record) = rows.get(&claim.id)? else {
        return Ok(Consumed::NoSuch);
    };
    let request = &record.request;
    if request.gate != claim.gate || request.binding().to_string() != claim.binding {
        return Ok(Consumed::NoSuch);
    }
    let state = settle(rows, &mut record, now)?;
    let request = &record.request;
    match state {
        State::Consumed => return Ok(Consumed::Used),
        State::Expired => return Ok(Consumed::Expired),
        State::Void => return Ok(Consumed::Void),
        State::Denied => return Ok(Consumed::NotApproved),
        State::Pending | State::Approved => {}
    }
    if request.epoch != claim.epoch || !is_current(rows, &claim.gate, claim.epoch)? {
        return Ok(Consumed::Void);
    }
    let signed = |signature: &str| {
        let verdict = record.verdict.as_ref();
        state == State::Approved
            && verdict.is_some_and(|verdict| verdict.approve && verdict.signature == signature)
    };
    let (in_turn, approved) = match &claim.by {
        Basis::Answered => (request.invocation == claim.invocation, true),
        Basis::Waited(signature) => (request.invocation == claim.invocation, signed(signature)),
        Basis::Later(signature) => (request.invocation < claim.invocation, signed(signature)),
    };
    if !approved {
        return Ok(Consumed::NotApproved);
    }
    if !in_turn {
        return Ok(Consumed::SameInvocation);
    }
    to(rows, record, State::Consumed, now)?;
    Ok(Consumed::Yes)
}
