//! People answer on the command line what a gate asks through a store.

use super::readme::steps;
use super::{Run, folder, root, run, run_with, session};
use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{
    ApproverKey, Closure, Deferred, Done, Gate, InvocationContext, Limits, Reason, Refusal,
    SqliteStore, ToolError, ToolSpec,
};
use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const RULES: &str =
    "may_execute_tool('U:Qa', tool_deploy).\nmay_execute_tool('U:Helper', tool_deploy).\n";

/// A gate that asks through a store, and Ann, who answers with the command line.
pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    gate: Gate,
    runs: Arc<AtomicUsize>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = folder(&[]);
        let made = run(folder.path(), &["approvals", "keygen", "--key", "ann.key"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        Self::with_approver(folder, made.stdout.trim_end())
    }

    /// `line` is what `keygen` has printed.
    fn with_approver(folder: TempDir, line: &str) -> Self {
        let (name, key) = line.rsplit_once('=').unwrap();
        let rules = Rulebase::load([Source::new("rules.pl", RULES)]).unwrap();
        let model = rules.evaluate(&Budget::default()).unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&runs);
        let spec = ToolSpec::new("deploy", "Deploys").confirm("customers see it");
        let tool = Closure::<Value>::new(spec, move |permit| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ToolError>(permit.into_arguments())
        });
        let store = SqliteStore::open(folder.path().join("approvals.db")).unwrap();
        let gate = Gate::builder(Allowlist::bind(&model, "may_execute_tool/2").unwrap())
            .tool(tool)
            .approver(Deferred::new())
            .approver_key(name, ApproverKey::parse(key).unwrap())
            .store(Arc::new(store))
            .limits(Limits {
                pending: Duration::from_secs(300),
                ..Limits::default()
            })
            .build()
            .unwrap();
        Self { folder, gate, runs }
    }

    fn turn(&self) -> InvocationContext {
        self.gate.invocation("U:Qa", "s")
    }

    fn call(&self, turn: &InvocationContext, arguments: &str) -> Result<Done, Box<Refusal>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let called = runtime.block_on(self.gate.call(turn, "deploy", arguments));
        called.map_err(Box::new)
    }

    /// Why the call is refused in a new turn.
    fn refused(&self, arguments: &str) -> Reason {
        self.call(&self.turn(), arguments).unwrap_err().reason
    }

    /// The id of the request that a new call makes.
    pub(crate) fn ask(&self, arguments: &str) -> String {
        let refusal = self.call(&self.turn(), arguments).unwrap_err();
        assert_eq!(refusal.reason, Reason::ConfirmationRequired);
        refusal.approval_id().unwrap().to_owned()
    }

    fn run(&self, args: &[&str]) -> Run {
        let args = [&["approvals"], args].concat();
        run(self.folder.path(), &args)
    }

    fn on_store(&self, action: &str, args: &[&str]) -> Run {
        self.run(&[&[action, "--store=approvals.db"], args].concat())
    }

    fn approve(&self, id: &str) -> Run {
        self.on_store("approve", &["--key=ann.key", id])
    }

    fn state(&self, id: &str) -> String {
        let shown = self.on_store("show", &["--format=json", id]);
        shown.json()["state"].as_str().unwrap().to_owned()
    }

    /// What somebody does who can write to the store.
    fn tamper(&self, sql: &str) {
        let store = Connection::open(self.folder.path().join("approvals.db")).unwrap();
        assert!(store.execute(sql, []).unwrap() > 0, "{sql}");
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

/// The text without what differs from run to run: ids, digests, points in time and how far they are.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() || c == '-' {
            word.push(c);
            continue;
        }
        let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_span = word.len() == 5 && word.as_bytes()[1] == b'm' && word.ends_with('s');
        masked.push_str(match word.len() {
            32 if is_hex => "<id>",
            64 if is_hex => "<digest>",
            10 if word.starts_with("20") && word.as_bytes()[4] == b'-' => "<date>",
            _ if is_span => "<time>",
            _ if word.parse::<u64>().is_ok_and(|number| number > 1_000_000) => "0",
            _ => &word,
        });
        word.clear();
        masked.push(c);
    }
    let mut masked = masked.trim_end_matches('\0').to_owned();
    while let Some((before, rest)) = masked.split_once("<date> ") {
        masked = format!("{before}<time>{}", rest.split_once(" UTC").unwrap().1);
    }
    masked
}

#[test]
fn a_yes_on_the_command_line_releases_the_retry_once() {
    let desk = Desk::new();
    let turn = desk.turn();
    let refusal = desk.call(&turn, r#"{"to":"prod"}"#).unwrap_err();
    let id = refusal.approval_id().unwrap();
    let listed = desk.on_store("list", &["--state=pending", "--format=json"]);
    assert_eq!(listed.json()["approvals"][0]["id"], id);

    let approved = desk.approve(id);
    assert_eq!((approved.code, &*approved.stderr), (0, ""));
    assert!(
        approved.stdout.contains("to = \"prod\""),
        "{}",
        approved.stdout
    );
    // Other arguments are another call, and the same turn is none that was consented to.
    assert_eq!(
        desk.refused(r#"{"to":"test"}"#),
        Reason::ConfirmationRequired
    );
    let same = desk.call(&turn, r#"{"to":"prod"}"#).unwrap_err();
    assert_eq!((same.reason, desk.runs()), (Reason::SameInvocation, 0));

    let done = desk.call(&desk.turn(), r#"{ "to": "prod" }"#).unwrap();
    assert_eq!((done.data, desk.runs()), (json!({"to": "prod"}), 1));
    assert_eq!(desk.state(id), "consumed");
    assert_eq!(desk.approve(id).code, 1);
    assert_eq!(desk.on_store("revoke", &[id]).code, 1);
    assert_eq!(
        desk.refused(r#"{"to":"prod"}"#),
        Reason::ConfirmationRequired
    );
    assert_eq!(desk.runs(), 1);
}

#[test]
fn a_no_and_a_revocation_are_no_yes() {
    let desk = Desk::new();
    let turn = desk.turn();
    let refusal = desk.call(&turn, "{}").unwrap_err();
    let id = refusal.approval_id().unwrap();
    assert_eq!(desk.on_store("deny", &["--key=ann.key", id]).code, 0);
    assert_eq!(desk.state(id), "denied");
    assert_eq!(desk.call(&turn, "{}").unwrap_err().reason, Reason::Declined);
    assert_eq!(desk.approve(id).code, 1);

    let id = desk.ask("{}");
    assert_eq!(desk.approve(&id).code, 0);
    assert_eq!(desk.on_store("revoke", &[&id]).code, 0);
    assert_eq!(desk.state(&id), "void");
    assert_eq!(desk.on_store("revoke", &[&id]).code, 1);
    assert_eq!(desk.refused("{}"), Reason::ConfirmationRequired);
    assert_eq!(desk.runs(), 0);
}

#[test]
fn who_has_no_key_of_the_gate_approves_nothing() {
    let desk = Desk::new();
    // Somebody else, and somebody who says that they are Ann.
    for (file, name) in [("eve.key", "eve"), ("false.key", "ann")] {
        let key = format!("--key={file}");
        assert_eq!(desk.run(&["keygen", &key, "--name", name]).code, 0);
        let id = desk.ask("{}");
        assert_eq!(desk.on_store("approve", &[&key, &id]).code, 0);
        assert_eq!(desk.refused("{}"), Reason::BadSignature, "{name}");
        assert_eq!(desk.state(&id), "void");
    }
    // Nobody approves their own calls, whatever their key. (A store is taken and not needed.)
    assert_eq!(
        desk.run(&["keygen", "--store=x.db", "--key=qa.key", "--name=U:Qa"])
            .code,
        0
    );
    let id = desk.ask("{}");
    let own = desk.on_store("approve", &["--key=qa.key", &id]);
    assert_eq!(own.code, 2);
    assert!(
        own.stderr.contains("`U:Qa` may not answer this"),
        "{}",
        own.stderr
    );
    assert_eq!((desk.state(&id), desk.runs()), ("pending".to_owned(), 0));
}

#[test]
fn the_rules_say_who_approves() {
    let desk = Desk::new();
    let id = desk.ask("{}");
    let put = |name: &str, text: &str| {
        fs::write(desk.folder.path().join(name), format!("{RULES}{text}")).unwrap();
    };
    put("bob.pl", "may_approve(bob, 'U:Qa', tool_deploy).\n");
    put("bad.pl", "may_aprove(ann, 'U:Qa', tool_deploy).\n");
    put("ann.pl", "may_approve(ann, 'U:Qa', tool_deploy).\n");
    for rules in ["--rules=bob.pl", "--rules=bad.pl", "--rules=missing.pl"] {
        let refused = desk.on_store("approve", &["--key=ann.key", rules, &id]);
        assert_eq!((refused.code, &*refused.stdout), (2, ""), "{rules}");
        assert!(refused.stderr.contains("error: "));
    }
    assert_eq!(desk.state(&id), "pending");
    let approved = desk.on_store("approve", &["--key=ann.key", "--rules=ann.pl", &id]);
    assert_eq!(approved.code, 0, "{}", approved.stderr);
}

#[test]
fn a_forged_row_approves_nothing() {
    let desk = Desk::new();
    let id = desk.ask(r#"{"n":1}"#);
    desk.tamper("UPDATE request SET state = 'approved'");
    assert_eq!(desk.refused(r#"{"n":1}"#), Reason::BadSignature);
    assert_eq!(desk.state(&id), "void");

    // Ann's own signature, on another request.
    let (one, other) = (desk.ask(r#"{"n":1}"#), desk.ask(r#"{"n":2}"#));
    assert_eq!(desk.approve(&one).code, 0);
    for column in ["digest", "approve", "expires_at", "approver", "signature"] {
        desk.tamper(&format!(
            "UPDATE request SET verdict_{column} = \
             (SELECT verdict_{column} FROM request WHERE id = '{one}') WHERE id = '{other}'"
        ));
    }
    desk.tamper(&format!(
        "UPDATE request SET state = 'approved' WHERE id = '{other}'"
    ));
    assert_eq!(desk.refused(r#"{"n":2}"#), Reason::BadSignature);

    // What is approved is changed afterwards, so that it looks used for another call.
    desk.tamper(&format!(
        "UPDATE request SET arguments = '{{\"n\":3}}' WHERE id = '{one}'"
    ));
    assert_ne!(desk.refused(r#"{"n":3}"#), Reason::Error);
    assert_eq!(desk.runs(), 0);
}

#[test]
fn what_changed_since_it_was_shown_is_not_signed() {
    let desk = Desk::new();
    let id = desk.ask(r#"{"path":"/tmp/x"}"#);
    let digest = desk.on_store("show", &["--format=json", &id]).json()["digest"].clone();
    let digest = format!("--digest={}", digest.as_str().unwrap());
    desk.tamper(r#"UPDATE request SET arguments = '{"path":"/"}'"#);
    let changed = desk.on_store("approve", &["--key=ann.key", &digest, &id]);
    assert_eq!(changed.code, 2, "{}", changed.stdout);
    assert_eq!(desk.state(&id), "pending");
    desk.tamper(r#"UPDATE request SET arguments = '{"path":"/tmp/x"}'"#);
    let same = desk.on_store("approve", &["--key=ann.key", &digest, &id]);
    assert_eq!(same.code, 0, "{}", same.stderr);
    // The key may come from elsewhere.
    let id = desk.ask("{}");
    let key = fs::read_to_string(desk.folder.path().join("ann.key")).unwrap();
    let args = [
        "approvals",
        "approve",
        "--store=approvals.db",
        "--key=-",
        &id,
    ];
    assert_eq!(run_with(desk.folder.path(), &args, &key).code, 0);
    assert!(desk.call(&desk.turn(), "{}").is_ok());
}

#[test]
fn what_is_too_old_is_expired() {
    let desk = Desk::new();
    let id = desk.ask("{}");
    desk.tamper("UPDATE request SET requested_at = 1767225600000, expires_at = 1767225900000");
    assert_eq!(desk.state(&id), "expired");
    let late = desk.approve(&id);
    assert_eq!((late.code, &*late.stdout), (1, ""));
    assert!(late.stderr.contains("expired"), "{}", late.stderr);
    let shown = desk.on_store("show", &[&id]).stdout;
    assert!(shown.contains("2026-01-01 00:00:00 UTC") && shown.contains("nobody answered in time"));
    let pending = desk.on_store("list", &["--state=pending", "--format=json"]);
    assert_eq!(pending.json(), json!({"approvals": []}));
    let expired = desk.on_store(
        "list",
        &["--state=expired", "--state=void", "--format=json"],
    );
    assert_eq!(expired.json()["approvals"][0]["state"], "expired");
    assert_eq!(desk.on_store("revoke", &[&id]).code, 1);
}

#[test]
fn all_that_is_asked_is_shown() {
    let desk = Desk::new();
    let hidden = "ok\u{202e}\u{200b}\n\u{1b}[2K";
    let long = "y".repeat(3000);
    let arguments = json!({"hidden": hidden, "long": long, "n": 1}).to_string();
    let id = desk.ask(&arguments);
    let shown = desk.on_store("show", &[&id]).stdout;
    let shown = shown.replace("\n    | ", "");
    assert!(shown.contains(&long));
    assert_snapshot!(masked(&shown.replace(&long, "<3000 y>")));
    let listed = desk.on_store("list", &[]).stdout;
    assert_snapshot!(masked(&listed));
    for text in [&shown, &listed] {
        assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{1b}']));
    }
    let document = desk.on_store("show", &["--format=json", &id]).json();
    assert_eq!(document["arguments"]["hidden"], hidden);
    assert_eq!(document["arguments"]["long"], long);
    // What no gate has written is shown as it is.
    desk.tamper(
        r#"UPDATE request SET arguments = '{"n":1, "n":2}', tool = 'a' || char(10) || 'state: ok'"#,
    );
    let shown = desk.on_store("show", &[&id]).stdout;
    assert!(
        shown.contains(r#"{"n":1, "n":2}"#) && shown.contains("a\\u{a}state: ok"),
        "{shown}"
    );
    let document = desk.on_store("show", &["--format=json", &id]).json();
    assert_eq!(document["arguments"], r#"{"n":1, "n":2}"#);
}

#[test]
fn the_documents() {
    let desk = Desk::new();
    let id = desk.ask(r#"{"to":"prod","n":1.50}"#);
    let listed = desk.on_store("list", &["--format=json"]).json();
    let row = &listed["approvals"][0];
    let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "actor",
            "approver",
            "arguments",
            "chain",
            "expires_at",
            "id",
            "level",
            "reason",
            "requested_at",
            "server",
            "state",
            "tool"
        ]
    );
    assert_eq!(row["arguments"], json!({"n": 1.5, "to": "prod"}));
    assert_eq!(
        (&row["approver"], &row["level"]),
        (&Value::Null, &json!("confirm"))
    );
    assert!(desk.approve(&id).code == 0);
    let sessions = session(
        desk.folder.path(),
        &[
            &["approvals", "list", "--store=approvals.db"],
            &["approvals", "show", "--store=approvals.db", &id],
            &[
                "approvals",
                "show",
                "--store=approvals.db",
                "--format=json",
                &id,
            ],
            &[
                "approvals",
                "approve",
                "--store=approvals.db",
                "--key=ann.key",
                &id,
            ],
            &[
                "approvals",
                "approve",
                "--store=approvals.db",
                "--key=ann.key",
                "--format=json",
                &id,
            ],
            &["approvals", "revoke", "--store=approvals.db", &id],
            &[
                "approvals",
                "revoke",
                "--store=approvals.db",
                "--format=json",
                &id,
            ],
            &[
                "approvals",
                "deny",
                "--store=approvals.db",
                "--key=ann.key",
                "nosuch",
            ],
            &[
                "approvals",
                "show",
                "--store=approvals.db",
                "--format=json",
                "nosuch",
            ],
        ],
    );
    assert_snapshot!(masked(&sessions));
}

#[test]
fn what_cannot_be_read_is_no_answer() {
    let folder = folder(&[("text.db", "no store"), ("ann.key", "{}")]);
    let made = run(folder.path(), &["approvals", "keygen", "--key=bob.key"]);
    assert_eq!(made.code, 0);
    drop(SqliteStore::open(folder.path().join("empty.db")).unwrap());
    let sessions = session(
        folder.path(),
        &[
            &["approvals", "list", "--store=missing.db"],
            &["approvals", "list", "--store=missing.db", "--format=json"],
            &["approvals", "list", "--store=text.db"],
            &["approvals", "list", "--store=."],
            &["approvals", "list", "--store=empty.db"],
            &["approvals", "list", "--store=empty.db", "--format=json"],
            &[
                "approvals",
                "show",
                "--store=missing.db",
                "--format=json",
                "a",
            ],
            &[
                "approvals",
                "approve",
                "--store=empty.db",
                "--key=bob.key",
                "a",
            ],
            &["approvals", "approve", "--store=empty.db", "a"],
            &["approvals", "keygen", "--key=bob.key"],
            &["approvals", "keygen", "--key=bob.key", "--format=json"],
            &["approvals", "keygen", "--key=x.key", "--name="],
            &["approvals", "keygen", "--key=x.key", "--name=a=b"],
            &["approvals", "keygen", "--key=x.key", "--name= a"],
            &["approvals", "keygen", "--key=missing/x.key"],
            &["approvals", "nosuch"],
            &["approvals"],
            &["approvals", "--help"],
            &["approvals", "approve", "--help"],
        ],
    );
    assert_snapshot!(sessions);
    let hidden = ["approvals", "keygen", "--key=x.key", "--name=a\u{202e}b"];
    assert_eq!(run(folder.path(), &hidden).code, 2);
    assert!(!folder.path().join("missing.db").exists());
    assert!(!folder.path().join("x.key").exists());
}

#[cfg(unix)]
#[test]
fn keys_are_their_owners_alone() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let desk = Desk::new();
    let path = |name: &str| desk.folder.path().join(name);
    let mode = |name: &str, mode: u32| {
        fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let is_private =
        |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777 == 0o600;
    assert!(is_private(&path("ann.key")));
    let secret = fs::read(path("ann.key")).unwrap();
    symlink(path("new.key"), path("link.key")).unwrap();
    for file in ["ann.key", "link.key"] {
        let made = desk.run(&["keygen", "--name=ann", "--key", file]);
        assert_eq!((made.code, &*made.stdout), (2, ""), "{file}");
    }
    assert_eq!(fs::read(path("ann.key")).unwrap(), secret);
    assert!(!path("new.key").exists());

    let id = desk.ask("{}");
    symlink(path("ann.key"), path("to-ann.key")).unwrap();
    fs::write(path("short.key"), "{}").unwrap();
    mode("short.key", 0o600);
    let mut changed: Value = serde_json::from_slice(&secret).unwrap();
    changed["public"] = "0".repeat(64).into();
    fs::write(path("changed.key"), changed.to_string()).unwrap();
    mode("changed.key", 0o600);
    for file in ["to-ann.key", "short.key", "changed.key", "missing.key", "."] {
        let refused = desk.on_store("approve", &["--key", file, &id]);
        assert_eq!((refused.code, &*refused.stdout), (2, ""), "{file}");
    }
    for readable in [0o640, 0o604, 0o620] {
        mode("ann.key", readable);
        let refused = desk.approve(&id);
        assert_eq!(refused.code, 2, "{readable:o}");
        assert!(refused.stderr.contains("chmod 600"), "{}", refused.stderr);
    }
    assert_eq!(desk.state(&id), "pending");
    mode("ann.key", 0o400);
    assert_eq!(desk.approve(&id).code, 0);
}

/// The text without what differs, and with one space for any number.
pub(crate) fn compared(text: &str) -> String {
    let masked = masked(text);
    let lines = masked
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

/// The value of the first `"key": "…"` in a text.
fn quoted<'a>(text: &'a str, key: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("\"{key}\": \"")).unwrap();
    rest.split_once('"').unwrap().0
}

#[test]
fn the_commands_of_the_docs() {
    let text = fs::read_to_string(root().join("docs/approvals.md")).unwrap();
    let folder = folder(&[]);
    let path = folder.path().to_owned();
    fs::create_dir(path.join("rules")).unwrap();
    fs::copy(
        root().join("rules/governance.pl"),
        path.join("rules/governance.pl"),
    )
    .unwrap();
    let call = text
        .lines()
        .find(|line| line.starts_with("{\"hook_event_name\""));
    fs::write(path.join("call.json"), call.unwrap()).unwrap();
    let mut folder = Some(folder);
    let mut desk: Option<(Desk, String)> = None;
    let mut ran = Vec::new();
    for step in steps(&text) {
        let (mut args, mut input, mut quiet) = (Vec::new(), String::new(), false);
        for word in &step.words[1..] {
            match (word.strip_prefix('<'), word.strip_prefix('>'), &desk) {
                (Some(file), ..) => input = fs::read_to_string(path.join(file)).unwrap(),
                (_, Some(_), _) => quiet = true,
                (.., Some((_, id))) if compared(word) == "<id>" => args.push(&**id),
                _ => args.push(&**word),
            }
        }
        let result = run_with(&path, &args, &input);
        assert_eq!(result.code, step.code, "{args:?}: {}", result.stderr);
        if !quiet {
            assert_eq!(compared(&result.stdout), compared(&step.output), "{args:?}");
        }
        if let ["approvals", "keygen", ..] = &*args {
            let made = Desk::with_approver(folder.take().unwrap(), result.stdout.trim_end());
            let id = made.ask(r#"{"to":"prod"}"#);
            desk = Some((made, id));
        }
        ran.push(step.words[1..3].join(" "));
    }
    assert_eq!(ran.len(), 9, "{ran:?}");
}

#[cfg(unix)]
#[test]
fn the_settings_of_the_docs() {
    let text = fs::read_to_string(root().join("docs/approvals.md")).unwrap();
    let folder = folder(&[("governance.pl", "may_execute_tool('U:Qa', tool_repl).\n")]);
    let path = folder.path().display().to_string();
    let command = quoted(&text, "command")
        .replace("/etc/horngate/rules", &path)
        .replace("/var/lib/horngate", &path);
    let binary = Path::new(env!("CARGO_BIN_EXE_horngate")).parent().unwrap();
    let code = |folder: &Path, tool: &str| {
        let mut shell = std::process::Command::new("/bin/sh")
            .args(["-c", &command])
            .env("PATH", folder)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = shell.stdin.take().unwrap();
        let call = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {}});
        // Nobody reads it if there is no program.
        let _ = std::io::Write::write_all(&mut stdin, call.to_string().as_bytes());
        drop(stdin);
        let output = shell.wait_with_output().unwrap();
        (output.status.code(), output.stdout.is_empty())
    };
    assert_eq!(code(binary, "repl"), (Some(0), false));
    assert_eq!(code(binary, "Bash"), (Some(2), true));
    assert_eq!(code(Path::new("/nonexistent"), "repl"), (Some(2), true));
}
