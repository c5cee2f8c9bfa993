//! Frames of the server.
//!
//! Nothing here is believed: what answers nothing, asks for what is not in the table or is not exactly a frame stops here.

use super::calls::may_ask;
use super::{
    Action, Asked, MAX_OPEN, MAX_TOLD, Sent, Session, Started, Warden, Whom, id_for_client, text,
};
use crate::frame::{
    Frame, INTERNAL_ERROR, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Outcome, brief, error,
};
use crate::json::{Json, Object};
use crate::methods::{self, Asks, SUBSCRIPTION, Says};
use horngate_gate::visible;

impl<W: Warden> Session<W> {
    pub(super) fn server_frame(&mut self, line: &[u8]) {
        match Frame::read(line) {
            Ok(Frame::Request { id, method, params }) => self.server_asks(id, &method, params),
            Ok(Frame::Notification { method, params }) => self.server_tells(&method, params),
            Ok(Frame::Response { id, outcome }) => match id {
                Id::Number(number) if number >= 0 => {
                    self.server_answered(number.unsigned_abs(), outcome);
                }
                _ => {}
            },
            // Servers print other things, too; what is certainly an answer ends what waits for it.
            Err(bad) => {
                let number = match bad.id {
                    Some(Id::Number(number)) if bad.response => number.unsigned_abs(),
                    _ => return,
                };
                let why = format!("the answer of the server is refused: {}", bad.why);
                self.server_answered(number, Outcome::Error(error(INTERNAL_ERROR, &why)));
            }
        }
    }

    /// An answer of the server, or what stands for one.
    pub(super) fn server_answered(&mut self, number: u64, outcome: Outcome) {
        match self.sent.remove(&number) {
            None => {}
            Some(Sent::Walk) => self.walked(outcome),
            Some(Sent::Call(ticket)) => self.call_answered(ticket, outcome),
            Some(Sent::For { whom, asks, modern }) => {
                let outcome = match outcome {
                    Outcome::Result(result) => self.passed_on(&whom, asks, result, modern),
                    error @ Outcome::Error(_) => {
                        if asks == Asks::Initialize {
                            self.started = Started::No;
                        }
                        error
                    }
                };
                self.answer(&whom, outcome);
                if asks == Asks::Initialize {
                    self.end_early();
                }
            }
        }
    }

    /// What the client gets to see of a result.
    fn passed_on(&mut self, whom: &Whom, asks: Asks, mut result: Object, modern: bool) -> Outcome {
        let refused = |why: &str| Outcome::Error(error(INTERNAL_ERROR, why));
        if let Err(why) = may_ask(self.terms.passing, &result) {
            return refused(&why);
        }
        asks.result(&mut result);
        match asks {
            Asks::Initialize | Asks::Discover => {
                if asks == Asks::Initialize {
                    self.started = Started::Yes;
                }
                match result.get_mut("capabilities") {
                    Some(Json::Object(capabilities)) => {
                        self.terms.passing.server_capabilities(capabilities);
                    }
                    _ => result.set("capabilities", Json::object()),
                }
                if !matches!(self.terms.lock, crate::Lock::Off) {
                    result.remove("instructions");
                }
                if asks == Asks::Discover {
                    result.set("cacheScope", "private");
                }
            }
            Asks::Listen => {
                if let Some(Json::Object(meta)) = result.get_mut("_meta")
                    && meta.get(SUBSCRIPTION).is_some()
                {
                    meta.set(SUBSCRIPTION, whom.id.json());
                }
            }
            Asks::ListResources | Asks::ListTemplates => {
                self.told
                    .retain(|(method, _)| !method.contains("/resources/"));
            }
            Asks::ListPrompts => self
                .told
                .retain(|(method, _)| !method.contains("/prompts/")),
            Asks::ReadResource if modern => result.set("cacheScope", "private"),
            _ => {}
        }
        match self.filter(asks, result, modern) {
            Ok(result) => Outcome::Result(result),
            Err(why) => refused(&why),
        }
    }

    fn server_asks(&mut self, id: Id, method: &str, params: Object) {
        let refuse = |code, why: String| {
            let outcome = Outcome::Error(error(code, &why));
            let id = id.clone();
            Action::ToServerIfRoom(Frame::Response { id, outcome }.to_string())
        };
        let passes = methods::server_asks(method)
            && (method != "sampling/createMessage" || self.terms.passing.sampling);
        let repeated = self
            .asked
            .values()
            .any(|asked| matches!(asked, Asked::ByServer(other) if *other == id));
        let refused = if !passes {
            self.note_refused(method, "", "not-granted", "a request of the server");
            let why = format!("the method `{}` does not pass", brief(&visible(method)));
            Some(refuse(METHOD_NOT_FOUND, why))
        } else if repeated || self.asked.len() >= MAX_OPEN {
            let why = "too many open requests, or one with this id";
            Some(refuse(INVALID_REQUEST, why.to_owned()))
        } else if self.started == Started::No {
            // Without a session the server cannot ask the client anything.
            Some(refuse(INVALID_REQUEST, "there is no session".to_owned()))
        } else {
            None
        };
        if let Some(refused) = refused {
            return self.out.push(refused);
        }
        let number = self.number();
        self.asked.insert(number, Asked::ByServer(id));
        let request = Frame::Request {
            id: id_for_client(number),
            method: method.to_owned(),
            params,
        };
        self.send_client(request.to_string());
    }

    fn server_tells(&mut self, method: &str, mut params: Object) {
        let Some(says) = methods::says(method) else {
            return;
        };
        let subscription = match self.subscriber(&mut params) {
            Ok(subscription) => subscription,
            Err(Unknown) => return,
        };
        match says {
            Says::Cancelled => {
                let Some(id) = params.get("requestId").and_then(Id::read) else {
                    return;
                };
                let found = self
                    .asked
                    .iter()
                    .find(|(_, asked)| matches!(asked, Asked::ByServer(other) if *other == id));
                let Some(number) = found.map(|(number, _)| *number) else {
                    return;
                };
                self.asked.remove(&number);
                params.set("requestId", id_for_client(number).json());
                self.tell_client(method, params);
            }
            Says::Progress => {
                let token = params.get("progressToken").and_then(Id::read);
                if token.is_some() && self.open.values().any(|open| open.token == token) {
                    self.tell_client(method, params);
                }
            }
            Says::ToolsChanged | Says::ListChanged => {
                if says == Says::ToolsChanged {
                    self.fresh = None;
                    if let Some(walk) = &mut self.walk {
                        walk.outdated = true;
                    }
                }
                let passing = self.terms.passing;
                let passes = match method {
                    "notifications/prompts/list_changed" => passing.prompts,
                    "notifications/resources/list_changed" => passing.resources,
                    _ => true,
                };
                if self.told.len() >= MAX_TOLD {
                    self.told.clear();
                }
                // Once is enough until the client looks.
                if passes && self.told.insert((method.to_owned(), subscription)) {
                    self.tell_client(method, params);
                }
            }
            Says::ResourceUpdated => {
                let may = text(&params, "uri").is_some_and(|uri| self.warden.may_read(uri));
                if may {
                    self.tell_client(method, params);
                }
            }
            Says::Plain => self.tell_client(method, params),
        }
    }

    /// The client's id of the subscription that a notification belongs to, put in the place of the server's.
    fn subscriber(&self, params: &mut Object) -> Result<String, Unknown> {
        let Some(Json::Object(meta)) = params.get_mut("_meta") else {
            return Ok(String::new());
        };
        let Some(value) = meta.get(SUBSCRIPTION) else {
            return Ok(String::new());
        };
        // Servers write the id as it was, or as text.
        let number = match Id::read(value) {
            Some(Id::Number(number)) => u64::try_from(number).ok(),
            Some(Id::String(text)) => text.parse().ok(),
            None => None,
        };
        let sent = number.and_then(|number| self.sent.get(&number));
        let Some(Sent::For {
            whom,
            asks: Asks::Listen,
            ..
        }) = sent
        else {
            return Err(Unknown);
        };
        let id = whom.id.json();
        let shown = match value {
            Json::String(_) => Json::String(match &id {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            }),
            _ => id.clone(),
        };
        meta.set(SUBSCRIPTION, shown);
        Ok(id.to_string())
    }
}

/// A subscription that nobody has.
struct Unknown;
