//! The person at the terminal.

use crate::support::{Bench, RULES, call};
use horngate_gate::{Done, Gate, Reason, Refusal, Terminal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

/// The end of a terminal at which a person sits.
struct Person {
    keyboard: File,
    seen: String,
}

impl Person {
    fn sits_down() -> (Self, PathBuf) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let device = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let keyboard = File::from(master);
        (
            Self {
                keyboard,
                seen: String::new(),
            },
            device.into(),
        )
    }

    fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Reads until a text is shown, and gives what follows the last time it is.
    fn sees(&mut self, text: &str) {
        let mut byte = [0; 1];
        while !self.seen.ends_with(text) {
            assert_eq!(self.keyboard.read(&mut byte).unwrap(), 1);
            self.seen.push(char::from(byte[0]));
        }
    }

    fn code(&mut self) -> String {
        self.sees(" to approve, anything else to deny: ");
        let at = self.seen.rfind("type ").unwrap() + 5;
        self.seen[at..at + 4].to_owned()
    }
}

/// A call of `deploy` whose approver sits at a terminal and does as told.
async fn at_the_terminal(
    arguments: &str,
    limit: Duration,
    doing: impl FnOnce(Person) -> String + Send + 'static,
) -> (Result<Done, Refusal>, String) {
    let (mut person, device) = Person::sits_down();
    // A terminal that somebody holds open keeps what is typed.
    let _held = File::options()
        .read(true)
        .write(true)
        .open(&device)
        .unwrap();
    person.types("yes\n0000\n\n");
    let bench = Bench::new();
    let gate: Gate = bench
        .builder(RULES)
        .approver(Terminal::on("ann", device, limit))
        .build()
        .unwrap();
    let person = std::thread::spawn(move || doing(person));
    let qa = gate.invocation("U:Qa", "s");
    let outcome = call(&gate, &qa, "deploy", arguments).await;
    assert_eq!(bench.runs.count(), usize::from(outcome.is_ok()));
    (outcome, person.join().unwrap())
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_shown_code_approves_and_nothing_typed_before() {
    let (outcome, seen) = at_the_terminal(r#"{"path":"/srv"}"#, LONG, |mut person| {
        let code = person.code();
        person.types(&format!("{code}\n"));
        person.sees("approved\r\n");
        person.seen
    })
    .await;
    outcome.unwrap();
    assert!(seen.contains("path = \"/srv\""), "{seen}");
    assert!(seen.contains("why        customers see it"), "{seen}");
}

#[tokio::test]
async fn any_other_line_denies() {
    for answer in [
        "yes\n",
        "approve\n",
        "\n",
        "12345\n",
        "\u{4}",
        &"9".repeat(80),
    ] {
        let answer = format!("{answer}\n");
        let (outcome, _) = at_the_terminal("{}", LONG, move |mut person| {
            let _ = person.code();
            person.types(&answer);
            person.sees("denied\r\n");
            person.seen
        })
        .await;
        assert_eq!(outcome.unwrap_err().reason, Reason::Declined);
    }
}

#[tokio::test]
async fn long_arguments_are_shown_page_by_page_and_whole() {
    let arguments = serde_json::json!({"path": "x".repeat(9_000) + "END"}).to_string();
    let (outcome, seen) = at_the_terminal(&arguments, LONG, |mut person| {
        for _ in 0..4 {
            person.sees("--- more: press Enter --- ");
            person.types("\n");
            person.sees("\r\n");
        }
        let code = person.code();
        person.types(&format!("{code}\n"));
        person.sees("approved\r\n");
        person.seen
    })
    .await;
    outcome.unwrap();
    assert!(seen.matches('x').count() >= 9_000 && seen.contains("END"));
}

#[tokio::test]
async fn silence_and_no_terminal_deny() {
    let (outcome, _) = at_the_terminal("{}", Duration::from_millis(50), |person| person.seen).await;
    assert!(outcome.is_err());
    let bench = Bench::new();
    for device in ["/dev/null", "/nowhere/tty"] {
        let terminal = Terminal::on("ann", device, LONG);
        let gate = bench.builder(RULES).approver(terminal).build().unwrap();
        let qa = gate.invocation("U:Qa", "s");
        let refusal = call(&gate, &qa, "deploy", "{}").await.unwrap_err();
        assert_eq!(refusal.reason, Reason::ApproverError);
    }
    assert_eq!(bench.runs.count(), 0);
}
