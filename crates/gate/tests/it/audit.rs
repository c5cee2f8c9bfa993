//! The audit log.

use crate::support::{Bench, RULES, START, call, counting, refused};
use horngate_gate::{
    Answer, AuditFailure, AuditLog, Broken, Callback, Closure, Durability, Entry, Event, Reason,
    ToolError, ToolSpec, Whole, verify,
};
use serde_json::Value;
use std::fs;
use std::io::{self, BufReader, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn checked(path: &Path, key: Option<&[u8]>) -> Result<Whole, Broken> {
    verify(
        BufReader::new(fs::File::open(path).unwrap()),
        key,
        None,
        None,
    )
    .unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn entry(n: u64) -> Entry<'static> {
    Entry::new(START + n, Event::Executed, "gate")
}

#[tokio::test]
async fn every_step_of_a_call_is_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let gate = bench
        .builder(RULES)
        .audit(Arc::new(AuditLog::open(&path).unwrap()))
        .approver(counting(&asked, |request| {
            Ok(match request.tool.as_str() {
                "deploy" => Answer::Approve,
                _ => Answer::Deny("no".to_owned()),
            })
        }))
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    call(&gate, &qa, "repl", r#"{"n":1,"password":"hunter2"}"#)
        .await
        .unwrap();
    call(&gate, &qa.child("U:Helper"), "deploy", "{}")
        .await
        .unwrap();
    assert_eq!(refused(&gate, &qa, "delete", "{}").await, Reason::Declined);
    assert_eq!(
        refused(&gate, &gate.invocation("U:Ux", "s"), "repl", "{}").await,
        Reason::UnknownActor
    );
    let lines = lines(&path);
    let events: Vec<&str> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        events,
        [
            "policy",
            "executing",
            "executed",
            "approval_required",
            "approval_decision",
            "executing",
            "executed",
            "approval_required",
            "approval_decision",
            "denied",
            "denied",
        ]
    );
    assert_eq!(lines[1]["arguments"]["password"], "[redacted]");
    assert_eq!(lines[1]["arguments_hash"].as_str().unwrap().len(), 64);
    assert_eq!(lines[4]["approver"], "ann");
    assert_eq!(lines[4]["chain"], serde_json::json!(["U:Qa", "U:Helper"]));
    assert_eq!(lines[8]["reason"], "declined");
    assert_eq!(lines[10]["detail"], "nothing is granted to `U:Ux`");
    assert!(!fs::read_to_string(&path).unwrap().contains("hunter2"));
    assert_eq!(checked(&path, None).unwrap().count, 11);
}

/// A disk that becomes full.
#[derive(Clone, Default)]
struct Disk(Arc<AtomicBool>);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.load(Ordering::SeqCst) {
            true => Err(io::Error::from(io::ErrorKind::StorageFull)),
            false => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_run_unless_chosen_otherwise() {
    for (failure, runs) in [(AuditFailure::Deny, 0), (AuditFailure::GoOn, 2)] {
        let (bench, disk) = (Bench::new(), Disk::default());
        let asked = Arc::new(AtomicUsize::new(0));
        let gate = bench
            .builder(RULES)
            .audit(Arc::new(AuditLog::to_writer(disk.clone(), None)))
            .audit_failure(failure)
            .approver(counting(&asked, |_| Ok(Answer::Approve)))
            .build()
            .unwrap();
        disk.0.store(true, Ordering::SeqCst);
        let qa = gate.invocation("U:Qa", "s");
        for tool in ["repl", "deploy"] {
            let outcome = call(&gate, &qa, tool, "{}").await;
            assert_eq!(
                outcome.err().map(|refusal| refusal.reason),
                (runs == 0).then_some(Reason::AuditFailed)
            );
        }
        assert_eq!(bench.runs.count(), runs);
    }
}

#[test]
fn edits_gaps_and_truncation_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for key in [None, Some(&b"key"[..])] {
        let path = folder
            .path()
            .join(if key.is_some() { "keyed" } else { "plain" });
        let log = AuditLog::open_with(&path, Durability::OperatingSystem, key).unwrap();
        (0..5).for_each(|n| log.append(&entry(n)).unwrap());
        let (count, head) = log.head();
        assert_eq!(
            checked(&path, key),
            Ok(Whole {
                count,
                head: head.clone()
            })
        );
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let check = |text: String, head: Option<&str>, count| {
            verify(text.as_bytes(), key, head, count)
                .unwrap()
                .map_err(|broken| broken.line)
        };
        assert!(check(text.clone(), Some(&head), Some(5)).is_ok());
        assert_eq!(
            check(text.replace("\"seq\":3", "\"seq\":9"), None, None),
            Err(3)
        );
        assert_eq!(
            check(text.replacen("executed", "denied", 1), None, None),
            Err(1)
        );
        let without = |out: usize| {
            let kept: Vec<&str> = lines
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != out)
                .map(|(_, line)| *line)
                .collect();
            kept.join("\n") + "\n"
        };
        assert_eq!(check(without(0), None, None), Err(1));
        assert_eq!(check(without(2), None, None), Err(3));
        // The end can only be missed by who knows it.
        assert!(check(without(4), None, None).is_ok());
        assert_eq!(check(without(4), None, Some(5)), Err(5));
        assert_eq!(check(without(4), Some(&head), None), Err(5));
        assert_eq!(check(text[..text.len() - 1].to_owned(), None, None), Err(5));
        assert_eq!(check(format!("{text}{}\n", lines[4]), None, None), Err(6));
        assert_eq!(check(format!("{text}junk\n"), None, None), Err(6));
        // A chain that was forged whole needs the key.
        assert_eq!(
            verify(text.as_bytes(), Some(b"other"), None, None)
                .unwrap()
                .map_err(|broken| broken.line),
            Err(1)
        );
    }
}

#[test]
fn several_writers_share_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let log = AuditLog::open_with(&path, Durability::OperatingSystem, None).unwrap();
                (0..50).for_each(|n| log.append(&entry(n)).unwrap());
            });
        }
    });
    assert_eq!(checked(&path, None).unwrap().count, 200);
}

#[test]
fn a_line_cut_short_is_taken_away_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    (0..3).for_each(|n| log.append(&entry(n)).unwrap());
    drop(log);
    let torn = |path: &Path| {
        let mut file = fs::File::options().append(true).open(path).unwrap();
        file.write_all(b"{\"v\":1,\"at\":17").unwrap();
    };
    torn(&path);
    assert_eq!(checked(&path, None).unwrap_err().line, 4);
    let log = AuditLog::open(&path).unwrap();
    log.append(&entry(3)).unwrap();
    torn(&path);
    log.append(&entry(4)).unwrap();
    assert_eq!(checked(&path, None).unwrap().count, 7);
    let events: Vec<Value> = lines(&path)
        .iter()
        .map(|line| line["event"].clone())
        .collect();
    assert_eq!(events[3], "repaired");
    assert_eq!(events[5], "repaired");
    // Also when nothing whole is left.
    fs::write(&path, "{").unwrap();
    let log = AuditLog::open(&path).unwrap();
    log.append(&entry(0)).unwrap();
    assert_eq!(checked(&path, None).unwrap().count, 2);
}

#[test]
fn a_log_that_was_shortened_replaced_or_changed_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::open(&path).unwrap();
    (0..3).for_each(|n| log.append(&entry(n)).unwrap());
    let whole = fs::read(&path).unwrap();
    fs::write(&path, b"").unwrap();
    assert!(log.append(&entry(4)).is_err());
    fs::write(&path, &whole).unwrap();
    assert!(log.append(&entry(4)).is_ok());
    fs::rename(&path, folder.path().join("moved")).unwrap();
    assert!(log.append(&entry(5)).is_err());
    fs::write(&path, b"").unwrap();
    assert!(log.append(&entry(5)).is_err());
    fs::write(&path, b"no log\n").unwrap();
    assert!(AuditLog::open(&path).is_err());
    let edited = String::from_utf8(whole)
        .unwrap()
        .replace("executed", "denied");
    fs::write(&path, edited).unwrap();
    assert!(AuditLog::open(&path).is_err());
}

#[cfg(unix)]
#[test]
fn the_log_is_private_and_no_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    AuditLog::open(&path).unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    assert!(AuditLog::open(&link).is_err());
    assert!(AuditLog::open("/dev/null").is_err());
}

/// Whatever a model calls, whatever a tool answers: the log can be read again.
#[tokio::test]
async fn no_call_makes_a_line_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = Arc::new(AuditLog::open_with(&path, Durability::OperatingSystem, None).unwrap());
    let bench = Bench::new();
    let failing = Closure::<Value>::new(ToolSpec::new("fail", "Fails"), |_| {
        Err(ToolError::new("\u{1}".repeat(3 << 20)))
    });
    let rules = format!("{RULES} may_execute_tool('U:Qa', tool_fail).");
    let gate = bench
        .builder(&rules)
        .tool(failing)
        .approver(Callback::new("ann", |_| {
            Ok(Answer::Deny("\u{2}".repeat(3 << 20)))
        }))
        .audit(log)
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let long = "\u{7}".repeat(3 << 20);
    let refusal = gate.call(&qa, &long, "{}").await.unwrap_err();
    assert!(refusal.message.len() < 10_000 && refusal.to_json().to_string().len() < 20_000);
    let keys = format!(r#"{{"{0}": 1, "{0}": 2}}"#, "k".repeat(1 << 20));
    let refusal = gate.call(&qa, "repl", &keys).await.unwrap_err();
    assert_eq!(refusal.reason, Reason::InvalidArguments);
    assert!(refusal.message.len() < 10_000);
    assert_eq!(
        gate.call(&qa, "deploy", "{}").await.unwrap_err().reason,
        Reason::Declined
    );
    assert_eq!(
        gate.call(&qa, "fail", "{}").await.unwrap_err().reason,
        Reason::ToolFailed
    );
    // What only the host could make too long is refused, and the log goes on.
    let named = gate.invocation(&"\u{1}".repeat(3 << 20), "s");
    let refusal = gate.call(&named, "repl", "{}").await.unwrap_err();
    assert_eq!(refusal.reason, Reason::UnknownActor);
    assert!(gate.call(&qa, "repl", "{}").await.is_ok());
    let whole = checked(&path, None).unwrap();
    assert_eq!(whole.count, 9 + 1, "{:?}", lines(&path).len());
}
