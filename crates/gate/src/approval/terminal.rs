//! Asks the person at the terminal.
//!
//! Nothing here reads standard input, which an agent may write to, and nothing typed before the question counts.

use super::approver::{Answer, Approver, ApproverError};
use super::request::Request;
use crate::tool::BoxFuture;
use crate::visible::folded;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{QueueSelector, isatty, tcflush};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the person may take.
const LIMIT: Duration = Duration::from_secs(300);
/// The lines of a page.
const PAGE: usize = 30;
/// The longest line that is read as an answer.
const MAX_ANSWER: usize = 64;

/// One question at a time.
static ASKING: Mutex<()> = Mutex::new(());

/// Asks on the terminal of the process, `/dev/tty`: all of the request is shown, page by page, and a short code must be
/// typed to approve. Without a terminal the call is denied.
///
/// ```
/// use horngate_gate::{Approver, Terminal};
/// assert_eq!(Terminal::new("ann").person(), "ann");
/// ```
#[derive(Clone, Debug)]
pub struct Terminal {
    person: String,
    device: PathBuf,
    limit: Duration,
}

impl Terminal {
    /// The person at the terminal of the process.
    pub fn new(person: impl Into<String>) -> Self {
        Self::on(person, "/dev/tty", LIMIT)
    }

    /// The person at another terminal, who may take so long.
    pub fn on(person: impl Into<String>, device: impl Into<PathBuf>, limit: Duration) -> Self {
        Self {
            person: person.into(),
            device: device.into(),
            limit,
        }
    }
}

impl Approver for Terminal {
    fn person(&self) -> &str {
        &self.person
    }

    fn provider(&self) -> &str {
        "terminal"
    }

    fn settings(&self) -> String {
        format!("{} {:?}", self.device.display(), self.limit)
    }

    fn ask<'a>(
        &'a self,
        request: &'a Arc<Request>,
    ) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        let (device, request) = (self.device.clone(), Arc::clone(request));
        let until = Instant::now() + self.limit;
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                let _one_at_a_time = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
                ask(&device, &request, until)
            });
            match asked.await {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(error)) => Err(ApproverError::new(format!("the terminal: {error}"))),
                Err(error) => Err(ApproverError::new(error.to_string())),
            }
        })
    }
}

fn ask(device: &Path, request: &Request, until: Instant) -> io::Result<Answer> {
    let flags = i32::try_from((OFlags::NOCTTY | OFlags::CLOEXEC).bits()).unwrap_or(0);
    let mut terminal = File::options()
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(device)?;
    if !isatty(&terminal) {
        return Err(io::Error::other("it is none"));
    }
    writeln!(terminal, "\n=== approval needed ===")?;
    let text = request.for_people();
    let lines = text.lines().flat_map(folded);
    for (number, line) in lines.enumerate() {
        if number > 0 && number % PAGE == 0 {
            tcflush(&terminal, QueueSelector::IFlush)?;
            write!(terminal, "--- more: press Enter --- ")?;
            if read_line(&mut terminal, until)?.is_none() {
                return Ok(Answer::Deny("nobody read all of it".to_owned()));
            }
        }
        writeln!(terminal, "{line}")?;
    }
    let code = code()?;
    // What was typed before the question is no answer to it.
    tcflush(&terminal, QueueSelector::IFlush)?;
    write!(terminal, "type {code} to approve, anything else to deny: ")?;
    terminal.flush()?;
    let answer = read_line(&mut terminal, until)?;
    let approved = answer.is_some_and(|line| line.trim_ascii() == code.as_bytes());
    writeln!(terminal, "{}", if approved { "approved" } else { "denied" })?;
    Ok(match approved {
        true => Answer::Approve,
        false => Answer::Deny("the code was not typed".to_owned()),
    })
}

/// Four digits.
fn code() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(format!("{:04}", u64::from_le_bytes(bytes) % 10_000))
}

/// A line, unless the time is over or the terminal is closed.
fn read_line(terminal: &mut File, until: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else {
            return Ok(None);
        };
        let mut ready = [PollFd::new(terminal, PollFlags::IN)];
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut byte = [0];
        match terminal.read(&mut byte)? {
            0 => return Ok(None),
            _ if byte == *b"\n" => return Ok(Some(line)),
            _ if line.len() >= MAX_ANSWER => return Ok(None),
            _ => line.extend_from_slice(&byte),
        }
    }
}
