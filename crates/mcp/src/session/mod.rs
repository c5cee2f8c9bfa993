//! What passes between a client and a server: a machine of frames, without any input or output.
//!
//! Nothing here waits, reads a clock or runs a tool. A call goes to the gate as an [`Action`]; only what the gate releases
//! is written to the server.

mod calls;
mod client;
mod lists;
mod server;

pub use calls::{Refused, Verdict};

use crate::catalog::{Catalog, Lock, Namespace};
use crate::frame::{Frame, Id, Outcome, brief, error, error_to_nobody};
use crate::json::{Json, Object};
use crate::methods::{Asks, Passing};
use calls::{Call, Saved};
use horngate_gate::{Answer, Request, ToolSpec};
use lists::{Waiter, Walk};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many requests of the client, and how many of the server, may be open.
const MAX_OPEN: usize = 256;
/// How many bytes the open requests of the client may have.
const MAX_OPEN_BYTES: usize = 4 * crate::MAX_FRAME_BYTES;
/// How many changes may be told that the client has not asked about.
const MAX_TOLD: usize = 1024;

/// What decides.
pub trait Warden {
    /// The tools that the server has now, in place of those that it had.
    fn install(&mut self, tools: &[ToolSpec]);
    /// The names of the tools that the actor may run: what is shown.
    fn granted(&self) -> BTreeSet<String>;
    /// Whether the actor may read a resource.
    fn may_read(&self, uri: &str) -> bool;
    /// Whether the actor may use a prompt.
    fn may_use(&self, prompt: &str) -> bool;
    /// A resource that may be read is asked for, or a prompt that may be used.
    fn uses(&self, _: Subject<'_>) {}
}

/// Something beside a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject<'s> {
    /// A resource, by its URI.
    Resource(&'s str),
    /// A prompt, by its name.
    Prompt(&'s str),
}

impl<'s> Subject<'s> {
    fn text(self) -> &'s str {
        match self {
            Self::Resource(text) | Self::Prompt(text) => text,
        }
    }
}

/// What an operator decides about a session.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The server's name in the names of its tools.
    pub namespace: Option<Namespace>,
    /// Which definitions pass.
    pub lock: Lock,
    /// What passes beside tools.
    pub passing: Passing,
    /// The client's user is asked for consent.
    pub elicit: bool,
}

/// What is to be done.
#[derive(Debug)]
pub enum Action {
    /// Write a line to the server.
    ToServer(String),
    /// Write a line to the server, unless much waits to be written there: nobody is worse off without it.
    ToServerIfRoom(String),
    /// Write a line to the client.
    ToClient(String),
    /// Call a tool through the gate, and say [`Session::finished`] then.
    Call {
        /// Names the call.
        ticket: u64,
        /// The tool, by its name here.
        tool: String,
        /// The text of its arguments.
        arguments: String,
    },
    /// The client does not want the call any more, and it was not released: nothing of it may run.
    Abandon {
        /// The call.
        ticket: u64,
    },
    /// The server has answered a call that was released.
    Deliver {
        /// The call.
        ticket: u64,
        /// How it failed, if it did.
        failed: Option<String>,
    },
    /// The client's user has answered what [`Session::ask`] asked.
    Answered {
        /// The call.
        ticket: u64,
        /// The answer.
        answer: Answer,
    },
    /// The client's user has answered a pending request, and waits for the call: answer it, and say
    /// [`Session::signed`] then.
    Sign {
        /// The call, which was not started.
        ticket: u64,
        /// The request for approval.
        approval: String,
        /// Whether it is a yes.
        approve: bool,
    },
    /// Write the lock of the first list of tools.
    WriteLock(String),
    /// Write a line into the audit log.
    Note(Note),
}

/// Something to be recorded that is no call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What became of it.
    pub kind: NoteKind,
    /// The method, as far as it is known.
    pub method: String,
    /// The tool, resource or prompt.
    pub subject: String,
    /// Why.
    pub reason: &'static str,
    /// The same in words.
    pub detail: String,
}

/// What became of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// It was passed on.
    Passed,
    /// It was not.
    Refused,
}

/// One client and one server.
///
/// ```
/// use horngate_gate::ToolSpec;
/// use horngate_mcp::{Action, Session, Terms, Warden};
/// use std::collections::BTreeSet;
///
/// struct Nothing;
///
/// impl Warden for Nothing {
///     fn install(&mut self, _: &[ToolSpec]) {}
///     fn granted(&self) -> BTreeSet<String> {
///         BTreeSet::new()
///     }
///     fn may_read(&self, _: &str) -> bool {
///         false
///     }
///     fn may_use(&self, _: &str) -> bool {
///         false
///     }
/// }
///
/// let mut session = Session::new(Nothing, Terms::default());
/// let batch = br#"[{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "rm"}}]"#;
/// let said = session.from_client(batch);
/// assert!(!said.iter().any(|action| matches!(action, Action::ToServer(_))));
/// assert!(said.iter().any(|action| matches!(action, Action::ToClient(line) if line.contains("batches"))));
/// ```
pub struct Session<W> {
    warden: W,
    terms: Terms,
    started: Started,
    /// The client, as it said when the session began, can show a form.
    can_elicit: bool,
    next: u64,
    /// The client has said that the session has begun.
    initialized: bool,
    /// What the client said before the server had answered to its first request, and how long it was.
    early: Vec<(Frame, usize)>,
    /// How many bytes that was.
    early_bytes: usize,
    /// How long the frame is that is looked at.
    frame_bytes: usize,
    /// What the client has asked and was not answered.
    open: BTreeMap<Id, Open>,
    /// What was asked of the server, by the id that it was asked with.
    sent: BTreeMap<u64, Sent>,
    /// What was asked of the client, by the number in the id that it was asked with.
    asked: BTreeMap<u64, Asked>,
    calls: BTreeMap<u64, Call>,
    catalog: Catalog,
    /// The list that the catalog is of, if it is still the server's.
    fresh: Option<String>,
    walk: Option<Walk>,
    waiting: VecDeque<Waiter>,
    /// What the client was told has changed and has not asked for since.
    told: BTreeSet<(String, String)>,
    /// What waits for an answer of the client's user, by the request for approval.
    saved: BTreeMap<String, Saved>,
    /// What the client's user is to be asked in the result of a call, by the request for approval.
    prompts: BTreeMap<String, String>,
    out: Vec<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Started {
    No,
    Asked,
    Yes,
}

/// What the client has asked.
#[derive(Debug)]
struct Open {
    /// No other request has this number, while another may have the id when this one is over.
    serial: u64,
    step: Step,
    token: Option<Id>,
    bytes: usize,
}

/// Whom to answer: one request, and no later one with its id.
#[derive(Clone, Debug)]
struct Whom {
    id: Id,
    serial: u64,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It waits for the list of tools.
    Waits,
    Sent(u64),
    Call(u64),
}

/// What was asked of the server.
#[derive(Debug)]
enum Sent {
    /// By the proxy itself: a page of the list of tools.
    Walk,
    Call(u64),
    For {
        whom: Whom,
        asks: Asks,
        modern: bool,
    },
}

/// What was asked of the client.
#[derive(Debug)]
enum Asked {
    ByServer(Id),
    ByGate(u64),
}

impl<W: Warden> Session<W> {
    /// A session in which nothing was said.
    pub fn new(warden: W, terms: Terms) -> Self {
        Self {
            warden,
            terms,
            started: Started::No,
            can_elicit: false,
            initialized: false,
            next: 1,
            early: Vec::new(),
            early_bytes: 0,
            frame_bytes: 0,
            open: BTreeMap::new(),
            sent: BTreeMap::new(),
            asked: BTreeMap::new(),
            calls: BTreeMap::new(),
            catalog: Catalog::default(),
            fresh: None,
            walk: None,
            waiting: VecDeque::new(),
            told: BTreeSet::new(),
            saved: BTreeMap::new(),
            prompts: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    /// Takes a line from the client.
    pub fn from_client(&mut self, line: &[u8]) -> Vec<Action> {
        self.frame_bytes = line.len();
        self.client_frame(line);
        std::mem::take(&mut self.out)
    }

    /// Takes a line from the client while the server does not take what was sent to it: requests are refused, and only
    /// what ends something is done.
    pub fn from_client_while_busy(&mut self, line: &[u8]) -> Vec<Action> {
        self.frame_bytes = line.len();
        self.busy_frame(line);
        std::mem::take(&mut self.out)
    }

    /// Takes a line from the server.
    pub fn from_server(&mut self, line: &[u8]) -> Vec<Action> {
        self.frame_bytes = line.len();
        self.server_frame(line);
        std::mem::take(&mut self.out)
    }

    /// The client sent a line that was too long to be read.
    pub fn oversize_from_client(&mut self) -> Vec<Action> {
        let why = too_long();
        self.note_refused("", "", "malformed", &why);
        self.send_client(error_to_nobody(crate::frame::INVALID_REQUEST, &why));
        std::mem::take(&mut self.out)
    }

    /// The server sent a line that was too long to be read. Nobody knows what it answered, so all that waits is over.
    pub fn oversize_from_server(&mut self) -> Vec<Action> {
        self.fail_sent(&format!("of the server: {}", too_long()));
        std::mem::take(&mut self.out)
    }

    /// The server is gone: all that waits for it is over.
    pub fn server_gone(&mut self, why: &str) -> Vec<Action> {
        self.fail_sent(why);
        std::mem::take(&mut self.out)
    }

    /// The client will not say more: nobody there can be asked.
    pub fn client_gone(&mut self) -> Vec<Action> {
        for (_, asked) in std::mem::take(&mut self.asked) {
            if let Asked::ByGate(ticket) = asked {
                let answer = Answer::Deny("the client is gone".to_owned());
                self.out.push(Action::Answered { ticket, answer });
            }
        }
        std::mem::take(&mut self.out)
    }

    /// The gate lets a call pass: `arguments` are what it was approved with. The call goes to the server.
    pub fn released(&mut self, ticket: u64, arguments: &str) -> Vec<Action> {
        self.release(ticket, arguments);
        std::mem::take(&mut self.out)
    }

    /// What the gate says in the end.
    pub fn finished(&mut self, ticket: u64, verdict: Verdict) -> Vec<Action> {
        self.finish(ticket, verdict);
        std::mem::take(&mut self.out)
    }

    /// The gate wants the client's user to be asked.
    pub fn ask(&mut self, ticket: u64, request: &Request) -> Vec<Action> {
        self.ask_client(ticket, request);
        std::mem::take(&mut self.out)
    }

    /// What the client's user answered was entered: as a yes, or why the call is not approved.
    pub fn signed(&mut self, ticket: u64, approved: Result<(), String>) -> Vec<Action> {
        match approved {
            Ok(()) => self.start(ticket),
            Err(why) => self.deny_unstarted(ticket, "declined", &why),
        }
        std::mem::take(&mut self.out)
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.open.is_empty()
            && self.calls.is_empty()
            && self.early.is_empty()
            && self.waiting.is_empty()
    }

    /// What decides.
    pub fn warden(&self) -> &W {
        &self.warden
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    fn send_client(&mut self, line: String) {
        self.out.push(Action::ToClient(line));
    }

    /// Sends a request to the server.
    fn send_server(&mut self, method: &str, params: Object, sent: Sent) -> u64 {
        let number = self.number();
        let request = Frame::Request {
            id: number_id(number),
            method: method.to_owned(),
            params,
        };
        self.out.push(Action::ToServer(request.to_string()));
        self.sent.insert(number, sent);
        number
    }

    fn tell_server(&mut self, method: &str, params: Object) {
        let method = method.to_owned();
        let told = Frame::Notification { method, params };
        self.out.push(Action::ToServer(told.to_string()));
    }

    fn tell_client(&mut self, method: &str, params: Object) {
        let method = method.to_owned();
        let told = Frame::Notification { method, params };
        self.send_client(told.to_string());
    }

    /// Whether the client still waits.
    fn waits(&self, whom: &Whom) -> bool {
        let open = self.open.get(&whom.id);
        open.is_some_and(|open| open.serial == whom.serial)
    }

    fn open_mut(&mut self, whom: &Whom) -> Option<&mut Open> {
        let open = self.open.get_mut(&whom.id);
        open.filter(|open| open.serial == whom.serial)
    }

    /// Answers the client, if it still waits.
    fn answer(&mut self, whom: &Whom, outcome: Outcome) {
        if self.waits(whom) {
            self.open.remove(&whom.id);
            let id = whom.id.clone();
            self.send_client(Frame::Response { id, outcome }.to_string());
        }
    }

    fn answer_error(&mut self, whom: &Whom, code: i64, message: &str) {
        self.answer(whom, Outcome::Error(error(code, message)));
    }

    fn note(
        &mut self,
        kind: NoteKind,
        method: &str,
        subject: &str,
        reason: &'static str,
        detail: &str,
    ) {
        self.out.push(Action::Note(Note {
            kind,
            method: brief(method),
            subject: subject.to_owned(),
            reason,
            detail: brief(detail),
        }));
    }

    fn note_refused(&mut self, method: &str, subject: &str, reason: &'static str, detail: &str) {
        self.note(NoteKind::Refused, method, subject, reason, detail);
    }

    /// Ends all that waits for the server.
    fn fail_sent(&mut self, why: &str) {
        // A list that cannot be read may be asked for again, once for each that waits for it.
        while let Some(number) = self.sent.keys().next().copied() {
            let outcome = Outcome::Error(error(crate::frame::INTERNAL_ERROR, why));
            self.server_answered(number, outcome);
        }
    }
}

fn too_long() -> String {
    format!("a message is longer than {} bytes", crate::MAX_FRAME_BYTES)
}

fn number_id(number: u64) -> Id {
    Id::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The id of a request to the client: of another kind than those to the server, so that none is taken for the other.
fn id_for_client(number: u64) -> Id {
    Id::String(format!("horngate-{number}"))
}

fn asked_number(id: &Id) -> Option<u64> {
    let number = match id {
        Id::String(text) => text.strip_prefix("horngate-")?.parse().ok()?,
        Id::Number(_) => return None,
    };
    (id_for_client(number) == *id).then_some(number)
}

fn text<'o>(object: &'o Object, key: &str) -> Option<&'o str> {
    object.get(key).and_then(Json::as_str)
}
