//! The step that asks a person.
//!
//! Nothing here asks twice for one call, and nothing but a yes leads on.

use super::{Inner, Policy, Stop, Trail, unrecorded};
use crate::approval::{Answer, Approver, Record, Request, State, Verdict, names, random_id};
use crate::audit::Event;
use crate::catch::{Panicked, catch};
use crate::clock::{Millis, millis};
use crate::outcome::Reason;
use crate::permit::Passed;
use crate::spec::Level;
use crate::store::{Asked as Entered, Basis, Claim, End};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Instrument as _;

/// What a model is told whose call was approved in the turn that asked.
pub(super) const LATER: &str = "the call is approved, and can run in a later turn";

/// How often a waiting call looks for its answer.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// An approver, and what it says about itself: read once, since approvals rest on it.
pub(super) struct Asker {
    approver: Box<dyn Approver>,
    pub(super) person: String,
    pub(super) provider: String,
    pub(super) settings: String,
    patience: Duration,
}

impl Asker {
    /// Nothing, if the approver panics.
    pub(super) fn new(approver: Box<dyn Approver>) -> Option<Self> {
        catch_unwind(AssertUnwindSafe(|| Self {
            person: approver.person().to_owned(),
            provider: approver.provider().to_owned(),
            settings: approver.settings(),
            patience: approver.patience(),
            approver,
        }))
        .ok()
    }
}

/// What a person is asked about.
pub(super) struct Asked<'a> {
    pub(super) entry: &'a super::Entry,
    pub(super) passed: &'a Passed,
    pub(super) policy: &'a Policy,
    pub(super) level: Level,
    pub(super) reason: String,
}

impl Asked<'_> {
    fn claim(&self, request: &Request, by: Basis) -> Claim {
        Claim {
            id: request.id.clone(),
            gate: request.gate.clone(),
            // Of the call that is about to run, not of what a store holds.
            binding: request.binding().to_string(),
            epoch: self.policy.epoch,
            invocation: self.passed.context.invocation(),
            by,
        }
    }
}

impl Inner {
    /// Gets an approval, or says why there is none.
    pub(super) async fn approve(
        &self,
        asked: &Asked<'_>,
        trail: &mut Trail,
    ) -> Result<Claim, Stop> {
        trail.approval.required = true;
        let context = &asked.passed.context;
        let tool = asked.entry.spec.name();
        if self.approvers.is_empty() {
            let message = format!("`{tool}` needs a person's approval, and nobody can be asked");
            return Err(Stop::new(Reason::NoApprover, message));
        }
        let request = Arc::new(self.request(asked, trail)?);
        let entered = {
            let (request, most) = (Arc::clone(&request), self.settings.limits.max_pending);
            self.with_store(move |store, now| store.request(&request, most, now))
                .await?
        };
        match entered {
            Entered::Created => {
                trail.approval.id = Some(request.id.clone());
                tracing::info!(id = request.id, level = %asked.level, "approval required");
                let recorded = self.record(Event::ApprovalRequired, context, tool, trail, None);
                let outcome = match recorded {
                    Ok(()) => self.ask(asked, &request, trail).await,
                    Err(error) => {
                        self.end(&request.id, End::Void).await;
                        Err(unrecorded(&error))
                    }
                };
                let pending =
                    matches!(&outcome, Err(stop) if stop.reason == Reason::ConfirmationRequired);
                if !pending {
                    let stop = outcome.as_ref().err();
                    self.record(Event::ApprovalDecision, context, tool, trail, stop)
                        .map_err(|error| unrecorded(&error))?;
                }
                outcome
            }
            Entered::Live(record) => {
                trail.approval.id = Some(record.request.id.clone());
                self.found(asked, &request, &record, trail).await
            }
            Entered::Settled(record) => {
                trail.approval.id = Some(record.request.id.clone());
                let (reason, how) = match record.state {
                    State::Denied => (Reason::Declined, "declined"),
                    State::Expired => (Reason::ApprovalExpired, "not answered in time"),
                    _ => (Reason::Revoked, "not approved"),
                };
                let message = format!("this call was {how} in this turn; do not repeat it");
                Err(Stop::new(reason, message))
            }
            Entered::TooMany => Err(Stop::new(
                Reason::TooManyPending,
                "too many calls of this session wait for approval",
            )),
            Entered::Stale => Err(Stop::new(
                Reason::PolicyChanged,
                "the policy changed; try again",
            )),
        }
    }

    fn request(&self, asked: &Asked<'_>, trail: &Trail) -> Result<Request, Stop> {
        let (context, entry) = (&asked.passed.context, asked.entry);
        let now = self.clock.now();
        Ok(Request {
            id: random_id().map_err(|error| Stop::new(Reason::Error, "no answer").detail(error))?,
            gate: self.name.clone(),
            chain: context.chain().map(str::to_owned).collect(),
            session: context.session().to_owned(),
            invocation: context.invocation(),
            server: entry.server.clone(),
            tool: entry.spec.name().to_owned(),
            definition: entry.definition.to_string(),
            arguments: asked.passed.arguments.canonical().to_owned(),
            level: asked.level,
            reason: asked.reason.clone(),
            derivation: trail.derivation.clone(),
            policy_hash: asked.policy.hash.clone(),
            epoch: asked.policy.epoch,
            requested_at: now,
            expires_at: now.saturating_add(millis(self.settings.limits.pending)),
        })
    }

    /// Asks one approver after the other until one does not pass.
    async fn ask(
        &self,
        asked: &Asked<'_>,
        request: &Arc<Request>,
        trail: &mut Trail,
    ) -> Result<Claim, Stop> {
        let context = &asked.passed.context;
        let mut nobody = Reason::NoApprover;
        for asker in &self.approvers {
            let person = &*asker.person;
            trail.approval.provider = Some(asker.provider.clone());
            if !person.is_empty() {
                if !asked
                    .policy
                    .rules
                    .may_approve(person, context.chain(), &request.tool)
                {
                    nobody = Reason::NotAuthorized;
                    continue;
                }
                trail.approver = person.to_owned();
            }
            let span = tracing::info_span!("ask", provider = asker.provider, id = request.id);
            let answer = self
                .answer(&*asker.approver, request)
                .instrument(span)
                .await;
            let (end, stop) = match answer {
                Ok(Answer::Approve) if person.is_empty() => (
                    End::Void,
                    Stop::new(Reason::NotAuthorized, "the call was not approved")
                        .detail("an approver without a name said yes"),
                ),
                Ok(Answer::Approve) => return Ok(asked.claim(request, Basis::Answered)),
                Ok(Answer::Deny(why)) => (
                    End::Denied,
                    Stop::new(Reason::Declined, "the person declined the call").detail(why),
                ),
                Ok(Answer::Defer) => {
                    return self.wait(asked, request, asker.patience, trail).await;
                }
                Ok(Answer::Pass) => continue,
                Ok(Answer::Unknown(text)) => (
                    End::Void,
                    Stop::new(Reason::UnknownAnswer, "the call was not approved").detail(format!(
                        "the answer was `{}`",
                        crate::visible::visible(&text)
                    )),
                ),
                Err(stop) => match stop.reason {
                    Reason::ApproverTimeout => (End::Expired, stop),
                    _ => (End::Void, stop),
                },
            };
            self.end(&request.id, end).await;
            return Err(stop);
        }
        self.end(&request.id, End::Denied).await;
        trail.approver.clear();
        Err(Stop::new(
            nobody,
            "nobody could be asked who may approve this call",
        ))
    }

    async fn answer(
        &self,
        approver: &dyn Approver,
        request: &Arc<Request>,
    ) -> Result<Answer, Stop> {
        let limits = &self.settings.limits;
        let limit = limits.approver.min(limits.pending);
        let started = Instant::now();
        let answered = catch(async { tokio::time::timeout(limit, approver.ask(request)).await });
        let answered = answered.await;
        let not = "the call was not approved";
        // An approver that blocks its thread gives no timer a chance: its answer is late all the same.
        match answered {
            Ok(Ok(Ok(answer))) if started.elapsed() < limit => Ok(answer),
            Ok(Ok(Err(error))) => {
                Err(Stop::new(Reason::ApproverError, not).detail(error.to_string()))
            }
            Ok(Ok(Ok(_)) | Err(_)) => Err(Stop::new(
                Reason::ApproverTimeout,
                "nobody answered in time",
            )),
            Err(Panicked) => {
                Err(Stop::new(Reason::ApproverPanic, not).detail("the approver panicked"))
            }
        }
    }

    /// Leaves the request pending, and waits for its answer if the approver says so.
    async fn wait(
        &self,
        asked: &Asked<'_>,
        request: &Arc<Request>,
        patience: Duration,
        trail: &mut Trail,
    ) -> Result<Claim, Stop> {
        let limits = &self.settings.limits;
        let patience = patience.min(limits.approver).min(limits.pending);
        let started = Instant::now();
        while started.elapsed() < patience {
            let pause = LOOK_EVERY.min(patience.saturating_sub(started.elapsed()));
            if catch(async { tokio::time::sleep(pause).await })
                .await
                .is_err()
            {
                return Err(Stop::new(Reason::Error, "no answer")
                    .detail("waiting needs a tokio runtime with its timer enabled"));
            }
            let id = request.id.clone();
            let (record, now) = self
                .with_store(move |store, now| Ok((store.get(&id)?, now)))
                .await?;
            let Some(record) = record else {
                return Err(Stop::new(Reason::Revoked, "the request is gone"));
            };
            match record.state_at(now) {
                State::Pending => {}
                State::Approved => {
                    let signature = self.verified(asked, request, &record, trail).await?;
                    return Ok(asked.claim(request, Basis::Waited(signature)));
                }
                State::Denied => {
                    return Err(Stop::new(Reason::Declined, "the person declined the call"));
                }
                State::Expired => {
                    return Err(Stop::new(
                        Reason::ApprovalExpired,
                        "nobody answered in time",
                    ));
                }
                State::Consumed | State::Void => {
                    return Err(Stop::new(Reason::Revoked, "the request is void"));
                }
            }
        }
        Err(confirmation(&request.id))
    }

    /// The same call is pending or approved already.
    async fn found(
        &self,
        asked: &Asked<'_>,
        request: &Request,
        record: &Record,
        trail: &mut Trail,
    ) -> Result<Claim, Stop> {
        if record.state != State::Approved {
            return Err(confirmation(&record.request.id));
        }
        // The record's own fields are not to be trusted before the signature over them is verified.
        let live = Request {
            id: record.request.id.clone(),
            invocation: record.request.invocation,
            requested_at: record.request.requested_at,
            expires_at: record.request.expires_at,
            ..request.clone()
        };
        let signature = self.verified(asked, &live, record, trail).await?;
        if live.invocation >= asked.passed.context.invocation() {
            return Err(Stop::new(Reason::SameInvocation, LATER));
        }
        let context = &asked.passed.context;
        self.record(Event::ApprovalDecision, context, &live.tool, trail, None)
            .map_err(|error| unrecorded(&error))?;
        Ok(asked.claim(&live, Basis::Later(signature)))
    }

    /// The signature on a yes in the store, once it is known to be that of somebody who may say it, on this call.
    async fn verified(
        &self,
        asked: &Asked<'_>,
        live: &Request,
        record: &Record,
        trail: &mut Trail,
    ) -> Result<String, Stop> {
        let (reason, detail) = match &record.verdict {
            None => (Reason::BadSignature, "the approval has no answer"),
            Some(verdict) => match self.distrust(asked, live, verdict) {
                None => {
                    trail.approver.clone_from(&verdict.approver);
                    trail.approval.provider = Some("store".to_owned());
                    return Ok(verdict.signature.clone());
                }
                Some(distrust) => distrust,
            },
        };
        self.end(&live.id, End::Void).await;
        Err(Stop::new(reason, "the call is not approved").detail(detail))
    }

    /// Why an answer is no approval of this call.
    fn distrust(
        &self,
        asked: &Asked<'_>,
        live: &Request,
        verdict: &Verdict,
    ) -> Option<(Reason, &'static str)> {
        let Some(key) = self.keys.get(&verdict.approver) else {
            return Some((Reason::BadSignature, "the gate has no key of who approved"));
        };
        if !verdict.approve || !names(verdict, live) || !verdict.is_signed_by(key) {
            return Some((
                Reason::BadSignature,
                "the approval is not signed for this call",
            ));
        }
        if self.clock.now() >= usable(live, verdict) {
            return Some((Reason::ApprovalExpired, "the approval is too old"));
        }
        let (rules, context) = (&asked.policy.rules, &asked.passed.context);
        let authorized = rules.may_approve(&verdict.approver, context.chain(), &live.tool);
        (!authorized).then_some((Reason::NotAuthorized, "who approved may not approve this"))
    }

    /// Ends a request. If that fails it stays pending, which is no approval, until it is too old.
    async fn end(&self, id: &str, end: End) {
        let id = id.to_owned();
        let ended = self
            .with_store(move |store, now| store.end(&id, end, now))
            .await;
        if let Err(stop) = ended {
            tracing::error!(detail = stop.detail, "a request could not be ended");
        }
    }
}

/// Until when a signed yes can be used at the most, by what is signed alone.
fn usable(request: &Request, verdict: &Verdict) -> Millis {
    let limit = crate::approval::APPROVED_MILLIS;
    verdict
        .expires_at
        .min(request.expires_at.saturating_add(limit))
}

fn confirmation(id: &str) -> Stop {
    Stop::new(
        Reason::ConfirmationRequired,
        format!(
            "confirmation_required: a person was asked ({id}); do not repeat the call in this turn"
        ),
    )
}
