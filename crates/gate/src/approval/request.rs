//! One request for a person's consent, bound to one exact call.
//!
//! Nothing here is inferred: what is not in the binding was not approved.

use crate::clock::Millis;
use crate::context::InvocationId;
use crate::digest::Digest;
use crate::spec::Level;
use crate::visible::{folded, visible};
use serde_json::Value;
use std::fmt::Write as _;

/// A request for consent to one exact call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// 128 random bits, in hexadecimal.
    pub id: String,
    /// The gate that asks.
    pub gate: String,
    /// The actors, from the root to the caller.
    pub chain: Vec<String>,
    /// The session.
    pub session: String,
    /// The turn that asked.
    pub invocation: InvocationId,
    /// Where the tool is.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Names the tool's definition.
    pub definition: String,
    /// The arguments, canonical: what runs.
    pub arguments: String,
    /// How strictly the call is guarded.
    pub level: Level,
    /// Why a person is asked.
    pub reason: String,
    /// What the rules derive for the call.
    pub derivation: String,
    /// The policy that the call was decided by.
    pub policy_hash: String,
    /// How often the gate's policy had changed.
    pub epoch: u64,
    /// When it was asked.
    pub requested_at: Millis,
    /// Until when it can be answered.
    pub expires_at: Millis,
}

impl Request {
    /// Who calls.
    #[must_use]
    pub fn actor(&self) -> &str {
        self.chain.last().map_or("", String::as_str)
    }

    /// Names the call: whatever differs from it in anything is another call.
    #[must_use]
    pub fn binding(&self) -> Digest {
        let chain = Digest::of_parts("chain", self.chain.iter().map(String::as_str)).to_string();
        let arguments = Digest::of(&self.arguments).to_string();
        let epoch = self.epoch.to_string();
        Digest::of_parts(
            "horngate-binding-1",
            [
                &*self.gate,
                &chain,
                &self.session,
                &self.server,
                &self.tool,
                &self.definition,
                &arguments,
                self.level.as_str(),
                &self.reason,
                &self.derivation,
                &self.policy_hash,
                &epoch,
            ],
        )
    }

    /// Names this request: the call, and when and in which turn it was asked for.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let binding = self.binding().to_string();
        let times = [
            self.invocation.0.to_string(),
            self.requested_at.to_string(),
            self.expires_at.to_string(),
        ];
        let [invocation, requested_at, expires_at] = &times;
        Digest::of_parts(
            "horngate-request-1",
            [&*self.id, &binding, invocation, requested_at, expires_at],
        )
    }

    /// All that a person should read before answering: whole, and with nothing that hides.
    ///
    /// Each argument begins a line; what goes on in the next is marked, so that no argument looks like another line.
    #[must_use]
    pub fn for_people(&self) -> String {
        let chain: Vec<String> = self.chain.iter().map(|actor| visible(actor)).collect();
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            let _ = writeln!(text, "{name:<10} {value}");
        };
        line("request", &visible(&self.id));
        line("actor", &visible(self.actor()));
        if chain.len() > 1 {
            line("acts for", &chain.join(" > "));
        }
        line("session", &visible(&self.session));
        line(
            "tool",
            &format!("{} on {}", visible(&self.tool), visible(&self.server)),
        );
        line("guard", self.level.as_str());
        line("why", &visible(&self.reason));
        line("rests on", &visible(&self.derivation));
        line(
            "policy",
            &format!("{}, change {}", visible(&self.policy_hash), self.epoch),
        );
        text.push_str("arguments\n");
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(map)) if map.is_empty() => text.push_str("  none\n"),
            Ok(Value::Object(map)) => {
                for (key, value) in &map {
                    let line = format!("  {} = {}", visible(key), visible(&value.to_string()));
                    for piece in folded(&line) {
                        let _ = writeln!(text, "{piece}");
                    }
                }
            }
            // Not the gate's own text: shown as it is.
            _ => {
                for piece in folded(&format!("  {}", visible(&self.arguments))) {
                    let _ = writeln!(text, "{piece}");
                }
            }
        }
        text
    }
}

/// How far the clocks of two processes may be apart: one may have read it and then waited for the other.
const SLACK: Millis = 10_000;

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Nobody has answered.
    Pending,
    /// Somebody said yes, and it was not used.
    Approved,
    /// Somebody said no.
    Denied,
    /// It was used.
    Consumed,
    /// It became too old.
    Expired,
    /// The policy changed, or it was revoked.
    Void,
}

impl State {
    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Consumed => "consumed",
            Self::Expired => "expired",
            Self::Void => "void",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [
            Self::Pending,
            Self::Approved,
            Self::Denied,
            Self::Consumed,
            Self::Expired,
            Self::Void,
        ]
        .into_iter()
        .find(|state| state.as_str() == name)
    }
}

/// A request and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The request.
    pub request: Request,
    /// What became of it.
    pub state: State,
    /// The answer, if there is one.
    pub verdict: Option<super::Verdict>,
    /// When the state last changed.
    pub changed_at: Millis,
}

impl Record {
    /// What became of it by now: what is too old has expired, whether or not somebody wrote that down.
    ///
    /// A clock that went back makes it expire, too, unless it is only by what a process may have waited for the store
    /// after it read the clock.
    #[must_use]
    pub fn state_at(&self, now: Millis) -> State {
        let before = now.saturating_add(SLACK) < self.request.requested_at;
        match self.state {
            State::Pending if before || now >= self.request.expires_at => State::Expired,
            State::Approved if before || now >= self.usable_until() => State::Expired,
            state => state,
        }
    }

    /// Until when it can be answered, or used once it was approved: until the signed time, but never longer than the
    /// limit after the answer, nor after the last moment at which it could be answered.
    #[must_use]
    pub fn usable_until(&self) -> Millis {
        let limit = super::APPROVED_MILLIS;
        match &self.verdict {
            None => self.request.expires_at,
            Some(verdict) => verdict
                .expires_at
                .min(self.changed_at.saturating_add(limit))
                .min(self.request.expires_at.saturating_add(limit)),
        }
    }
}
