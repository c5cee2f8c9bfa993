//! The session between two streams: a client on one side, a server on the other, a gate in between.
//!
//! Nothing here looks into a message. What cannot be recorded, written or answered ends the session.

mod child;
mod guard;
mod http;
mod lines;
mod settings;
mod suggest;

pub use http::Remote;
pub use settings::{Mode, PREDICATES, ProxyError, Server, Settings};

use crate::{Action, Note, NoteKind, Session, Verdict};
use child::Process;
use guard::{Event, Guard, Links, Tickets, call};
use horngate_gate::{
    Answer, AuditLog, Clock as _, End, Entry, Event as Happened, InvocationContext, InvocationId,
    Signatory, State, Store, SystemClock,
};
use lines::{Line, Outbox};
use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;
use suggest::Suggestions;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

/// How long what is under way may take after the client has ended its input.
const DRAIN: Duration = Duration::from_secs(30);
/// How long a server may take to end, before it is told, and before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);
/// The same when the proxy itself was told to end.
const SHORT_PATIENCE: Duration = Duration::from_millis(500);

/// Runs a server behind the gate, and answers `input` on `output`, until one of the two ends. Returns the server's exit
/// code.
///
/// # Errors
/// [`ProxyError`] when there is no gate or no server, or when something could not be recorded.
///
/// ```
/// use horngate::{Allowlist, Budget, Rulebase, Source};
/// use horngate_mcp::{Mode, Passing, Server, Settings, run};
///
/// let rules = Rulebase::load([Source::new("a.pl", "may_execute_tool('U:Qa', tool_echo).")])?;
/// let model = rules.evaluate(&Budget::default())?;
/// let settings = Settings {
///     allowlist: Allowlist::bind(&model, "may_execute_tool/2")?,
///     actor: "U:Qa".to_owned(),
///     server: Server::Command(vec!["cat".into()]),
///     namespace: None,
///     lock: None,
///     confined: Vec::new(),
///     store: None,
///     approvers: Vec::new(),
///     elicit: None,
///     audit: None,
///     audit_key: None,
///     mode: Mode::Enforce,
///     pass: Passing::default(),
///     accepted: Vec::new(),
/// };
/// assert_eq!(run(settings, std::io::empty(), std::io::sink())?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    settings: Settings,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<u8, ProxyError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(serve(settings, input, output));
    runtime.shutdown_background();
    ended
}

async fn serve(
    settings: Settings,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<u8, ProxyError> {
    let (events, mut told) = mpsc::unbounded_channel();
    let links = Links {
        events,
        tickets: Tickets::default(),
    };
    let built = settings.build(links.clone())?;
    let (mut process, to_server, mut from_server) = match &settings.server {
        Server::Command(command) => {
            let (process, to, from) = Process::start(command).map_err(ProxyError::Server)?;
            (Some(process), Outbox::new(to)?, lines::read(from)?)
        }
        Server::Url(remote) => {
            let (to, from) = remote.open();
            (None, Outbox::new(to)?, from)
        }
    };
    let mut shell = Shell {
        session: Session::new(built.guard, built.terms),
        client: Outbox::new(output)?,
        server: to_server,
        links,
        who: built.who,
        turn: 0,
        running: BTreeMap::new(),
        delivered: BTreeMap::new(),
        asked: BTreeMap::new(),
        signatory: built.signatory.map(Arc::new),
        store: built.store,
        gate_name: built.gate_name,
        server_name: settings.server.name(settings.namespace.as_ref()),
        audit: built.audit,
        lock: settings.lock.clone(),
        suggestions: built.suggestions,
    };
    let mut from_client = lines::read(input)?;
    let ended = shell
        .pump(
            &mut from_client,
            &mut from_server,
            &mut told,
            process.as_mut(),
        )
        .await;
    drop((from_client, from_server));
    shell.stop_all().await;
    let patience = match &ended {
        Ok(Ended::ByStreams) => PATIENCE,
        Ok(Ended::BySignal) | Err(_) => SHORT_PATIENCE,
    };
    shell.server.close();
    shell.client.close();
    let code = match process {
        Some(process) => process.end(patience).await,
        None => {
            // The end of the session is told.
            let _ = tokio::time::timeout(PATIENCE, async {
                while !shell.server.is_closed() {
                    shell.server.changed().await;
                }
            })
            .await;
            0
        }
    };
    let flushed = Instant::now() + PATIENCE;
    while !shell.client.is_closed() && Instant::now() < flushed {
        let _ = tokio::time::timeout(PATIENCE, shell.client.changed()).await;
    }
    ended.map(|_| code)
}

/// Why the session is over.
#[derive(Clone, Copy)]
enum Ended {
    ByStreams,
    BySignal,
}

struct Shell {
    session: Session<Guard>,
    client: Outbox,
    server: Outbox,
    links: Links,
    who: InvocationContext,
    /// The last turn: each request of the client is one.
    turn: u64,
    running: BTreeMap<u64, (AbortHandle, InvocationId)>,
    /// Released calls that wait for the server's answer.
    delivered: BTreeMap<u64, oneshot::Sender<Option<String>>>,
    asked: BTreeMap<u64, oneshot::Sender<Answer>>,
    signatory: Option<Arc<Signatory>>,
    store: Arc<dyn Store>,
    gate_name: String,
    server_name: String,
    audit: Option<Arc<AuditLog>>,
    lock: Option<std::path::PathBuf>,
    suggestions: Option<Suggestions>,
}

impl Shell {
    async fn pump(
        &mut self,
        from_client: &mut mpsc::Receiver<Line>,
        from_server: &mut mpsc::Receiver<Line>,
        events: &mut mpsc::UnboundedReceiver<Event>,
        mut process: Option<&mut Process>,
    ) -> Result<Ended, ProxyError> {
        let mut term = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut child = signal(SignalKind::child())?;
        let (mut client_ended, mut server_ended) = (false, false);
        // What a server leaves behind may keep its output open, so its end is looked for, too.
        let (mut look, mut exited): (bool, Option<Instant>) = (true, None);
        let mut deadline: Option<Instant> = None;
        loop {
            if self.client.is_closed() || (deadline.is_some() && self.session.is_idle()) {
                return Ok(Ended::ByStreams);
            }
            if self.server.is_closed() || server_ended {
                let actions = self.session.server_gone("the server does not listen");
                self.apply(actions)?;
            }
            if let Some(process) = process.as_mut().filter(|_| look)
                && process.has_ended()
            {
                exited.get_or_insert(Instant::now() + PATIENCE);
            }
            look = false;
            let until = deadline.unwrap_or_else(|| Instant::now() + DRAIN);
            let heard = exited.unwrap_or(until);
            tokio::select! {
                Some(event) = events.recv() => self.event(event)?,
                // Not by what the server takes: that the client has gone must be noticed, whatever the server does.
                line = from_client.recv(), if !client_ended && !self.client.is_full() => {
                    let actions = match line {
                        Some(Line::Text(line)) if self.server.is_full() => {
                            self.session.from_client_while_busy(&line)
                        }
                        Some(Line::Text(line)) => self.session.from_client(&line),
                        Some(Line::Oversize) => self.session.oversize_from_client(),
                        None => {
                            client_ended = true;
                            deadline.get_or_insert(Instant::now() + DRAIN);
                            self.session.client_gone()
                        }
                    };
                    self.apply(actions)?;
                }
                line = from_server.recv(), if !server_ended && !self.client.is_full() => {
                    let actions = match line {
                        Some(Line::Text(line)) => self.session.from_server(&line),
                        Some(Line::Oversize) => self.session.oversize_from_server(),
                        None => {
                            server_ended = true;
                            deadline = Some(Instant::now() + PATIENCE);
                            self.server_gone()
                        }
                    };
                    self.apply(actions)?;
                }
                () = sleep_until(heard), if exited.is_some() && !server_ended => {
                    server_ended = true;
                    deadline = Some(Instant::now() + PATIENCE);
                    let actions = self.server_gone();
                    self.apply(actions)?;
                }
                _ = child.recv() => look = true,
                () = self.client.changed() => {}
                () = self.server.changed() => {}
                _ = term.recv() => return Ok(Ended::BySignal),
                _ = interrupt.recv() => return Ok(Ended::BySignal),
                _ = hangup.recv() => return Ok(Ended::BySignal),
                () = sleep_until(until), if deadline.is_some() => return Ok(Ended::ByStreams),
            }
        }
    }

    fn server_gone(&mut self) -> Vec<Action> {
        self.server.close();
        let mut actions = self.session.client_gone();
        actions.extend(self.session.server_gone("the server has ended"));
        actions
    }

    fn event(&mut self, event: Event) -> Result<(), ProxyError> {
        let actions = match event {
            Event::Released {
                ticket,
                arguments,
                done,
            } => {
                self.delivered.insert(ticket, done);
                self.session.released(ticket, &arguments)
            }
            Event::Finished { ticket, verdict } => {
                self.running.remove(&ticket);
                self.delivered.remove(&ticket);
                if let Verdict::Refused(refused) = &verdict {
                    tell(&format!("refused: {}", refused.text));
                }
                self.session.finished(ticket, verdict)
            }
            Event::Ask {
                ticket,
                request,
                reply,
            } => {
                self.asked.insert(ticket, reply);
                self.session.ask(ticket, &request)
            }
            Event::Signed { ticket, approved } => self.session.signed(ticket, approved),
            Event::Used(used) => {
                if let Some(suggestions) = &mut self.suggestions {
                    suggestions.add(used)?;
                }
                Vec::new()
            }
        };
        self.apply(actions)
    }

    fn apply(&mut self, actions: Vec<Action>) -> Result<(), ProxyError> {
        let mut actions = VecDeque::from(actions);
        while let Some(action) = actions.pop_front() {
            match action {
                Action::ToServer(line) => self.server.send(line),
                Action::ToServerIfRoom(line) if self.server.is_full() => drop(line),
                Action::ToServerIfRoom(line) => self.server.send(line),
                Action::ToClient(line) => self.client.send(line),
                Action::Call {
                    ticket,
                    tool,
                    arguments,
                } => self.call(ticket, tool, arguments),
                Action::Abandon { ticket } => self.abandon(ticket),
                Action::Deliver { ticket, failed } => {
                    if let Some(done) = self.delivered.remove(&ticket) {
                        // The call may be gone.
                        let _ = done.send(failed);
                    }
                }
                Action::Answered { ticket, answer } => {
                    if let Some(reply) = self.asked.remove(&ticket) {
                        let _ = reply.send(answer);
                    }
                }
                Action::Sign {
                    ticket,
                    approval,
                    approve,
                } => self.sign(ticket, approval, approve),
                Action::WriteLock(text) => self.write_lock(&text)?,
                Action::Note(note) => self.note(&note)?,
            }
        }
        Ok(())
    }

    /// A turn later than all before it.
    fn next_turn(&mut self) -> InvocationContext {
        let now = SystemClock.now().saturating_mul(1000);
        self.turn = self.turn.saturating_add(1).max(now);
        let (actor, session) = (self.who.actor(), self.who.session());
        InvocationContext::new(actor, session, InvocationId(self.turn))
    }

    fn call(&mut self, ticket: u64, tool: String, arguments: String) {
        let context = self.next_turn();
        let turn = context.invocation();
        self.links.tickets.enter(turn, ticket);
        let gated = self.session.warden().gated.clone();
        let links = self.links.clone();
        let task = tokio::spawn(call(gated, links, context, ticket, tool, arguments));
        self.running.insert(ticket, (task.abort_handle(), turn));
    }

    /// Ends a call that was not released. What it asked for is void.
    fn abandon(&mut self, ticket: u64) {
        self.asked.remove(&ticket);
        self.delivered.remove(&ticket);
        let Some((task, turn)) = self.running.remove(&ticket) else {
            return;
        };
        task.abort();
        self.links.tickets.leave(turn);
        let void = self.void(move |asked| asked == turn);
        drop(tokio::task::spawn_blocking(void));
    }

    /// Voids what is pending or approved in this session.
    fn void<F: Fn(InvocationId) -> bool + Send + 'static>(
        &self,
        which: F,
    ) -> impl FnOnce() + Send + use<F> {
        let (store, gate) = (Arc::clone(&self.store), self.gate_name.clone());
        let session = self.who.session().to_owned();
        move || {
            let now = SystemClock.now();
            for record in store.list().unwrap_or_default() {
                let request = &record.request;
                let ours = request.gate == gate && request.session == session;
                let live = matches!(record.state, State::Pending | State::Approved);
                if ours
                    && live
                    && which(request.invocation)
                    && let Err(error) = store.end(&request.id, End::Void, now)
                {
                    tell(&format!(
                        "a request for approval could not be made void: {error}"
                    ));
                }
            }
        }
    }

    /// Nothing of the session can run any more.
    async fn stop_all(&mut self) {
        for (task, _) in std::mem::take(&mut self.running).into_values() {
            task.abort();
        }
        self.delivered.clear();
        self.asked.clear();
        let void = self.void(|_| true);
        let _ = tokio::task::spawn_blocking(void).await;
    }

    /// Enters what the client's user said, under the name and with the key that stand for them.
    fn sign(&self, ticket: u64, approval: String, approve: bool) {
        let (store, signatory) = (Arc::clone(&self.store), self.signatory.clone());
        let gated = self.session.warden().gated.clone();
        let events = self.links.events.clone();
        tokio::task::spawn_blocking(move || {
            let now = SystemClock.now();
            let enter = || {
                let signatory = signatory.ok_or("nobody can answer here")?;
                let guard::Gated::Gate(gate) = gated else {
                    return Ok(());
                };
                let record = store.get(&approval).map_err(|error| error.to_string())?;
                let record = record.ok_or("the request is gone")?;
                let verdict = signatory
                    .answer(&record.request, approve, now)
                    .map_err(|error| error.to_string())?;
                gate.submit(&verdict).map_err(|error| error.to_string())?;
                match approve {
                    true => Ok(()),
                    false => Err("the person declined the call".to_owned()),
                }
            };
            let approved = enter();
            let _ = events.send(Event::Signed { ticket, approved });
        });
    }

    fn write_lock(&self, text: &str) -> Result<(), ProxyError> {
        let Some(path) = &self.lock else {
            return Ok(());
        };
        let written = std::fs::File::create_new(path).and_then(|mut file| {
            let written = file.write_all(text.as_bytes());
            let written = written.and_then(|()| file.sync_all());
            if written.is_err() {
                // Half a lock would be refused, and never be written anew.
                let _ = std::fs::remove_file(path);
            }
            written
        });
        written.map_err(|error| ProxyError::Unwritten(path.clone(), error))?;
        tell(&format!(
            "wrote `{}` with the definitions of the server's tools as they are now: review it",
            path.display()
        ));
        Ok(())
    }

    /// Records what is no call of a tool. A refusal stays one whether or not it can be written down.
    fn note(&self, note: &Note) -> Result<(), ProxyError> {
        let Some(audit) = &self.audit else {
            return Ok(());
        };
        let (happened, subject) = match note.kind {
            NoteKind::Passed => (Happened::Executed, &note.subject),
            NoteKind::Refused => (Happened::Denied, &note.subject),
        };
        let subject = horngate_gate::visible(subject);
        let detail = match (&*note.method, &*note.detail) {
            ("", detail) => detail.to_owned(),
            (method, "") => method.to_owned(),
            (method, detail) => format!("{method}: {detail}"),
        };
        let detail = horngate_gate::visible(&detail);
        let mut line = Entry::new(SystemClock.now(), happened, &self.gate_name);
        line.chain = vec![self.who.actor()];
        line.session = self.who.session();
        line.server = &self.server_name;
        line.tool = &subject;
        line.reason = note.reason;
        line.detail = &detail;
        match (audit.append(&line), note.kind) {
            (Err(error), NoteKind::Passed) => Err(ProxyError::Unrecorded(error)),
            _ => Ok(()),
        }
    }
}

/// Tells the operator something: on standard error, which is neither side's.
fn tell(text: &str) {
    let text = horngate_gate::visible(text);
    let _ = writeln!(std::io::stderr().lock(), "horngate mcp: {text}");
}
