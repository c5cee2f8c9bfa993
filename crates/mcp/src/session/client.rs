//! Frames of the client.
//!
//! Nothing here reaches the server but what the table has, parsed and written again.

use super::lists::{Waiter, Wants};
use super::{
    Action, Asked, MAX_OPEN, MAX_OPEN_BYTES, NoteKind, Open, Sent, Session, Started, Step, Subject,
    Warden, Whom, asked_number, text,
};
use crate::frame::{
    Bad, Frame, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Outcome,
    brief, error, error_to_nobody,
};
use crate::json::{Json, Object};
use crate::methods::{self, Asks, Meta, Tells};
use horngate_gate::Answer;

/// How long the name of a tool or a prompt may be, or a URI.
const MAX_NAME_BYTES: usize = 8 << 10;

impl<W: Warden> Session<W> {
    pub(super) fn client_frame(&mut self, line: &[u8]) {
        match Frame::read(line) {
            Ok(frame) if self.is_early(&frame, line.len()) => {
                self.early_bytes += line.len();
                self.early.push((frame, line.len()));
            }
            Ok(frame) => self.client_says(frame),
            Err(bad) => self.client_bad(&bad),
        }
    }

    pub(super) fn busy_frame(&mut self, line: &[u8]) {
        let frame = match Frame::read(line) {
            Ok(frame) => frame,
            Err(bad) => return self.client_bad(&bad),
        };
        let why = "the server does not take what was sent to it before";
        match frame {
            Frame::Request { id, method, params } => {
                if self.open.contains_key(&id) {
                    return self.client_asks(id, &method, params);
                }
                self.refuse(&id, &method, &params, INTERNAL_ERROR, why);
            }
            Frame::Notification { method, params } if method == "notifications/cancelled" => {
                self.client_tells(&method, params);
            }
            Frame::Notification { method, params } => {
                self.note_refused(&method, subject(&params), "malformed", why);
            }
            // What the gate has asked is not the server's.
            Frame::Response { id, outcome } => self.client_answers(&id, outcome),
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
        for (frame, bytes) in std::mem::take(&mut self.early) {
            self.frame_bytes = bytes;
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
            self.note_refused(method, subject(&params), "malformed", why);
            return self.send_client(error_to_nobody(INVALID_REQUEST, why));
        }
        let bytes: usize = self.open.values().map(|open| open.bytes).sum();
        if self.open.len() >= MAX_OPEN || bytes.saturating_add(self.frame_bytes) > MAX_OPEN_BYTES {
            let why = "too many requests are open, or too long ones; wait for answers";
            return self.refuse(&id, method, &params, INVALID_REQUEST, why);
        }
        let asks = match methods::asks(method, &params) {
            Some(Ok(asks)) => asks,
            Some(Err(why)) => return self.refuse(&id, method, &params, INVALID_PARAMS, &why),
            None => {
                let shown = brief(&horngate_gate::visible(method));
                let why = format!("the method `{shown}` does not pass");
                return self.refuse(&id, method, &params, METHOD_NOT_FOUND, &why);
            }
        };
        let long = |key| text(&params, key).is_some_and(|text| text.len() > MAX_NAME_BYTES);
        if long("name") || long("uri") {
            let why = format!("a name or URI is longer than {MAX_NAME_BYTES} bytes");
            return self.refuse(&id, method, &params, INVALID_PARAMS, &why);
        }
        let meta = Meta::take(&mut params, self.terms.passing);
        let token = match meta.token().map(Id::read) {
            None => None,
            Some(Some(token)) => Some(token),
            Some(None) => {
                let why = "a progress token is a string or a whole number";
                return self.refuse(&id, method, &params, INVALID_PARAMS, why);
            }
        };
        if token.is_some() && self.open.values().any(|open| open.token == token) {
            let why = "the progress token is that of another open request";
            return self.refuse(&id, method, &params, INVALID_PARAMS, why);
        }
        let early = matches!(asks, Asks::Initialize | Asks::Discover) || method == "ping";
        if self.started != Started::Yes && !early && !meta.is_modern() {
            let why = "the session was not initialized";
            return self.refuse(&id, method, &params, INVALID_REQUEST, why);
        }
        if asks == Asks::Initialize && self.started != Started::No {
            let why = "the session was initialized already";
            return self.refuse(&id, method, &params, INVALID_REQUEST, why);
        }
        let whom = Whom {
            id: id.clone(),
            serial: self.number(),
        };
        let open = Open {
            serial: whom.serial,
            step: Step::Waits,
            token,
            bytes: self.frame_bytes,
        };
        self.open.insert(id, open);
        self.client_asked(whom, method, asks, params, meta);
    }

    fn client_asked(
        &mut self,
        whom: Whom,
        method: &str,
        asks: Asks,
        mut params: Object,
        meta: Meta,
    ) {
        let modern = meta.is_modern();
        match asks {
            Asks::ListTools => return self.list_tools(whom, params, meta),
            Asks::CallTool => return self.call_tool(whom, params, meta),
            Asks::Initialize => {
                self.started = Started::Asked;
                if let Some(Json::Object(capabilities)) = params.get_mut("capabilities") {
                    self.can_elicit = methods::can_elicit(capabilities);
                    self.terms.passing.client_capabilities(capabilities);
                }
            }
            Asks::ReadResource | Asks::Subscribe => {
                let Some(uri) = text(&params, "uri") else {
                    return self.answer_error(&whom, INVALID_PARAMS, "`uri` is not a text");
                };
                if !self.guarded(&whom, method, Subject::Resource(uri)) {
                    return;
                }
            }
            Asks::GetPrompt => {
                let Some(name) = text(&params, "name") else {
                    return self.answer_error(&whom, INVALID_PARAMS, "`name` is not a text");
                };
                if !self.guarded(&whom, method, Subject::Prompt(name)) {
                    return;
                }
            }
            Asks::Complete => {
                let about = params.get("ref").and_then(Json::as_object);
                let subject = about.and_then(|about| match text(about, "type")? {
                    "ref/prompt" => Some(Subject::Prompt(text(about, "name")?)),
                    "ref/resource" => Some(Subject::Resource(text(about, "uri")?)),
                    _ => None,
                });
                let Some(subject) = subject else {
                    let why = "`ref` is neither a prompt nor a resource";
                    return self.answer_error(&whom, INVALID_PARAMS, why);
                };
                if !self.guarded(&whom, method, subject) {
                    return;
                }
            }
            Asks::ListResources | Asks::ListTemplates if !self.terms.passing.resources => {
                return self.unoffered(&whom, method);
            }
            Asks::ListPrompts if !self.terms.passing.prompts => {
                return self.unoffered(&whom, method);
            }
            Asks::Listen => self.narrow_listen(&mut params),
            Asks::Discover
            | Asks::Plain
            | Asks::ListResources
            | Asks::ListTemplates
            | Asks::ListPrompts => {}
        }
        meta.put(&mut params);
        self.forward(whom, method, params, asks, modern);
    }

    /// Sends a request of the client on to the server.
    pub(super) fn forward(
        &mut self,
        whom: Whom,
        method: &str,
        params: Object,
        asks: Asks,
        modern: bool,
    ) {
        // It may have been cancelled while it waited.
        if !self.waits(&whom) {
            return;
        }
        let sent = Sent::For {
            whom: whom.clone(),
            asks,
            modern,
        };
        let number = self.send_server(method, params, sent);
        if let Some(open) = self.open_mut(&whom) {
            open.step = Step::Sent(number);
        }
    }

    /// Whether a resource or a prompt may be used; answers if not.
    fn guarded(&mut self, whom: &Whom, method: &str, subject: Subject<'_>) -> bool {
        let may = match subject {
            Subject::Resource(uri) => self.warden.may_read(uri),
            Subject::Prompt(name) => self.warden.may_use(name),
        };
        if may {
            self.warden.uses(subject);
            self.note(NoteKind::Passed, method, subject.text(), "", "");
        } else {
            self.note_refused(method, subject.text(), "not-granted", "");
            self.answer_error(whom, INVALID_PARAMS, "it is not granted to you");
        }
        may
    }

    fn unoffered(&mut self, whom: &Whom, method: &str) {
        self.note_refused(method, "", "not-granted", "nothing of it passes");
        let why = format!("the method `{method}` does not pass");
        self.answer_error(whom, METHOD_NOT_FOUND, &why);
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

    fn refuse(&mut self, id: &Id, method: &str, params: &Object, code: i64, why: &str) {
        self.note_refused(method, subject(params), "malformed", why);
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
                let why = match methods::asks(method, &params) {
                    Some(_) => "a request without an id",
                    None => "the method does not pass",
                };
                return self.note_refused(method, subject(&params), "malformed", why);
            }
        };
        match tells {
            // Once: over HTTP it opens a stream.
            Tells::Initialized if self.started == Started::No || self.initialized => {}
            Tells::Initialized | Tells::Plain => {
                self.initialized |= tells == Tells::Initialized;
                Meta::take(&mut params, self.terms.passing).put(&mut params);
                self.tell_server(method, params);
            }
            Tells::Cancelled => {
                let Some(id) = params.get("requestId").and_then(Id::read) else {
                    return;
                };
                // The first request is not taken back: all others wait for its answer.
                if self.open.get(&id).is_some_and(|open| self.begins(open)) {
                    return;
                }
                if let Some(open) = self.open.remove(&id) {
                    self.cancelled(&open, params);
                    self.stop_waiting();
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

    /// Whether a request is the one that begins the session.
    fn begins(&self, open: &Open) -> bool {
        let Step::Sent(number) = open.step else {
            return false;
        };
        let asks = Asks::Initialize;
        matches!(self.sent.get(&number), Some(Sent::For { asks: sent, .. }) if *sent == asks)
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

/// What a request is about, as far as it can be told.
fn subject(params: &Object) -> &str {
    let found = text(params, "name").or_else(|| text(params, "uri"));
    found
        .filter(|text| text.len() <= MAX_NAME_BYTES)
        .unwrap_or_default()
}
