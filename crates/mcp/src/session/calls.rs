//! Calls of tools: from the client to the gate, and from the gate to the server.
//!
//! Nothing here reaches the server but through [`Session::released`], which is the gate's.

use super::lists::{Waiter, Wants};
use super::{Action, Asked, Sent, Session, Step, Warden, Whom, id_for_client, text};
use crate::catalog::name_here;
use crate::frame::{Frame, INVALID_PARAMS, Outcome};
use crate::json::{Json, Object};
use crate::methods::{Meta, Passing};
use horngate_gate::{Answer, Reason, Refusal, Request, visible};
use serde_json::json;

/// How many calls may wait for the client's user at a time.
const MAX_SAVED: usize = 64;
/// How long what is kept for one of them may be.
const MAX_SAVED_BYTES: usize = 256 << 10;

/// What the request state of a call that waits for the client's user starts with, and the name of its question.
const OURS: &str = "horngate-approval";

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call {
    whom: Whom,
    /// The tool, by the server's name.
    tool: String,
    arguments: String,
    /// The version of its definition that the gate was handed.
    version: Option<u64>,
    /// What the gate has let pass.
    released: Option<Json>,
    meta: Meta,
    /// What a repeated call brings for the server: `inputResponses` and `requestState`.
    brings: Object,
    modern: bool,
    can_elicit: bool,
    sent: Option<u64>,
    answer: Option<Outcome>,
}

/// What a call brought that waits for the client's user.
#[derive(Debug)]
pub(super) struct Saved {
    brings: Object,
}

/// What the gate says of a call in the end.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The call was released, and what the server answered may be passed on.
    Passed,
    /// It was not, or its answer may not.
    Refused(Box<Refused>),
}

/// A refusal as the client gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// A short text, for the model.
    pub text: String,
    /// The stable shape.
    pub document: serde_json::Value,
    /// The request that waits for a person, if one does.
    pub pending: Option<String>,
}

impl From<&Refusal> for Verdict {
    fn from(refusal: &Refusal) -> Self {
        if refusal.ran() && refusal.reason == Reason::ToolFailed {
            return Self::Passed;
        }
        let mut document = refusal.to_json();
        let message = match refusal.reason {
            // Not the rules, and not whether there is such a tool.
            Reason::NoSuchTool
            | Reason::UnknownActor
            | Reason::UnknownTool
            | Reason::NotGranted => {
                let message = not_granted(&document);
                if let Some(slot) = document.pointer_mut("/metadata/reason") {
                    *slot = Reason::NotGranted.as_str().into();
                }
                message
            }
            Reason::ConfirmationRequired => {
                let id = refusal.approval_id().unwrap_or_default();
                format!(
                    "confirmation_required: a person must approve this call first (request {id}); \
                     call it again once they have"
                )
            }
            _ => refusal.message.clone(),
        };
        if let Some(slot) = document.get_mut("error") {
            *slot = message.clone().into();
        }
        let pending = match refusal.reason {
            Reason::ConfirmationRequired => refusal.approval_id().map(str::to_owned),
            _ => None,
        };
        Self::Refused(Box::new(Refused {
            text: format!("Error: {message}"),
            document,
            pending,
        }))
    }
}

fn not_granted(document: &serde_json::Value) -> String {
    let tool = document
        .get("tool_name")
        .and_then(serde_json::Value::as_str);
    let tool = tool.unwrap_or_default();
    format!("the tool `{tool}` is not granted to you")
}

impl Refused {
    /// A refusal that the gate was not asked for.
    fn of(tool: &str, reason: &str, message: &str) -> Self {
        let document = json!({
            "success": false,
            "data": null,
            "error": message,
            "tool_name": visible(tool),
            "execution_time_ms": 0,
            "metadata": {
                "approval_required": false,
                "approval_decision": null,
                "approval_provider": null,
                "approval_id": null,
                "reason": reason,
            },
        });
        Self {
            text: format!("Error: {message}"),
            document,
            pending: None,
        }
    }

    /// As the result of a call.
    fn result(&self, modern: bool) -> Object {
        let content = Json::object()
            .with("type", "text")
            .with("text", self.text.as_str());
        let mut result = Json::object();
        if modern {
            result.set("resultType", "complete");
        }
        result
            .with("content", vec![content.into()])
            .with("structuredContent", Json::from_value(&self.document))
            .with("isError", true)
    }
}

/// What a form that the client's user filled in says. Only a whole yes is one.
pub(super) fn consent(result: &Object) -> Answer {
    let content = result.get("content").and_then(Json::as_object);
    let decision = content.and_then(|content| text(content, "decision"));
    match (text(result, "action"), decision) {
        (Some("accept"), Some(decision)) => Answer::from_text(decision),
        (Some("accept"), None) => Answer::Unknown("a form without a decision".to_owned()),
        (Some("decline" | "cancel"), _) => Answer::Deny("the form was not accepted".to_owned()),
        (action, _) => Answer::Unknown(action.unwrap_or_default().to_owned()),
    }
}

/// The form that asks for consent.
fn form(request: &str) -> Object {
    let decision = Json::object()
        .with("type", "string")
        .with("title", "Decision")
        .with("description", "approve runs this call once, deny does not")
        .with("enum", vec!["approve".into(), "deny".into()]);
    let schema = Json::object()
        .with("type", "object")
        .with("properties", Json::object().with("decision", decision))
        .with("required", vec!["decision".into()]);
    Json::object()
        .with("mode", "form")
        .with(
            "message",
            format!("horngate asks: may this call run?\n\n{request}"),
        )
        .with("requestedSchema", schema)
}

/// Whether an unfinished result asks for what may be asked, and not in the gate's name.
pub(super) fn may_ask(passing: Passing, result: &Object) -> Result<(), String> {
    passing.input_requests(result)?;
    let requests = result.get("inputRequests").and_then(Json::as_object);
    let named = requests.is_some_and(|requests| requests.get(OURS).is_some());
    let state = text(result, "requestState").unwrap_or_default();
    match named || state.starts_with(OURS) {
        true => Err("the server asks in the gate's name".to_owned()),
        false => Ok(()),
    }
}

impl<W: Warden> Session<W> {
    /// The client calls a tool.
    pub(super) fn call_tool(&mut self, whom: Whom, mut params: Object, meta: Meta) {
        let Some(Json::String(tool)) = params.remove("name") else {
            return self.answer_error(&whom, INVALID_PARAMS, "`name` is not a text");
        };
        let arguments = match params.remove("arguments") {
            None => "{}".to_owned(),
            Some(Json::Object(arguments)) => arguments.to_string(),
            Some(_) => {
                let why = "`arguments` is not an object";
                self.note_refused("tools/call", &tool, "malformed", why);
                return self.answer_error(&whom, INVALID_PARAMS, why);
            }
        };
        let (modern, lists) = (meta.is_modern(), meta.for_lists());
        let call = Call {
            whom: whom.clone(),
            tool,
            arguments,
            version: None,
            released: None,
            can_elicit: if modern {
                meta.can_elicit()
            } else {
                self.can_elicit
            },
            meta,
            brings: params,
            modern,
            sent: None,
            answer: None,
        };
        let ticket = self.number();
        if let Some(open) = self.open_mut(&whom) {
            open.step = Step::Call(ticket);
        }
        let answered = self.answered_by_user(&call);
        self.calls.insert(ticket, call);
        match answered {
            None => self.queue_call(ticket, lists),
            Some(Ok((approval, brings, approve))) => {
                if let Some(call) = self.calls.get_mut(&ticket) {
                    call.brings = brings;
                }
                self.out.push(Action::Sign {
                    ticket,
                    approval,
                    approve,
                });
            }
            Some(Err(why)) => {
                if let Some(call) = self.calls.remove(&ticket) {
                    self.note_refused("tools/call", &call.tool, "malformed", why);
                }
                self.answer_error(&whom, INVALID_PARAMS, why);
            }
        }
    }

    /// Whether the call brings what the client's user answered to the gate, and to which request.
    fn answered_by_user(
        &mut self,
        call: &Call,
    ) -> Option<Result<(String, Object, bool), &'static str>> {
        let state = text(&call.brings, "requestState")?;
        let approval = state.strip_prefix(OURS)?.strip_prefix(':')?.to_owned();
        let Some(saved) = self.saved.remove(&approval) else {
            return Some(Err("`requestState` is not one that waits for an answer"));
        };
        let responses = call.brings.get("inputResponses").and_then(Json::as_object);
        let response = responses.and_then(|responses| responses.get(OURS)?.as_object());
        let approve = response.is_some_and(|response| consent(response) == Answer::Approve);
        Some(Ok((approval, saved.brings, approve)))
    }

    /// Hands a call to the gate.
    pub(super) fn start(&mut self, ticket: u64) {
        let Some(call) = self.calls.get(&ticket) else {
            return;
        };
        let tool = match name_here(self.terms.namespace.as_ref(), &call.tool) {
            Ok(here) => here,
            // No tool is called that, so the gate will say so.
            Err(_) => call.tool.clone(),
        };
        if let Some(why) = self.catalog.withheld.get(&call.tool) {
            let why = why.clone();
            return self.deny_unstarted(ticket, "definition-changed", &why);
        }
        let arguments = call.arguments.clone();
        let version = self.catalog.version(&tool);
        if let Some(call) = self.calls.get_mut(&ticket) {
            call.version = version;
        }
        self.out.push(Action::Call {
            ticket,
            tool,
            arguments,
        });
    }

    /// Denies a call that the gate was not asked for.
    pub(super) fn deny_unstarted(&mut self, ticket: u64, reason: &'static str, why: &str) {
        let Some(call) = self.calls.remove(&ticket) else {
            return;
        };
        self.note_refused("tools/call", &call.tool, reason, why);
        let tool = visible(&call.tool);
        let message = match reason {
            "definition-changed" => format!("the tool `{tool}` is not granted to you"),
            _ => why.to_owned(),
        };
        let refused = Refused::of(&call.tool, reason, &message);
        self.answer(&call.whom, Outcome::Result(refused.result(call.modern)));
    }

    pub(super) fn release(&mut self, ticket: u64, arguments: &str) {
        let read = Json::read(arguments.as_bytes()).map(|read| read.value);
        let (Some(call), Ok(arguments)) = (self.calls.get_mut(&ticket), read) else {
            let failed = Some("the client has withdrawn the call".to_owned());
            return self.out.push(Action::Deliver { ticket, failed });
        };
        let lists = call.meta.for_lists();
        call.released = Some(arguments);
        if self.knows_list(lists.as_ref()) {
            return self.send_call(ticket);
        }
        // The server has said that its tools have changed while the gate had the call.
        let wants = Wants::Release(ticket);
        self.wait_for_list(Waiter { meta: lists, wants });
    }

    /// Sends a call that the gate has let pass, if its tool is still what the gate has looked at.
    pub(super) fn send_call(&mut self, ticket: u64) {
        let Some(call) = self.calls.get_mut(&ticket) else {
            return;
        };
        let here = name_here(self.terms.namespace.as_ref(), &call.tool);
        let version = here.ok().and_then(|here| self.catalog.version(&here));
        if version != call.version {
            let why = "the definition of the tool has changed; list the tools again";
            return self.hold_back(ticket, "definition-changed", why);
        }
        let Some(arguments) = call.released.take() else {
            return;
        };
        let mut params = Json::object()
            .with("name", call.tool.as_str())
            .with("arguments", arguments);
        for (name, value) in call.brings.iter() {
            params.set(name, value.clone());
        }
        call.meta.clone().put(&mut params);
        let number = self.send_server("tools/call", params, Sent::Call(ticket));
        if let Some(call) = self.calls.get_mut(&ticket) {
            call.sent = Some(number);
        }
    }

    /// Does not send a call that the gate has let pass.
    pub(super) fn hold_back(&mut self, ticket: u64, reason: &'static str, why: &str) {
        let Some(call) = self.calls.get_mut(&ticket) else {
            return;
        };
        let refused = Refused::of(&call.tool, reason, why);
        call.released = None;
        call.answer = Some(Outcome::Result(refused.result(call.modern)));
        let tool = call.tool.clone();
        self.note_refused("tools/call", &tool, reason, why);
        let failed = Some(why.to_owned());
        self.out.push(Action::Deliver { ticket, failed });
    }

    /// The server has answered a call.
    pub(super) fn call_answered(&mut self, ticket: u64, outcome: Outcome) {
        let Some(call) = self.calls.get_mut(&ticket) else {
            return;
        };
        call.sent = None;
        let (outcome, failed) = match outcome {
            Outcome::Error(error) => {
                let message = text(&error, "message").unwrap_or("an error").to_owned();
                (Outcome::Error(error), Some(message))
            }
            Outcome::Result(result) => match may_ask(self.terms.passing, &result) {
                Ok(()) => {
                    let failed = result.get("isError") == Some(&true.into());
                    let failed = failed.then(|| "the tool says that it failed".to_owned());
                    (Outcome::Result(result), failed)
                }
                Err(why) => {
                    let refused = Refused::of(&call.tool, "error", &why);
                    (Outcome::Result(refused.result(call.modern)), Some(why))
                }
            },
        };
        call.answer = Some(outcome);
        self.out.push(Action::Deliver { ticket, failed });
    }

    pub(super) fn finish(&mut self, ticket: u64, verdict: Verdict) {
        let Some(call) = self.calls.remove(&ticket) else {
            return;
        };
        if let Some(number) = call.sent {
            self.sent.remove(&number);
        }
        let outcome = match (verdict, call.answer) {
            (Verdict::Passed, Some(answer)) => answer,
            (Verdict::Passed, None) => {
                let refused = Refused::of(&call.tool, "error", "the server did not answer");
                Outcome::Result(refused.result(call.modern))
            }
            (Verdict::Refused(refused), _) => {
                let mut refused = *refused;
                // By the name that the client knows.
                if let Some(slot) = refused.document.get_mut("tool_name") {
                    let (here, plain) = (
                        slot.as_str().unwrap_or_default().to_owned(),
                        visible(&call.tool),
                    );
                    *slot = plain.clone().into();
                    if here != plain {
                        let (here, plain) = (format!("`{here}`"), format!("`{plain}`"));
                        refused.text = refused.text.replace(&here, &plain);
                        if let Some(error) = refused.document.get_mut("error") {
                            let text = error.as_str().unwrap_or_default().replace(&here, &plain);
                            *error = text.into();
                        }
                    }
                }
                let asked = match &refused.pending {
                    Some(id) if call.modern && call.can_elicit && self.terms.elicit => {
                        self.ask_by_result(id, call.brings)
                    }
                    _ => None,
                };
                Outcome::Result(asked.unwrap_or_else(|| refused.result(call.modern)))
            }
        };
        self.answer(&call.whom, outcome);
    }

    /// A result that asks the client's user, where requests to the client are not possible.
    fn ask_by_result(&mut self, approval: &str, brings: Object) -> Option<Object> {
        if self.saved.len() >= MAX_SAVED {
            self.saved.clear();
        }
        let (id, shown) = (approval.to_owned(), self.prompts.remove(approval)?);
        if brings.to_string().len() > MAX_SAVED_BYTES {
            return None;
        }
        self.saved.insert(id, Saved { brings });
        let question = Json::object()
            .with("method", "elicitation/create")
            .with("params", form(&shown));
        Some(
            Json::object()
                .with("resultType", "input_required")
                .with("inputRequests", Json::object().with(OURS, question))
                .with("requestState", format!("{OURS}:{approval}")),
        )
    }

    /// The gate wants the client's user to be asked.
    pub(super) fn ask_client(&mut self, ticket: u64, request: &Request) {
        let defer = |answer| Action::Answered { ticket, answer };
        let Some(call) = self.calls.get(&ticket) else {
            let answer = Answer::Deny("the client has withdrawn the call".to_owned());
            return self.out.push(defer(answer));
        };
        if !call.can_elicit || !self.terms.elicit {
            return self.out.push(defer(Answer::Defer));
        }
        if call.modern {
            if self.prompts.len() >= MAX_SAVED {
                self.prompts.clear();
            }
            let shown = request.for_people();
            if shown.len() <= MAX_SAVED_BYTES {
                self.prompts.insert(request.id.clone(), shown);
            }
            return self.out.push(defer(Answer::Defer));
        }
        let number = self.number();
        self.asked.insert(number, Asked::ByGate(ticket));
        let asked = Frame::Request {
            id: id_for_client(number),
            method: "elicitation/create".to_owned(),
            params: form(&request.for_people()),
        };
        self.send_client(asked.to_string());
    }

    /// The client has withdrawn a call. `Some`: the server has it, under this number.
    pub(super) fn cancel_call(&mut self, ticket: u64) -> Option<u64> {
        self.asked
            .retain(|_, asked| !matches!(asked, Asked::ByGate(other) if *other == ticket));
        let call = self.calls.get_mut(&ticket)?;
        match call.sent.take() {
            Some(number) => {
                let failed = Some("the client has withdrawn the call".to_owned());
                self.out.push(Action::Deliver { ticket, failed });
                Some(number)
            }
            None => {
                let tool = call.tool.clone();
                self.calls.remove(&ticket);
                self.note_refused("tools/call", &tool, "cancelled", "withdrawn before it ran");
                self.out.push(Action::Abandon { ticket });
                None
            }
        }
    }
}
