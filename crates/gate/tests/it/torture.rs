//! Processes that ask, approve and run over one SQLite store and one log, and are killed (SIGKILL, SIGTERM) at any moment.
//!
//! A few seconds of it run with all tests. The long one, thousands of cycles, is
//! `cargo test -p horngate-gate --test it torture::thousands -- --ignored --nocapture`.

use crate::support::allowlist;
use horngate_gate::{
    AuditLog, Clock, Closure, Decided, Deferred, Durability, Entry, Event, Gate, Limits, Reason,
    Signatory, SqliteStore, State, Store, SystemClock, ToolError, ToolSpec, verify,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const RULES: &str = "may_execute_tool('U:Qa', tool_deploy).";
const FOLDER: &str = "HORNGATE_TORTURE_FOLDER";
const WORKERS: usize = 4;

/// Appends one line in one write.
fn note(folder: &Path, file: &str, line: &str) {
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(folder.join(file))
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn noted(folder: &Path, file: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn ann(folder: &Path) -> Signatory {
    Signatory::parse("ann", &fs::read_to_string(folder.join("key")).unwrap()).unwrap()
}

fn gate(folder: &Path, store: Arc<SqliteStore>) -> Gate {
    let runs = folder.to_owned();
    let spec = ToolSpec::new("deploy", "Deploys").confirm("customers see it");
    let tool = Closure::<Value>::new(spec, move |permit| {
        note(&runs, "runs", permit.call());
        Ok::<_, ToolError>(permit.into_arguments())
    });
    let log = AuditLog::open_with(folder.join("audit"), Durability::OperatingSystem, None).unwrap();
    Gate::builder(allowlist(RULES))
        .tool(tool)
        .approver(Deferred::new())
        .approver_key("ann", ann(folder).key())
        .store(store)
        .audit(Arc::new(log))
        .limits(Limits {
            max_pending: 1_000_000,
            ..Limits::default()
        })
        .build()
        .unwrap()
}

fn arguments(n: u64) -> String {
    format!(r#"{{"n":{n}}}"#)
}

/// What one process does until it is killed.
#[test]
#[ignore = "a worker of the torture test"]
fn worker() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let store = Arc::new(SqliteStore::open(folder.join("db")).unwrap());
    let (gate, ann) = (gate(folder, store.clone()), ann(folder));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        loop {
            // All workers are at about the same call.
            let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let n = u64::try_from(time.as_micros() / 10_000).unwrap()
                + u64::from(time.subsec_nanos() % 3);
            let qa = gate.invocation("U:Qa", "s");
            let Err(refusal) = gate.call(&qa, "deploy", &arguments(n)).await else {
                continue;
            };
            let Some(id) = refusal.approval_id() else {
                panic!("{refusal:?}");
            };
            let request = store.get(id).unwrap().unwrap().request;
            let verdict = ann.answer(&request, true, SystemClock.now()).unwrap();
            if store.decide(&verdict, SystemClock.now()).unwrap() == Decided::Recorded {
                note(folder, "approved", &format!("{id} {n}"));
            }
            // Sometimes what is approved is left for others, or for nobody.
            if n % 4 != 0 {
                let qa = gate.invocation("U:Qa", "s");
                let _ = gate.call(&qa, "deploy", &arguments(n)).await;
            }
        }
    });
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "torture::worker", "--ignored", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_at_any_moment_no_approval_is_used_twice_and_none_is_lost() {
    assert!(torture(3) > 0, "nothing ran");
}

#[test]
#[ignore = "lasts some minutes"]
fn thousands_of_cycles_are_killed_at_any_moment() {
    let mut runs = 0;
    while runs < 3_000 {
        runs += torture(80);
    }
    println!("{runs} runs in all");
}

/// Lets processes work and be killed for so many seconds, and checks what they leave behind; how often the body ran.
fn torture(seconds: u64) -> usize {
    assert!(seconds <= 90, "approvals must not grow too old meanwhile");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(
        folder.join("key"),
        Signatory::generate("ann").unwrap().secret(),
    )
    .unwrap();
    let store = Arc::new(SqliteStore::open(folder.join("db")).unwrap());
    drop(gate(folder, store.clone()));

    let until = Instant::now() + Duration::from_secs(seconds);
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| start(folder)).collect();
    let mut kills = 0;
    let mut random = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .subsec_nanos()
        | 1;
    while Instant::now() < until {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        std::thread::sleep(Duration::from_micros(u64::from(random % 300_000)));
        let victim = usize::try_from(random).unwrap() % WORKERS;
        assert_eq!(
            workers[victim].try_wait().unwrap(),
            None,
            "a worker ended by itself"
        );
        // Nothing in a worker listens to SIGTERM, and no time is left to it.
        if random & 1024 == 0 {
            let kill = format!("kill -TERM {}", workers[victim].id());
            assert!(
                Command::new("sh")
                    .args(["-c", &kill])
                    .status()
                    .unwrap()
                    .success()
            );
        } else {
            workers[victim].kill().unwrap();
        }
        workers[victim].wait().unwrap();
        workers[victim] = start(folder);
        kills += 1;
    }
    for worker in &mut workers {
        worker.kill().unwrap();
        worker.wait().unwrap();
    }

    // The log is whole but for lines cut short, which the next writer takes away.
    let log = AuditLog::open(folder.join("audit")).unwrap();
    log.append(&Entry::new(0, Event::Policy, "end")).unwrap();
    let whole = verify(
        BufReader::new(File::open(folder.join("audit")).unwrap()),
        None,
        None,
        None,
    );
    let whole = whole.unwrap().unwrap();

    // No approval is used twice.
    let approvals: BTreeMap<String, String> = noted(folder, "audit")
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["event"] == "executing")
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            (text("call"), text("approval"))
        })
        .collect();
    let runs = noted(folder, "runs");
    let mut used = BTreeSet::new();
    for call in &runs {
        let approval = &approvals[call];
        assert!(used.insert(approval.clone()), "{approval} was used twice");
        let record = store.get(approval).unwrap().unwrap();
        assert_eq!(
            record.state,
            State::Consumed,
            "{approval} ran, and is not used"
        );
    }

    // None is lost: what was recorded as approved is approved still, or used; and what is used and did not run was in
    // the hands of a process that was killed.
    let mut open = Vec::new();
    let mut vanished = 0;
    for line in noted(folder, "approved") {
        let (id, n) = line.split_once(' ').unwrap();
        match store.get(id).unwrap().unwrap().state {
            State::Approved => open.push(n.parse::<u64>().unwrap()),
            State::Consumed if used.contains(id) => {}
            State::Consumed => vanished += 1,
            other => panic!("{id} became {}", other.as_str()),
        }
    }
    assert!(vanished <= kills + WORKERS, "{vanished} of {kills}");
    let gate = gate(folder, store);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for n in &open {
        let later = gate.invocation("U:Qa", "s");
        let outcome = runtime.block_on(gate.call(&later, "deploy", &arguments(*n)));
        assert!(outcome.is_ok(), "{n}: {outcome:?}");
        let again = gate.invocation("U:Qa", "s");
        let again = runtime
            .block_on(gate.call(&again, "deploy", &arguments(*n)))
            .unwrap_err();
        assert_eq!(again.reason, Reason::ConfirmationRequired);
    }
    println!(
        "{kills} kills, {} runs, {} approvals left and used, {vanished} used by a process that was killed, {} lines",
        runs.len(),
        open.len(),
        whole.count
    );
    runs.len()
}
