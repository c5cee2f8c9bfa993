//! The gate behind a session: what it knows of the server's tools, who asks it, and how a released call gets out.
//!
//! Nothing here decides by itself; every tool is a [`ForeignTool`] whose body is the session's release of the call.

use super::Mode;
use crate::{Subject, Verdict, Warden};
use horngate::{Allowlist, Decision};
use horngate_gate::{
    Answer, Approver, ApproverError, BoxFuture, ForeignTool, Gate, Hidden, InvocationContext,
    InvocationId, Observer, Permitted, Reason, Remote, Request, ToolError, ToolSpec,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// What the gate's side says to the session's.
pub(super) enum Event {
    /// The gate lets a call pass.
    Released {
        ticket: u64,
        arguments: String,
        /// Takes how it failed, if it did.
        done: oneshot::Sender<Option<String>>,
    },
    /// The gate is done with a call.
    Finished { ticket: u64, verdict: Verdict },
    /// The client's user is to be asked.
    Ask {
        ticket: u64,
        request: Arc<Request>,
        reply: oneshot::Sender<Answer>,
    },
    /// What the client's user said was entered, or was not.
    Signed {
        ticket: u64,
        approved: Result<(), String>,
    },
    /// Something was used that the rules do not grant.
    Used(Used),
}

/// Something that a fact would grant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Used {
    Tool(String),
    Resource(String),
    Prompt(String),
}

/// Tickets by turn: each call is a turn of its own.
#[derive(Clone, Default)]
pub(super) struct Tickets(Arc<Mutex<BTreeMap<u64, u64>>>);

impl Tickets {
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<u64, u64>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn enter(&self, turn: InvocationId, ticket: u64) {
        self.with(|tickets| tickets.insert(turn.0, ticket));
    }

    pub(super) fn leave(&self, turn: InvocationId) {
        self.with(|tickets| tickets.remove(&turn.0));
    }

    fn of(&self, turn: InvocationId) -> Option<u64> {
        self.with(|tickets| tickets.get(&turn.0).copied())
    }
}

/// The ways out of the gate.
#[derive(Clone)]
pub(super) struct Links {
    pub(super) events: mpsc::UnboundedSender<Event>,
    pub(super) tickets: Tickets,
}

struct Release(Links);

impl Remote for Release {
    fn call<'c>(
        &'c self,
        _: &'c str,
        permit: Permitted<'c, ForeignTool>,
    ) -> BoxFuture<'c, Result<Value, ToolError>> {
        Box::pin(async move {
            let over = || ToolError::new("the session is over");
            let ticket = self.0.tickets.of(permit.context().invocation());
            let ticket = ticket.ok_or_else(over)?;
            let (done, failed) = oneshot::channel();
            let event = Event::Released {
                ticket,
                arguments: permit.canonical().to_owned(),
                done,
            };
            self.0.events.send(event).map_err(|_| over())?;
            match failed.await {
                // The session has the answer itself, as the server wrote it.
                Ok(None) => Ok(Value::Null),
                Ok(Some(why)) => Err(ToolError::new(why)),
                Err(_) => Err(over()),
            }
        })
    }
}

/// Asks the client's user.
pub(super) struct Elicitation {
    pub(super) person: String,
    pub(super) links: Links,
}

impl Approver for Elicitation {
    fn person(&self) -> &str {
        &self.person
    }

    fn provider(&self) -> &str {
        "elicitation"
    }

    fn ask<'a>(
        &'a self,
        request: &'a Arc<Request>,
    ) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        Box::pin(async move {
            let over = || ApproverError::new("the session is over");
            let ticket = self.links.tickets.of(request.invocation).ok_or_else(over)?;
            let (reply, answer) = oneshot::channel();
            let request = Arc::clone(request);
            let event = Event::Ask {
                ticket,
                request,
                reply,
            };
            self.links.events.send(event).map_err(|_| over())?;
            answer.await.map_err(|_| over())
        })
    }
}

/// A gate, or what only looks like one.
#[derive(Clone)]
pub(super) enum Gated {
    Gate(Gate),
    Observer(Arc<Observer>),
}

/// What decides in a session.
pub(super) struct Guard {
    pub(super) gated: Gated,
    pub(super) links: Links,
    pub(super) who: InvocationContext,
    pub(super) server: String,
    pub(super) confined: BTreeSet<String>,
    pub(super) resources: Allowed,
    pub(super) prompts: Allowed,
    /// What the gate was offered.
    pub(super) installed: BTreeMap<String, ToolSpec>,
}

/// What decides about resources or prompts.
pub(super) struct Allowed {
    /// All pass, since the operator says so.
    pub(super) all: bool,
    /// The predicate, if the rules have it.
    pub(super) by: Option<Allowlist>,
}

impl Allowed {
    /// Whether anything of the kind may pass at all.
    pub(super) fn any(&self) -> bool {
        self.all || self.by.is_some()
    }

    fn decide(&self, actor: &str, name: &str) -> bool {
        let decide =
            |allowlist: &Allowlist| matches!(allowlist.decide(actor, name), Decision::Allow(_));
        self.all || self.by.as_ref().is_some_and(decide)
    }
}

impl Guard {
    fn offer(&self, tool: ForeignTool) {
        match &self.gated {
            Gated::Gate(gate) => gate.offer(tool),
            Gated::Observer(observer) => observer.offer(tool),
        }
    }

    fn withdraw(&self, name: &str) {
        match &self.gated {
            Gated::Gate(gate) => gate.withdraw(name),
            Gated::Observer(observer) => observer.withdraw(name),
        };
    }

    fn hidden(&self) -> Vec<Hidden> {
        match &self.gated {
            Gated::Gate(gate) => gate.hidden(),
            Gated::Observer(observer) => observer.hidden(),
        }
    }

    /// In observe mode everything passes.
    fn observes(&self) -> bool {
        matches!(self.gated, Gated::Observer(_))
    }
}

impl Warden for Guard {
    fn install(&mut self, tools: &[ToolSpec]) {
        let wanted: BTreeMap<String, ToolSpec> = tools
            .iter()
            .map(|spec| (spec.name().to_owned(), spec.clone()))
            .collect();
        let old = std::mem::take(&mut self.installed);
        for (name, spec) in &old {
            if wanted.get(name) != Some(spec) {
                self.withdraw(name);
            }
        }
        let before = self.hidden();
        // In the server's order: of two that look alike the first stays.
        for spec in tools {
            if old.get(spec.name()) == Some(spec) {
                continue;
            }
            let release = Release(self.links.clone());
            let mut tool = ForeignTool::new(&*self.server, spec.clone(), release);
            if self.confined.contains(spec.name()) {
                tool = tool.confined_by_operator("the operator says so");
            }
            self.offer(tool);
        }
        for hidden in self.hidden() {
            if !before.contains(&hidden) {
                super::tell(&format!(
                    "the tool `{}` is hidden: {}",
                    hidden.name, hidden.reason
                ));
            }
        }
        self.installed = wanted;
    }

    fn granted(&self) -> BTreeSet<String> {
        match &self.gated {
            Gated::Gate(gate) => {
                let tools = gate.tools_for(&self.who);
                tools.iter().map(|spec| spec.name().to_owned()).collect()
            }
            Gated::Observer(observer) => {
                let hidden = observer.hidden();
                let shown = |name: &&String| hidden.iter().all(|hidden| hidden.name != **name);
                self.installed.keys().filter(shown).cloned().collect()
            }
        }
    }

    fn may_read(&self, uri: &str) -> bool {
        self.observes() || self.resources.decide(self.who.actor(), uri)
    }

    fn may_use(&self, prompt: &str) -> bool {
        self.observes() || self.prompts.decide(self.who.actor(), prompt)
    }

    /// What is used and would not have passed is remembered.
    fn uses(&self, subject: Subject<'_>) {
        let actor = self.who.actor();
        let (may, used) = match subject {
            Subject::Resource(uri) => (
                self.resources.decide(actor, uri),
                Used::Resource(uri.to_owned()),
            ),
            Subject::Prompt(name) => (
                self.prompts.decide(actor, name),
                Used::Prompt(name.to_owned()),
            ),
        };
        if self.observes() && !may {
            let _ = self.links.events.send(Event::Used(used));
        }
    }
}

/// Calls a tool, and says what became of it.
pub(super) async fn call(
    gated: Gated,
    links: Links,
    context: InvocationContext,
    ticket: u64,
    tool: String,
    arguments: String,
) {
    let outcome = match gated {
        Gated::Gate(gate) => gate.call(&context, &tool, &arguments).await,
        Gated::Observer(observer) => {
            let observed = observer.call(&context, &tool, &arguments).await;
            let denied = observed
                .would_refuse
                .filter(|reason| *reason != Reason::ConfirmationRequired);
            if denied.is_some() {
                let _ = links.events.send(Event::Used(Used::Tool(tool)));
            }
            observed.outcome
        }
    };
    links.tickets.leave(context.invocation());
    let verdict = match &outcome {
        Ok(_) => Verdict::Passed,
        Err(refusal) => Verdict::from(refusal),
    };
    let _ = links.events.send(Event::Finished { ticket, verdict });
}

pub(super) fn is_observer(mode: &Mode) -> bool {
    !matches!(mode, Mode::Enforce)
}
