//! Disks that fail: each fault ends in a denial, keeps what was there, and is over when the disk works again.
//!
//! The faults are real ones. They need Linux, `unshare` and `mount` (a small tmpfs that is full), and `cc` (a library that
//! lets `fsync` fail). Where one of these is missing the test says so, and fails if `HORNGATE_PEERS` is 1.

use crate::support::{RULES, START, allowlist};
use horngate_gate::{
    Answer, AuditLog, Callback, Clock, Closure, Deferred, Gate, ManualClock, MemoryStore, Reason,
    Signatory, SqliteStore, State, Store, ToolError, ToolSpec, verify,
};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const FOLDER: &str = "HORNGATE_FAULTS_FOLDER";
const FAIL: &str = "HORNGATE_FAULTS_FSYNC";

/// Runs a worker in a process of its own, under a command.
fn worker(name: &str, folder: &Path, command: &mut Command) {
    let ended = command
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let (out, errors) = (
        String::from_utf8_lossy(&ended.stdout),
        String::from_utf8_lossy(&ended.stderr),
    );
    assert!(ended.status.success(), "{out}{errors}");
    assert!(out.contains("1 passed"), "the worker did not run: {out}");
}

fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Whether a test can run; if not, it says so, or fails where it must run.
fn can(what: &str, command: &mut Command) -> bool {
    let works = command.output().is_ok_and(|ended| ended.status.success());
    if !works {
        let missing = format!("NOT TESTED: {what} is not possible here");
        assert_ne!(
            std::env::var("HORNGATE_PEERS").as_deref(),
            Ok("1"),
            "{missing}"
        );
        eprintln!("{missing}");
    }
    works
}

/// A shell in which `folder` is an empty file system of 1 MB; also for who is not root.
fn small_disk(folder: &Path) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
        .arg("mount -t tmpfs -o size=1m,mode=700 none \"$0\" && exec \"$@\"")
        .arg(folder);
    command
}

/// A gate whose body counts, with an approver who says yes.
fn gate(store: Arc<dyn Store>, log: Option<AuditLog>, runs: &Arc<AtomicUsize>) -> Gate {
    let tool = |spec: ToolSpec| {
        let runs = Arc::clone(runs);
        Closure::<Value>::new(spec, move |permit| {
            runs.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>(permit.into_arguments())
        })
    };
    let mut builder = Gate::builder(allowlist(RULES))
        .tool(tool(ToolSpec::new("repl", "Evaluates")))
        .tool(tool(
            ToolSpec::new("deploy", "Deploys").confirm("customers see it"),
        ))
        .approver(Callback::new("ann", |_| Ok(Answer::Approve)))
        .store(store);
    if let Some(log) = log {
        builder = builder.audit(Arc::new(log));
    }
    builder.build().unwrap()
}

fn run(gate: &Gate, tool: &str, arguments: &str) -> Result<(), Reason> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let qa = gate.invocation("U:Qa", "s");
    let outcome = runtime.block_on(gate.call(&qa, tool, arguments));
    outcome.map(drop).map_err(|refusal| refusal.reason)
}

/// Calls before, during and after a fault, with the store, the log or both on the disk that fails.
fn through_a_fault(folder: &Path, strike: impl Fn(), mend: impl Fn()) {
    let long = format!(r#"{{"text": "{}"}}"#, "x".repeat(20_000));
    for (place, store_fails, log_fails) in
        [("s", true, false), ("l", false, true), ("b", true, true)]
    {
        let (db, path) = (
            folder.join(format!("{place}.db")),
            folder.join(format!("{place}.jsonl")),
        );
        let store: Arc<dyn Store> = match store_fails {
            true => Arc::new(SqliteStore::open(&db).unwrap()),
            false => Arc::new(MemoryStore::new()),
        };
        let log = log_fails.then(|| AuditLog::open(&path).unwrap());
        let runs = Arc::new(AtomicUsize::new(0));
        let count = || runs.load(Ordering::SeqCst);
        let gate = gate(store.clone(), log, &runs);
        assert_eq!(run(&gate, "repl", "{}"), Ok(()));
        assert_eq!(run(&gate, "deploy", "{}"), Ok(()));
        let before = store.list().unwrap();
        strike();
        let asks = run(&gate, "deploy", &long);
        let asks_nobody = run(&gate, "repl", &long);
        match (store_fails, log_fails) {
            (true, false) => assert_eq!(asks_nobody, Ok(()), "it needs neither"),
            _ => assert_eq!(asks_nobody, Err(Reason::AuditFailed)),
        }
        let expected = if store_fails {
            Reason::StoreFailed
        } else {
            Reason::AuditFailed
        };
        assert_eq!(asks, Err(expected), "{place}");
        assert_eq!(count(), if log_fails { 2 } else { 3 }, "{place}");
        mend();
        // Nothing of it is left, or it counts as not approved; what was there is there.
        let after = store.list().unwrap();
        assert_eq!(after[..before.len()], before);
        let consumed = after
            .iter()
            .filter(|record| record.state == State::Consumed);
        assert_eq!(consumed.count(), 1, "{place}");
        assert_eq!(run(&gate, "repl", "{}"), Ok(()), "{place}");
        assert_eq!(run(&gate, "deploy", r#"{"n": 2}"#), Ok(()), "{place}");
        if log_fails {
            let read = BufReader::new(File::open(&path).unwrap());
            let whole = verify(read, None, None, None).unwrap().unwrap();
            let lines = fs::read_to_string(&path).unwrap();
            assert_eq!(lines.lines().count() as u64, whole.count);
            let executing = lines.matches(r#""event":"executing""#).count();
            let executed = lines.matches(r#""event":"executed""#).count();
            assert_eq!((executing, executed), (4, 4), "{lines}");
        }
        drop(gate);
        // Another process finds the same.
        if store_fails {
            let states: Vec<State> = store
                .list()
                .unwrap()
                .iter()
                .map(|record| record.state)
                .collect();
            drop(store);
            let again = SqliteStore::open(&db).unwrap().list().unwrap();
            assert_eq!(
                again.iter().map(|record| record.state).collect::<Vec<_>>(),
                states
            );
        }
    }
}

/// Writes to a file until nothing more goes onto its disk.
fn fill_disk(ballast: &Path) {
    let mut file = File::create(ballast).unwrap();
    for size in [4096, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_denies_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    if can("a small tmpfs", small_disk(folder.path()).arg("true")) {
        worker(
            "faults::on_a_full_disk",
            folder.path(),
            &mut small_disk(folder.path()),
        );
    }
}

#[test]
#[ignore = "a worker of the test of full disks"]
fn on_a_full_disk() {
    let Some(folder) = folder() else { return };
    let ballast = folder.join("ballast");
    through_a_fault(
        &folder,
        || fill_disk(&ballast),
        || fs::remove_file(&ballast).unwrap(),
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_from_the_start_builds_no_gate() {
    let folder = tempfile::tempdir().unwrap();
    if can("a small tmpfs", small_disk(folder.path()).arg("true")) {
        worker(
            "faults::on_a_disk_full_from_the_start",
            folder.path(),
            &mut small_disk(folder.path()),
        );
    }
}

#[test]
#[ignore = "a worker of the test of full disks"]
fn on_a_disk_full_from_the_start() {
    let Some(folder) = folder() else { return };
    let log = AuditLog::open(folder.join("a.jsonl")).unwrap();
    fill_disk(&folder.join("ballast"));
    assert!(SqliteStore::open(folder.join("a.db")).is_err());
    let built = Gate::builder(allowlist(RULES)).audit(Arc::new(log)).build();
    assert!(built.is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_read_only_builds_no_gate() {
    let folder = tempfile::tempdir().unwrap();
    let made = |command: &mut Command| {
        SqliteStore::open(folder.path().join("a.db")).unwrap();
        drop(AuditLog::open(folder.path().join("a.jsonl")).unwrap());
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c"])
            .arg("mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"")
            .arg(folder.path());
    };
    let read_only = || {
        let mut command = Command::new("unshare");
        made(&mut command);
        command
    };
    if can("a read-only mount", read_only().arg("true")) {
        worker(
            "faults::on_a_read_only_disk",
            folder.path(),
            &mut read_only(),
        );
    }
}

#[test]
#[ignore = "a worker of the test of read-only disks"]
fn on_a_read_only_disk() {
    let Some(folder) = folder() else { return };
    assert!(
        File::create(folder.join("x")).is_err(),
        "it is not read-only"
    );
    assert!(SqliteStore::open(folder.join("a.db")).is_err());
    assert!(SqliteStore::open(folder.join("new.db")).is_err());
    assert!(AuditLog::open(folder.join("a.jsonl")).is_err());
}

/// The system's own, but for a file that makes them fail.
const FSYNC: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(void) {
    const char *path = getenv("HORNGATE_FAULTS_FSYNC");
    return path && access(path, F_OK) == 0;
}

int fsync(int file) {
    if (fails()) { errno = EIO; return -1; }
    return syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    if (fails()) { errno = EIO; return -1; }
    return syscall(SYS_fdatasync, file);
}
"#;

#[cfg(target_os = "linux")]
#[test]
fn an_fsync_that_fails_denies_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (
        folder.path().join("fsync.c"),
        folder.path().join("fsync.so"),
    );
    fs::write(&source, FSYNC).unwrap();
    let mut compile = Command::new("cc");
    compile
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source);
    if can("a library of one's own (`cc`)", &mut compile) {
        let mut command = Command::new("env");
        command
            .env(FAIL, folder.path().join("fail"))
            .env("LD_PRELOAD", &library);
        worker(
            "faults::with_an_fsync_that_fails",
            folder.path(),
            &mut command,
        );
    }
}

#[test]
#[ignore = "a worker of the test of fsync"]
fn with_an_fsync_that_fails() {
    let Some(folder) = folder() else { return };
    let fail = folder.join("fail");
    through_a_fault(
        &folder,
        || {
            fs::write(&fail, "").unwrap();
            let probe = File::create(folder.join("probe")).unwrap();
            assert!(probe.sync_data().is_err(), "fsync does not fail");
        },
        || fs::remove_file(&fail).unwrap(),
    );
}

#[test]
fn a_store_that_somebody_locks_denies_until_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let runs = Arc::new(AtomicUsize::new(0));
    let gate = gate(Arc::new(SqliteStore::open(&path).unwrap()), None, &runs);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(run(&gate, "deploy", "{}"), Err(Reason::StoreFailed));
    assert_eq!(run(&gate, "repl", "{}"), Ok(()), "it needs no store");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(run(&gate, "deploy", "{}"), Ok(()));
}

/// A gate whose approvals come through the store.
fn deferring(path: &Path, ann: &Signatory, runs: &Arc<AtomicUsize>) -> Result<Gate, String> {
    deferring_at(START, path, ann, runs)
}

fn deferring_at(
    now: u64,
    path: &Path,
    ann: &Signatory,
    runs: &Arc<AtomicUsize>,
) -> Result<Gate, String> {
    let store = SqliteStore::open(path).map_err(|error| error.to_string())?;
    let runs = Arc::clone(runs);
    let spec = ToolSpec::new("deploy", "Deploys").confirm("customers see it");
    let tool = Closure::<Value>::new(spec, move |permit| {
        runs.fetch_add(1, Ordering::SeqCst);
        Ok::<_, ToolError>(permit.into_arguments())
    });
    let gate = Gate::builder(allowlist(RULES))
        .tool(tool)
        .approver(Deferred::new())
        .approver_key("ann", ann.key())
        .clock(Arc::new(ManualClock::at(now)) as Arc<dyn Clock>)
        .store(Arc::new(store))
        .build()
        .map_err(|error| error.to_string())?;
    Ok(gate)
}

#[test]
fn a_corrupt_or_emptied_store_is_no_approval() {
    let ann = Signatory::generate("ann").unwrap();
    type Damage = fn(&mut Vec<u8>);
    let damage: [(&str, Damage); 6] = [
        ("garbage", |bytes| bytes.fill(0x5a)),
        ("no header", |bytes| bytes[..100].fill(0)),
        ("no pages", |bytes| bytes[100..].fill(0)),
        ("half", |bytes| bytes.truncate(bytes.len() / 2)),
        ("a page", |bytes| bytes.truncate(4096)),
        ("nothing", Vec::clear),
    ];
    for (what, damage) in damage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let runs = Arc::new(AtomicUsize::new(0));
        let gate = deferring(&path, &ann, &runs).unwrap();
        assert_eq!(
            run(&gate, "deploy", "{}"),
            Err(Reason::ConfirmationRequired)
        );
        let qa = gate.invocation("U:Qa", "s");
        let record = gate.pending(&qa).unwrap().pop().unwrap();
        gate.submit(&ann.answer(&record.request, true, START).unwrap())
            .unwrap();
        // The last one to leave writes all into the one file.
        drop(gate);
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, &bytes).unwrap();
        let outcome = deferring(&path, &ann, &runs).map(|gate| run(&gate, "deploy", "{}"));
        let denied = match &outcome {
            Err(_) => true,
            Ok(outcome) => matches!(
                outcome,
                Err(Reason::StoreFailed | Reason::ConfirmationRequired)
            ),
        };
        assert!(denied, "{what}: {outcome:?}");
        assert_eq!(runs.load(Ordering::SeqCst), 0, "{what}");
    }
}

/// While a gate has it open.
#[test]
fn a_store_that_is_damaged_under_a_gate_runs_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let ann = Signatory::generate("ann").unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let gate = deferring(&path, &ann, &runs).unwrap();
    assert_eq!(
        run(&gate, "deploy", "{}"),
        Err(Reason::ConfirmationRequired)
    );
    let record = gate
        .pending(&gate.invocation("U:Qa", "s"))
        .unwrap()
        .pop()
        .unwrap();
    let verdict = ann.answer(&record.request, true, START).unwrap();
    gate.submit(&verdict).unwrap();
    assert_eq!(run(&gate, "deploy", "{}"), Ok(()));
    for file in ["a.db-wal", "a.db"] {
        let file = folder.path().join(file);
        let length = fs::metadata(&file).unwrap().len();
        let mut bytes = File::options().write(true).open(&file).unwrap();
        bytes
            .write_all(&vec![0x5a; usize::try_from(length).unwrap()])
            .unwrap();
        for _ in 0..2 {
            let outcome = run(&gate, "deploy", "{}");
            let denied = matches!(
                outcome,
                Err(Reason::StoreFailed | Reason::ConfirmationRequired)
            );
            assert!(denied, "{outcome:?}");
        }
        let _ = gate.submit(&verdict);
        assert_ne!(run(&gate, "deploy", "{}"), Ok(()));
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(run(&gate, "deploy", "{}"), Err(Reason::StoreFailed));
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// Else the numbers of turns, which come from the clock, would make an earlier turn a later one.
#[test]
fn a_clock_that_goes_back_at_a_restart_makes_no_later_turn() {
    let ann = Signatory::generate("ann").unwrap();
    for back in [1, 5_000, 60_000, 3_600_000] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let runs = Arc::new(AtomicUsize::new(0));
        let gate = deferring(&path, &ann, &runs).unwrap();
        assert_eq!(
            run(&gate, "deploy", "{}"),
            Err(Reason::ConfirmationRequired)
        );
        let record = gate
            .pending(&gate.invocation("U:Qa", "s"))
            .unwrap()
            .pop()
            .unwrap();
        gate.submit(&ann.answer(&record.request, true, START).unwrap())
            .unwrap();
        drop(gate);
        let gate = deferring_at(START - back, &path, &ann, &runs).unwrap();
        let reason = run(&gate, "deploy", "{}").unwrap_err();
        let expected = match back {
            ..=10_000 => Reason::SameInvocation,
            // It is too old then, and the call is asked about anew.
            _ => Reason::ConfirmationRequired,
        };
        assert_eq!(
            (reason, runs.load(Ordering::SeqCst)),
            (expected, 0),
            "{back}"
        );
    }
}
