//! The server as a child process, in a process group of its own.
//!
//! Nothing of it outlives the proxy: it is asked to end, then told, then killed, and its status is always taken.

use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often to look whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

pub(super) struct Process {
    child: Child,
    group: Pid,
    ended: Option<ExitStatus>,
}

impl Process {
    pub(super) fn start(command: &[OsString]) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::other("no command was given"));
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let Some((input, output)) = pipes else {
            return Err(io::Error::other("the child has no pipes"));
        };
        let process = Self {
            group: Pid::from_child(&child),
            child,
            ended: None,
        };
        Ok((process, input, output))
    }

    fn status(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    pub(super) fn has_ended(&mut self) -> bool {
        self.status().is_some()
    }

    /// Waits for its end, up to a time.
    pub(super) async fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            if self.status().is_some() {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn signal(&self, signal: Signal) {
        // There may be nobody left.
        let _ = kill_process_group(self.group, signal);
    }

    /// Ends it, kindly first. Its standard input must be closed already.
    pub(super) async fn end(mut self, patience: Duration) -> u8 {
        if !self.ends_within(patience).await {
            self.signal(Signal::TERM);
            self.ends_within(patience).await;
        }
        // Also what it has started and left behind.
        self.signal(Signal::KILL);
        let status = match self.ended {
            Some(status) => Some(status),
            None => self.child.wait().ok(),
        };
        self.ended = status;
        status.map_or(2, code)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// As a shell says it: 128 and the signal for one that was killed.
fn code(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    u8::try_from(status.code().or(signal).unwrap_or(2)).unwrap_or(2)
}
