//! Frames of the client.
//!
//! Nothing here reaches the server but what the table has, parsed and written again.

use super::lists::{Waiter, Wants};
use super::{
    Action, Asked, MAX_OPEN, NoteKind, Open, Sent, Session, Started, Step, Warden, asked_number,
    text,
};
use crate::frame::{
    Bad, Frame, INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Outcome, error,
    error_to_nobody,
};
use crate::json::{Json, Object};
use crate::methods::{self, Asks, Meta, Tells};
use horngate_gate::Answer;

impl<W: Warden> Session<W> {
    pub(super) fn client_frame(&mut self, line: &[u8]) {
        match Frame::read(line) {
            Ok(frame) if self.is_early(&frame, line.len()) => {
                self.early_bytes += line.len();
                self.early.push(frame);
            }
            Ok(frame) => self.client_says(frame),
            Err(bad) => self.client_bad(&bad),
        }
    }

    /// Whether a message waits for the session to begin, and there is room for it.
    fn is_early(&self, frame: &Frame, bytes: usize) -> bool {
        let room = self.early.len() < MAX_OPEN
            && self.early_bytes.saturating_add(bytes) <= crate::MAX_FRAME_BYTES;
        self.started == Started::Asked
            && room
            && match frame {
                Frame::Request { method, .. } => method != "ping" && method != "initialize",
                // In order with what it may be about.
                Frame::Notification { .. } => !self.early.is_empty(),
                Frame::Response { .. } => false,
            }
    }

    /// The session has begun, or will not.
    pub(super) fn end_early(&mut self) {
        self.early_bytes = 0;
        for frame in std::mem::take(&mut self.early) {
            self.client_says(frame);
        }
    }

    fn client_says(&mut self, frame: Frame) {
        match frame {
            Frame::Request { id, method, params } => self.client_asks(id, &method, params),
            Frame::Notification { method, params } => self.client_tells(&method, params),
            Frame::Response { id, outcome } => self.client_answers(&id, outcome),
        }
    }

    fn client_bad(&mut self, bad: &Bad) {
        let method = bad.method.as_deref().unwrap_or_default();
        self.note_refused(method, "", "malformed", &bad.why);
        // What may have been an answer is not answered, and neither is what has the id of an open request.
        if bad.response && bad.method.is_none() {
            return;
        }
        let line = match bad.id.as_ref().filter(|id| !self.open.contains_key(id)) {
            Some(id) => Frame::Response {
                id: id.clone(),
                outcome: Outcome::Error(error(bad.code, &bad.why)),
            }
            .to_string(),
            None => error_to_nobody(bad.code, &bad.why),
        };
        self.send_client(line);
    }

    fn client_asks(&mut self, id: Id, method: &str, mut params: Object) {
        if self.open.contains_key(&id) {
            let why = "the id is that of a request that is not answered yet";
            self.note_refused(method, "", "malformed", why);
            return self.send_client(error_to_nobody(INVALID_REQUEST, why));
        }
        if self.open.len() >= MAX_OPEN {
            let why = format!("{MAX_OPEN} requests are open; wait for answers");
            return self.refuse(&id, method, INVALID_REQUEST, &why);
        }
        let asks = match methods::asks(method, &params) {
            Some(Ok(asks)) => asks,
            Some(Err(why)) => return self.refuse(&id, method, INVALID_PARAMS, &why),
            None => {
                let shown = horngate_gate::visible(method);
                let why = format!("the method `{shown}` does not pass");
                return self.refuse(&id, method, METHOD_NOT_FOUND, &why);
            }
        };
        let meta = Meta::take(&mut params, self.terms.passing);
        let token = match meta.token().map(Id::read) {
            None => None,
            Some(Some(token)) => Some(token),
            Some(None) => {
                let why = "a progress token is a string or a whole number";
                return self.refuse(&id, method, INVALID_PARAMS, why);
            }
        };
        if token.is_some() && self.open.values().any(|open| open.token == token) {
            let why = "the progress token is that of another open request";
            return self.refuse(&id, method, INVALID_PARAMS, why);
        }
        let early = matches!(asks, Asks::Initialize | Asks::Discover) || method == "ping";
        if self.started != Started::Yes && !early && !meta.is_modern() {
            let why = "the session was not initialized";
            return self.refuse(&id, method, INVALID_REQUEST, why);
        }
        if asks == Asks::Initialize && self.started != Started::No {
            let why = "the session was initialized already";
            return self.refuse(&id, method, INVALID_REQUEST, why);
        }
        let step = Step::Waits;
        self.open.insert(id.clone(), Open { step, token });
        self.client_asked(id, method, asks, params, meta);
    }

    fn client_asked(&mut self, id: Id, method: &str, asks: Asks, mut params: Object, meta: Meta) {
        let modern = meta.is_modern();
        match asks {
            Asks::ListTools => return self.list_tools(id, params, meta),
            Asks::CallTool => return self.call_tool(id, params, meta),
            Asks::Initialize => {
                self.started = Started::Asked;
                if let Some(Json::Object(capabilities)) = params.get_mut("capabilities") {
                    self.can_elicit = methods::can_elicit(capabilities);
                    self.terms.passing.client_capabilities(capabilities);
                }
            }
            Asks::ReadResource | Asks::Subscribe => {
                let Some(uri) = text(&params, "uri") else {
                    return self.answer_error(&id, INVALID_PARAMS, "`uri` is not a text");
                };
                let (uri, may) = (uri.to_owned(), self.warden.may_read(uri));
                if !self.guarded(&id, method, &uri, may) {
                    return;
                }
            }
            Asks::GetPrompt => {
                let Some(name) = text(&params, "name") else {
                    return self.answer_error(&id, INVALID_PARAMS, "`name` is not a text");
                };
                let (name, may) = (name.to_owned(), self.warden.may_use(name));
                if !self.guarded(&id, method, &name, may) {
                    return;
                }
            }
            Asks::Complete => {
                let about = params.get("ref").and_then(Json::as_object);
                let found = about.and_then(|about| match text(about, "type")? {
                    "ref/prompt" => {
                        let name = text(about, "name")?;
                        Some((name.to_owned(), self.warden.may_use(name)))
                    }
                    "ref/resource" => {
                        let uri = text(about, "uri")?;
                        Some((uri.to_owned(), self.warden.may_read(uri)))
                    }
                    _ => None,
                });
                let Some((subject, may)) = found else {
                    let why = "`ref` is neither a prompt nor a resource";
                    return self.answer_error(&id, INVALID_PARAMS, why);
                };
                if !self.guarded(&id, method, &subject, may) {
                    return;
                }
            }
            Asks::ListResources | Asks::ListTemplates if !self.terms.passing.resources => {
                return self.unoffered(&id, method);
            }
            Asks::ListPrompts if !self.terms.passing.prompts => {
                return self.unoffered(&id, method);
            }
            Asks::Listen => self.narrow_listen(&mut params),
            Asks::Discover
            | Asks::Plain
            | Asks::ListResources
            | Asks::ListTemplates
            | Asks::ListPrompts => {}
        }
        meta.put(&mut params);
        self.forward(id, method, params, asks, modern);
    }

    /// Sends a request of the client on to the server.
    pub(super) fn forward(
        &mut self,
        id: Id,
        method: &str,
        params: Object,
        asks: Asks,
        modern: bool,
    ) {
        // It may have been cancelled while it waited.
        if !self.open.contains_key(&id) {
            return;
        }
        let sent = Sent::For {
            id: id.clone(),
            asks,
            modern,
        };
        let number = self.send_server(method, params, sent);
        if let Some(open) = self.open.get_mut(&id) {
            open.step = Step::Sent(number);
        }
    }

    /// Whether a resource or a prompt may be used; answers if not.
    fn guarded(&mut self, id: &Id, method: &str, subject: &str, may: bool) -> bool {
        if may {
            self.note(NoteKind::Passed, method, subject, "", "");
        } else {
            self.note_refused(method, subject, "not-granted", "");
            self.answer_error(id, INVALID_PARAMS, "it is not granted to you");
        }
        may
    }

    fn unoffered(&mut self, id: &Id, method: &str) {
        self.note_refused(method, "", "not-granted", "nothing of it passes");
        let why = format!("the method `{method}` does not pass");
        self.answer_error(id, METHOD_NOT_FOUND, &why);
    }

    /// Leaves of a subscription what may be heard.
    fn narrow_listen(&self, params: &mut Object) {
        let Some(Json::Object(wanted)) = params.get_mut("notifications") else {
            return;
        };
        let passing = self.terms.passing;
        wanted.retain(|name| match name {
            "toolsListChanged" => true,
            "promptsListChanged" => passing.prompts,
            "resourcesListChanged" | "resourceSubscriptions" => passing.resources,
            _ => false,
        });
        if let Some(slot) = wanted.get_mut("resourceSubscriptions") {
            let uris = slot.as_array().unwrap_or_default();
            let may = |uri: &&Json| uri.as_str().is_some_and(|uri| self.warden.may_read(uri));
            *slot = Json::Array(uris.iter().filter(may).cloned().collect());
        }
    }

    fn refuse(&mut self, id: &Id, method: &str, code: i64, why: &str) {
        self.note_refused(method, "", "malformed", why);
        let response = Frame::Response {
            id: id.clone(),
            outcome: Outcome::Error(error(code, why)),
        };
        self.send_client(response.to_string());
    }

    fn client_tells(&mut self, method: &str, mut params: Object) {
        let tells = match methods::tells(method, &params) {
            Some(Ok(tells)) => tells,
            Some(Err(why)) => return self.note_refused(method, "", "malformed", &why),
            None => {
                let subject = text(&params, "name").unwrap_or_default().to_owned();
                let why = match methods::asks(method, &params) {
                    Some(_) => "a request without an id",
                    None => "the method does not pass",
                };
                return self.note_refused(method, &subject, "malformed", why);
            }
        };
        match tells {
            Tells::Initialized if self.started == Started::No => {}
            Tells::Initialized | Tells::Plain => {
                Meta::take(&mut params, self.terms.passing).put(&mut params);
                self.tell_server(method, params);
            }
            Tells::Cancelled => {
                let id = params.get("requestId").and_then(Id::read);
                if let Some(open) = id.and_then(|id| self.open.remove(&id)) {
                    self.cancelled(&open, params);
                }
            }
            Tells::Progress => {
                // About what the server has asked, under a token of the server.
                if !self.asked.is_empty() {
                    self.tell_server(method, params);
                }
            }
        }
    }

    /// The client does not want an answer any more.
    fn cancelled(&mut self, open: &Open, mut params: Object) {
        let number = match open.step {
            Step::Waits => return,
            Step::Sent(number) => number,
            Step::Call(ticket) => match self.cancel_call(ticket) {
                Some(number) => number,
                None => return,
            },
        };
        self.sent.remove(&number);
        params.set("requestId", super::number_id(number).json());
        self.tell_server("notifications/cancelled", params);
    }

    fn client_answers(&mut self, id: &Id, outcome: Outcome) {
        let asked = asked_number(id).and_then(|number| self.asked.remove(&number));
        match asked {
            None => self.note_refused("", "", "malformed", "an answer to nothing that was asked"),
            Some(Asked::ByServer(id)) => {
                let response = Frame::Response { id, outcome };
                self.out.push(Action::ToServer(response.to_string()));
            }
            Some(Asked::ByGate(ticket)) => {
                let answer = match &outcome {
                    Outcome::Result(result) => super::calls::consent(result),
                    Outcome::Error(_) => Answer::Unknown("an error".to_owned()),
                };
                self.out.push(Action::Answered { ticket, answer });
            }
        }
    }

    /// Queues a call until the list of tools is known.
    pub(super) fn queue_call(&mut self, ticket: u64, lists: Option<Object>) {
        if self.knows_list(lists.as_ref()) {
            return self.start(ticket);
        }
        let wants = Wants::Call(ticket);
        self.wait_for_list(Waiter { meta: lists, wants });
    }
}
