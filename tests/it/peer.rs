//! SWI-Prolog as a peer. Where it is missing a test says so, and fails when `HORNGATE_PEERS=1` demands it.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A long-lived `swipl` that answers programs with goals, line by line.
pub struct Batch {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// Whether SWI-Prolog is there; loud when not.
pub fn present() -> bool {
    let found = Command::new("swipl")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        assert!(
            std::env::var_os("HORNGATE_PEERS").is_none_or(|value| value != "1"),
            "HORNGATE_PEERS=1, but `swipl` is missing (Debian: swi-prolog-nox)"
        );
        // Straight to standard error, which the test harness does not hold back.
        let _ = writeln!(
            std::io::stderr(),
            "NOT COMPARED WITH SWI-PROLOG: `swipl` is missing (Debian: swi-prolog-nox)"
        );
    }
    found
}

/// `swipl`, with a limit on its memory: its own limits do not count what it keeps outside its stacks and tables.
pub fn swipl() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 8388608; exec swipl \"$@\"", "swipl"]);
    command
}

impl Batch {
    /// Starts the peer, if it is there.
    pub fn start() -> Option<Self> {
        Self::of("batch.pl")
    }

    /// The same of another script in `tests/peers`.
    pub fn of(script: &str) -> Option<Self> {
        if !present() {
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/peers")
            .join(script);
        let mut child = swipl()
            .args(["-q", "-f", "none"])
            .arg(script)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("swipl starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Some(Self {
            child,
            input,
            output,
        })
    }

    /// One program with its goals, and the answers.
    pub fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.input, "{question}").expect("the peer listens");
        self.input.flush().expect("the peer listens");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("{error} in the answer {line:?} to {question}"))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
