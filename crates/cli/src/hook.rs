//! `horngate hook`: what a coding agent asks before it runs a tool.
//!
//! A host goes on when a hook ends with anything but 2, so nothing here ends otherwise unless the call is allowed: not
//! bad usage, not a panic, and not an abort or a kill either, since another process does the work.

use crate::args::Hook;
use crate::files::Keep;
use crate::printable::printable;
use crate::{guard, render, rules, secret};
use horngate_gate::{
    Arguments, AuditLog, Clock as _, Durability, Entry, Event, InvocationContext, InvocationId,
    MAX_ARGUMENT_BYTES, PolicyError, Precheck, RESTRICTIONS, SystemClock,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
#[cfg(unix)]
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// How long all may take: less than hosts wait before they go on without an answer.
const LIMIT: Duration = Duration::from_secs(20);

/// Longer than anybody waits.
const MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest name of a tool or a session.
const MAX_NAME_BYTES: usize = 1024;

/// How much a model is told at the most.
const MAX_TOLD: usize = 600;

const CLOSED: &str = "error: the host is not there: standard output is closed";

/// More than any answer has.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// Whether the call is allowed, and the host was told so.
pub(crate) fn run(args: &Hook) -> bool {
    let answer = match args.worker {
        true => decide(args),
        false => supervise(args.limits.timeout.unwrap_or(LIMIT)),
    };
    let told = answer.and_then(|answer| {
        tell_host(&answer).map_err(|error| Some(format!("error: the host is not there: {error}")))
    });
    match told {
        Ok(()) => true,
        Err(why) => {
            if let Some(why) = why {
                render::tell(&format!("horngate: denied: {}", shortened(&why)));
            }
            false
        }
    }
}

/// The answer to print, or why there is none, unless somebody has said so already.
type Answer = Result<Vec<u8>, Option<String>>;

/// Lets another process decide, since what kills that one (a full memory, a full stack) must deny.
fn supervise(limit: Duration) -> Answer {
    let failed =
        |what: &str, error: &dyn std::fmt::Display| Some(format!("error: {what}: {error}"));
    if is_nowhere() {
        return Err(Some(CLOSED.to_owned()));
    }
    let until = Instant::now() + limit.min(MOST);
    let program = env::current_exe().map_err(|error| failed("no program", &error))?;
    let (sender, receiver) = mpsc::channel();
    listen_for_signals(sender.clone()).map_err(|error| failed("no signals", &error))?;
    let mut worker = Command::new(program)
        .args(["hook", "--worker"])
        .args(env::args_os().skip(2))
        .stdin(Stdio::inherit())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| failed("no process", &error))?;
    let answer = listen(&mut worker, until, sender, &receiver);
    if answer.is_err() {
        // It may have ended already.
        let _ = worker.kill();
        let _ = worker.wait();
    }
    answer
}

/// What a worker wrote, or why that is not known.
type Heard = io::Result<Vec<u8>>;

/// Takes a signal that asks the process to end for an answer that is no: a process that a signal ends has another code.
#[cfg(unix)]
fn listen_for_signals(sender: mpsc::Sender<Heard>) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
        SignalKind::quit(),
    ];
    let within = runtime.enter();
    let mut signals = kinds
        .into_iter()
        .map(signal)
        .collect::<io::Result<Vec<_>>>()?;
    drop(within);
    thread::Builder::new().spawn(move || {
        runtime.block_on(std::future::poll_fn(|context| {
            let came = signals
                .iter_mut()
                .any(|signal| signal.poll_recv(context).is_ready());
            if came { Poll::Ready(()) } else { Poll::Pending }
        }));
        drop(sender.send(Err(io::Error::other("a signal asked for the end"))));
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn listen_for_signals(_: mpsc::Sender<Heard>) -> io::Result<()> {
    Ok(())
}

fn listen(
    worker: &mut Child,
    until: Instant,
    sender: mpsc::Sender<Heard>,
    receiver: &mpsc::Receiver<Heard>,
) -> Answer {
    let late = || Some("error: no answer in time".to_owned());
    let lost = |error: &dyn std::fmt::Display| Some(format!("error: no answer: {error}"));
    let Some(stdout) = worker.stdout.take() else {
        return Err(lost(&"no pipe"));
    };
    thread::Builder::new()
        .spawn(move || {
            let mut answer = Vec::new();
            let read = stdout.take(MAX_ANSWER_BYTES).read_to_end(&mut answer);
            // Nobody listens when the time is over.
            drop(sender.send(read.map(|_| answer)));
        })
        .map_err(|error| lost(&error))?;
    let answer = receiver
        .recv_timeout(until.saturating_duration_since(Instant::now()))
        .map_err(|_| late())?
        .map_err(|error| lost(&error))?;
    let status = loop {
        match worker.try_wait().map_err(|error| lost(&error))? {
            Some(status) => break status,
            None if Instant::now() >= until => return Err(late()),
            None => thread::sleep(Duration::from_micros(200)),
        }
    };
    match status.code() {
        Some(0) if answer.ends_with(b"}\n") => Ok(answer),
        // It has said why.
        Some(2) => Err(None),
        _ => Err(Some(format!("error: the check ended with {status}"))),
    }
}

/// Writes the answer where the host reads it.
fn tell_host(answer: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(answer)?;
    out.flush()
}

/// Whether standard output was closed when the program began: `/dev/null` was then opened in its place, for reading, too.
#[cfg(unix)]
fn is_nowhere() -> bool {
    use rustix::fs::{OFlags, fcntl_getfl};
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;
    let out = io::stdout();
    let about = out.as_fd().try_clone_to_owned();
    let about = about.and_then(|out| std::fs::File::from(out).metadata());
    let (Ok(about), Ok(flags)) = (about, fcntl_getfl(&out)) else {
        return true;
    };
    flags & OFlags::RWMODE == OFlags::RDWR
        && std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == about.rdev())
}

#[cfg(not(unix))]
fn is_nowhere() -> bool {
    false
}

/// What the host asks.
struct Call {
    tool: String,
    session: String,
    arguments: Option<Arguments>,
}

impl Call {
    /// Reads the host's JSON. Nothing that it says of an actor is looked at.
    fn parse(text: &str) -> Result<Self, String> {
        let input = Arguments::parse(text).map_err(|error| error.to_string())?;
        let input = input.value();
        match input.get("hook_event_name") {
            None => {}
            Some(Value::String(event)) if event == "PreToolUse" => {}
            Some(_) => return Err("only the event `PreToolUse` has an answer".to_owned()),
        }
        let name = |key: &str| match input.get(key) {
            None => Ok(None),
            Some(Value::String(name)) if name.len() <= MAX_NAME_BYTES => Ok(Some(name.clone())),
            Some(Value::String(_)) => Err(format!("`{key}` is longer than {MAX_NAME_BYTES} bytes")),
            Some(_) => Err(format!("`{key}` is no text")),
        };
        let tool = name("tool_name")?.filter(|tool| !tool.is_empty());
        let arguments = match input.get("tool_input") {
            None => None,
            Some(given) => Some(
                Arguments::parse(&given.to_string())
                    .map_err(|error| format!("`tool_input`: {error}"))?,
            ),
        };
        Ok(Self {
            tool: tool.ok_or("it names no tool: `tool_name` is missing")?,
            session: name("session_id")?.unwrap_or_default(),
            arguments,
        })
    }
}

/// What is decided, for the host and for the log.
struct Verdict {
    event: Event,
    reason: &'static str,
    /// What is derived, or why it is denied.
    message: String,
    policy: String,
}

impl Verdict {
    fn error(message: String) -> Self {
        Self {
            event: Event::Error,
            reason: "error",
            message,
            policy: String::new(),
        }
    }
}

/// Decides in this process.
fn decide(args: &Hook) -> Answer {
    let log = log(args).map_err(|why| Some(format!("error: {why}")))?;
    let input = standard_input();
    let call = input
        .as_deref()
        .map_err(Clone::clone)
        .and_then(Call::parse)
        .map_err(|why| format!("the host's JSON is refused: {why}"));
    let verdict = match &call {
        Ok(call) => judge(args, call),
        Err(why) => Verdict::error(why.clone()),
    };
    if let Some(log) = log {
        let written = write_down(&log, args, call.as_ref().ok(), &verdict);
        written
            .map_err(|error| Some(format!("error: the audit log cannot be written: {error}")))?;
    }
    if verdict.event != Event::Executing {
        return Err(Some(format!("{}: {}", verdict.reason, verdict.message)));
    }
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": format!("{} is derived", printable(&verdict.message)),
    }});
    Ok(format!("{answer}\n").into_bytes())
}

fn log(args: &Hook) -> Result<Option<AuditLog>, String> {
    let Some(path) = &args.audit else {
        return Ok(None);
    };
    let key = args.audit_key.as_deref().map(secret::log_key).transpose();
    let key = key.map_err(|problem| problem.message())?;
    AuditLog::open_with(path, Durability::EachLine, key.as_deref())
        .map(Some)
        .map_err(|error| format!("the audit log cannot be opened: {error}"))
}

fn standard_input() -> Result<String, String> {
    let limit = MAX_ARGUMENT_BYTES as u64;
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > limit {
        return Err(format!("it is longer than {limit} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn judge(args: &Hook, call: &Call) -> Verdict {
    let (paths, authority, budget) = (
        args.rules.paths.clone(),
        args.authority.clone(),
        args.limits.budget(),
    );
    let accepted: BTreeMap<String, String> = args.accept_doubt.iter().cloned().collect();
    // The log names the policy.
    let keep = match args.audit {
        Some(_) => Keep::Digests,
        None => Keep::Nothing,
    };
    let bound = guard::run(args.limits.timeout, move || {
        let bound = rules::bind_here_with(&paths, &authority, &budget, keep, &RESTRICTIONS)?;
        let policy = bound.allowlist.policy_hash().unwrap_or_default();
        Ok((policy, Precheck::accepting(bound.allowlist, &accepted)))
    });
    let (policy, precheck) = match bound {
        Ok((policy, Ok(precheck))) => (policy, precheck),
        Ok((policy, Err(error))) => {
            return Verdict {
                policy,
                ..Verdict::error(match error {
                    PolicyError::Doubt { lint, message } => format!(
                        "{lint}: {message}; give `--accept-doubt {lint}=REASON` if that is meant"
                    ),
                    error => error.to_string(),
                })
            };
        }
        Err(problem) => {
            return Verdict::error(format!("{}; see horngate check", problem.message()));
        }
    };
    let context = InvocationContext::new(&args.actor, &call.session, InvocationId(0));
    match precheck.check(&context, &call.tool) {
        Ok(derivation) => Verdict {
            event: Event::Executing,
            reason: "",
            message: derivation,
            policy,
        },
        Err(refusal) => Verdict {
            event: Event::Denied,
            reason: refusal.reason.as_str(),
            message: refusal.message,
            policy,
        },
    }
}

fn write_down(
    log: &AuditLog,
    args: &Hook,
    call: Option<&Call>,
    verdict: &Verdict,
) -> io::Result<()> {
    let mut entry = Entry::new(SystemClock.now(), verdict.event, "hook");
    entry.chain = vec![&args.actor];
    if let Some(call) = call {
        (entry.tool, entry.session) = (&call.tool, &call.session);
        if let Some(arguments) = &call.arguments {
            entry = entry.with_arguments(arguments);
        }
    }
    entry.reason = verdict.reason;
    match verdict.event {
        Event::Executing => entry.derivation = &verdict.message,
        _ => entry.detail = &verdict.message,
    }
    entry.policy_hash = &verdict.policy;
    log.append(&entry)
}

/// Not more than a model should read; all of it is in the log.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_TOLD) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
