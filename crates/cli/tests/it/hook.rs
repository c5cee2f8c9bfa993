//! A coding agent's hook: it ends with 0 when it allows, and with 2 whatever else happens.

use super::{Run, folder, root, run, run_with, session};
use horngate_gate::verify;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use tempfile::TempDir;

const RULES: &str = "\
may_execute_tool('U:Qa', tool_repl).
may_execute_tool('U:Qa', 'tool_Bash').
may_execute_tool('U:Qa', tool_deploy).
may_execute_tool('U:Qa', tool_drop).
may_execute_tool('U:Ops', tool_deploy).
confirm_tool('U:Qa', tool_deploy).
destructive_tool('U:Qa', tool_drop, 'the data is gone then').
";

const HOOK: [&str; 5] = ["hook", "--rules", "rules.pl", "--actor", "U:Qa"];

fn asked(tool: &str) -> String {
    json!({
        "session_id": "s-1", "hook_event_name": "PreToolUse", "cwd": "/home/qa",
        "tool_name": tool, "tool_input": {"command": "ls", "api_key": "k"},
    })
    .to_string()
}

fn rules() -> TempDir {
    folder(&[("rules.pl", RULES)])
}

/// The run of a hook that must not allow.
fn denied(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    let output = super::horngate(folder)
        .args(args)
        .write_stdin(input)
        .output()
        .unwrap();
    let run = Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    let input = String::from_utf8_lossy(input);
    let start: String = input.chars().take(300).collect();
    assert_eq!((run.code, &*run.stdout), (2, ""), "{args:?} {start}");
    assert!(!run.stderr.trim().is_empty(), "{args:?} {start}");
    run
}

#[test]
fn an_allowed_call_has_the_hosts_json() {
    let folder = rules();
    for tool in ["repl", "Bash"] {
        let allowed = run_with(folder.path(), &HOOK, &asked(tool));
        assert_eq!((allowed.code, &*allowed.stderr), (0, ""));
        let output = &allowed.json()["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], "PreToolUse");
        assert_eq!(output["permissionDecision"], "allow");
    }
    let patient = [&HOOK[..], &["--timeout=1e18"]].concat();
    assert_eq!(run_with(folder.path(), &patient, &asked("repl")).code, 0);
    let least = run_with(folder.path(), &HOOK, r#"{"tool_name":"repl"}"#);
    assert_snapshot!(least.stdout, @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"may_execute_tool('U:Qa',tool_repl) is derived"}}"#);
}

#[test]
fn what_a_model_is_told() {
    let folder = rules();
    let mut told = String::new();
    let long = "x".repeat(900);
    for tool in [
        "rm",
        "bash",
        "tool_repl",
        "deploy",
        "drop",
        "a\u{202e}\nb",
        &long,
    ] {
        let denied = denied(folder.path(), &HOOK, asked(tool).as_bytes());
        assert_eq!(denied.stderr.lines().count(), 1);
        told.push_str(&denied.stderr);
    }
    assert_snapshot!(told);
}

#[test]
fn the_actor_comes_from_the_flag_alone() {
    let folder = rules();
    let mut input: Value = serde_json::from_str(&asked("repl")).unwrap();
    for key in ["actor", "agent", "agent_type", "user", "chain"] {
        input[key] = "U:Qa".into();
    }
    let args = ["hook", "--rules", "rules.pl", "--actor", "U:Eve"];
    let eve = denied(folder.path(), &args, input.to_string().as_bytes());
    assert!(eve.stderr.contains("unknown-actor"), "{}", eve.stderr);
    // What one actor must have confirmed, another need not.
    input["tool_name"] = "deploy".into();
    let args = ["hook", "--rules", "rules.pl", "--actor", "U:Ops"];
    assert_eq!(run_with(folder.path(), &args, &input.to_string()).code, 0);
}

#[test]
fn another_allowlist_and_prefix() {
    let folder = folder(&[(
        "rules.pl",
        "may_use('U:Qa', t_repl).\nmay_use('U:Qa', t_rm).\nconfirm_tool('U:Qa', t_rm).\n",
    )]);
    let args = [&HOOK[..], &["--allowlist=may_use/2", "--tool-prefix=t_"]].concat();
    assert_eq!(run_with(folder.path(), &args, &asked("repl")).code, 0);
    let refused = denied(folder.path(), &args, asked("rm").as_bytes());
    assert!(
        refused.stderr.contains("confirmation"),
        "{}",
        refused.stderr
    );
    denied(folder.path(), &HOOK, asked("repl").as_bytes());
}

#[test]
fn malformed_input_is_denied() {
    let folder = rules();
    let deep = format!(
        r#"{{"tool_name":"repl","tool_input":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let huge = format!(r#"{{"tool_name":"repl","x":"{}"}}"#, "x".repeat(5 << 20));
    let name = format!(r#"{{"tool_name":"{}"}}"#, "x".repeat(2000));
    let texts = [
        "",
        " ",
        "\n",
        "\u{feff}",
        "null",
        "true",
        "1",
        "\"repl\"",
        "[]",
        "{}",
        "{",
        "}",
        "repl",
        r#"{"tool_name"}"#,
        r#"{"tool_name":}"#,
        r#"{"tool_name":"repl"#,
        r#"{"tool_name":"repl""#,
        r#"{"tool_name":"repl",}"#,
        r#"{'tool_name':'repl'}"#,
        r#"{tool_name:"repl"}"#,
        r#"{"tool_name":"repl"}}"#,
        r#"{"tool_name":"repl"} {"tool_name":"repl"}"#,
        r#"{"tool_name":"repl"}x"#,
        r#"[{"tool_name":"repl"}]"#,
        r#"{"a":{"tool_name":"repl"}}"#,
        r#"{"tool_name":""}"#,
        r#"{"tool_name":null}"#,
        r#"{"tool_name":1}"#,
        r#"{"tool_name":true}"#,
        r#"{"tool_name":["repl"]}"#,
        r#"{"tool_name":{"name":"repl"}}"#,
        r#"{"Tool_name":"repl"}"#,
        r#"{"toolName":"repl"}"#,
        r#"{"tool_name":"rm","tool_name":"repl"}"#,
        r#"{"tool_name":"repl","tool_name":"repl"}"#,
        r#"{"tool_name":"repl","tool\u005fname":"repl"}"#,
        r#"{"tool_name":"repl","tool_input":{"a":1,"a":2}}"#,
        r#"{"tool_name":"repl","x":{"y":[{"a":1,"a":1}]}}"#,
        r#"{"tool_name":"repl","tool_input":[]}"#,
        r#"{"tool_name":"repl","tool_input":"ls"}"#,
        r#"{"tool_name":"repl","tool_input":null}"#,
        r#"{"tool_name":"repl","n":9007199254740993}"#,
        r#"{"tool_name":"repl","n":1e400}"#,
        r#"{"tool_name":"repl","n":NaN}"#,
        r#"{"tool_name":"repl","n":01}"#,
        r#"{"tool_name":"repl","s":"\ud800"}"#,
        r#"{"tool_name":"\ud800repl"}"#,
        "{\"tool_name\":\"re\npl\"}",
        r#"{"tool_name":"repl","hook_event_name":"PostToolUse"}"#,
        r#"{"tool_name":"repl","hook_event_name":null}"#,
        r#"{"tool_name":"repl","hook_event_name":"pretooluse"}"#,
        r#"{"tool_name":"repl","session_id":7}"#,
        "\u{feff}{\"tool_name\":\"repl\"}",
        "{\"tool_name\":\"repl\"}\0",
        r#"{"tool_name":"repl "}"#,
        r#"{"tool_name":"REPL"}"#,
        r#"{"tool_name":"repl\u0000"}"#,
        r#"{"tool_name":"repl\u200b"}"#,
        r#"{"tool_name":"tool_repl"}"#,
        r#"{"tool_name":"X), true, (true"}"#,
        &deep,
        &huge,
        &name,
    ];
    for text in texts {
        denied(folder.path(), &HOOK, text.as_bytes());
    }
    for bytes in [
        &b"{\"tool_name\":\"repl\xff\"}"[..],
        b"{\"tool_name\":\"repl\",\"x\":\"\xc0\xaf\"}",
        b"\xff\xfe{\0}\0",
        b"{\"tool_name\":\"repl\",\"x\":\"\xed\xa0\x80\"}",
    ] {
        let run = denied(folder.path(), &HOOK, bytes);
        assert!(run.stderr.contains("UTF-8"), "{}", run.stderr);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_end_otherwise(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let folder = rules();
        denied(folder.path(), &HOOK, &bytes);
    }

    /// A good call with something put in the place of a part of it: allowed only if it still is a call of `repl`.
    #[test]
    fn no_change_of_a_call_ends_otherwise(
        at in 0_usize..150,
        length in 0_usize..12,
        other in prop_oneof![
            "[ -~]{0,8}",
            Just("\"tool_name\":\"repl\",".to_owned()),
            Just("\\ud800".to_owned()),
            Just("deploy".to_owned()),
        ],
    ) {
        let folder = rules();
        let mut text = asked("repl");
        let at = at.min(text.len());
        let end = (at + length).min(text.len());
        text.replace_range(at..end, &other);
        let run = run_with(folder.path(), &HOOK, &text);
        prop_assert!(run.code == 0 || run.code == 2, "{}", run.code);
        if run.code == 0 {
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(read["tool_name"] == "repl" || read["tool_name"] == "Bash");
            prop_assert_eq!(text.matches("tool_name").count(), 1);
        }
    }
}

#[test]
fn bad_usage_and_help_are_no_answer() {
    let folder = rules();
    for args in [
        &["hook"][..],
        &["hook", "--rules", "rules.pl"],
        &["hook", "--actor", "U:Qa"],
        &["hook", "--rules", "rules.pl", "--actor"],
        &[
            "hook", "--rules", "rules.pl", "--actor", "U:Qa", "--actor", "U:Qa",
        ],
        &["hook", "--rules", "rules.pl", "--actor", "U:Qa", "repl"],
        &[
            "hook", "--rules", "rules.pl", "--actor", "U:Qa", "--", "repl",
        ],
        &["hook", "--rules", "rules.pl", "--actor", "U:Qa", "--nosuch"],
        &[
            "hook",
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--audit-key=k",
        ],
        &[
            "hook",
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--timeout=0",
        ],
        &[
            "hook",
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--allowlist=x",
        ],
        &["hok", "--rules", "rules.pl", "--actor", "U:Qa"],
        &["hook", "--worker"],
    ] {
        denied(folder.path(), args, asked("repl").as_bytes());
    }
    for args in [&["hook", "--help"][..], &["hook", "-h"]] {
        assert_eq!(run(folder.path(), args).code, 2, "{args:?}");
    }
    assert_snapshot!(session(&root(), &[&["hook", "--help"]]));
}

#[test]
fn rules_that_do_not_hold_water_deny() {
    let many = "d(X) :- e(X, _).\n".to_owned()
        + &(0..60).map(|n| format!("e({n}, a).\n")).collect::<String>()
        + "may_execute_tool('U:Qa', tool_repl) :- d(X), d(Y), d(Z), X + Y + Z < 0.\n";
    let grant = "may_execute_tool('U:Qa', tool_repl).\n";
    let with = |more: &str| format!("{grant}{more}\n");
    let files = [
        ("syntax.pl", with("p(a")),
        ("open.pl", "may_execute_tool(_, _).\n".to_owned()),
        ("misspelt.pl", with("confrim_tool('U:Qa', tool_repl).")),
        ("arity.pl", with("confirm_tool('U:Qa').")),
        (
            "faulty.pl",
            with("confirm_tool(A, tool_repl) :- \\+ p(A).\np(x)."),
        ),
        ("atom.pl", with("destructive_tool('U:Qa', repl).")),
        (
            "approve.pl",
            with("may_approve(X, 'U:Qa', tool_repl) :- \\+ p(X).\np(x)."),
        ),
        (
            "undefined.pl",
            "may_execute_tool('U:Qa', tool_repl) :- nosuch(a).\n".to_owned(),
        ),
        ("other.pl", "may_run(a, b).\n".to_owned()),
        ("empty.pl", String::new()),
        // No gate is built on it.
        (
            "all.pl",
            "may_execute_tool(A, T) :- actor(A), tool(T).\nactor('U:Qa').\ntool(tool_repl).\n"
                .to_owned(),
        ),
        ("many.pl", many),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    let folder = folder(&files);
    let hook = |rules: &str, more: &[&str]| {
        let args = [&["hook", "--actor", "U:Qa", "--rules", rules], more].concat();
        denied(folder.path(), &args, asked("repl").as_bytes())
    };
    for (name, _) in &files {
        if *name != "many.pl" {
            hook(name, &[]);
        }
    }
    hook("missing.pl", &[]);
    hook("many.pl", &["--max-tuples=10"]);
    hook("many.pl", &["--max-clauses=10"]);
    let late = hook("many.pl", &["--timeout=0.000001"]);
    assert!(late.stderr.contains("in time"), "{}", late.stderr);
    let doubt = hook("all.pl", &[]).stderr;
    assert!(
        doubt.contains("--accept-doubt cartesian-grant=REASON"),
        "{doubt}"
    );
    for no in [
        "cartesian-grant",
        "cartesian-grant=",
        "never-true=x",
        "default-allow=other",
    ] {
        hook("all.pl", &["--accept-doubt", no]);
    }
    let args = [
        "hook",
        "--actor=U:Qa",
        "--rules=all.pl",
        "--accept-doubt=cartesian-grant=meant",
    ];
    assert_eq!(run_with(folder.path(), &args, &asked("repl")).code, 0);
    let misspelt = hook("misspelt.pl", &[]).stderr;
    assert!(misspelt.contains("confirm_tool"), "{misspelt}");
}

#[test]
fn what_is_answered_is_in_the_log() {
    let folder = rules();
    let args = [&HOOK[..], &["--audit", "audit.jsonl"]].concat();
    assert_eq!(run_with(folder.path(), &args, &asked("repl")).code, 0);
    denied(folder.path(), &args, asked("deploy").as_bytes());
    denied(folder.path(), &args, b"{");
    let path = folder.path().join("audit.jsonl");
    let log = BufReader::new(File::open(&path).unwrap());
    assert_eq!(verify(log, None, None, None).unwrap().unwrap().count, 3);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let field = |key: &str| -> Vec<Value> { lines.iter().map(|line| line[key].clone()).collect() };
    assert_eq!(field("event"), ["executing", "denied", "error"]);
    assert_eq!(field("tool"), [json!("repl"), json!("deploy"), Value::Null]);
    assert_eq!(
        field("reason"),
        [Value::Null, json!("no-approver"), json!("error")]
    );
    assert_eq!(lines[0]["chain"], json!(["U:Qa"]));
    assert_eq!(lines[0]["session"], "s-1");
    assert_eq!(
        lines[0]["arguments"],
        json!({"command": "ls", "api_key": "[redacted]"})
    );
    assert!(
        lines[0]["policy_hash"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );

    // What cannot be written down is denied.
    fs::write(&path, format!("{text}no line of a log\n")).unwrap();
    denied(folder.path(), &args, asked("repl").as_bytes());
    let args = [&HOOK[..], &["--audit", "missing/audit.jsonl"]].concat();
    denied(folder.path(), &args, asked("repl").as_bytes());
    let args = [&HOOK[..], &["--audit=a", "--audit-key=missing"]].concat();
    denied(folder.path(), &args, asked("repl").as_bytes());
    #[cfg(target_os = "linux")]
    denied(
        folder.path(),
        &[&HOOK[..], &["--audit=/dev/full"]].concat(),
        asked("repl").as_bytes(),
    );
}

/// A hook that runs, and waits for its input.
fn hook(folder: &Path, more: &[&str], stdout: Stdio) -> (Child, ChildStdin) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_horngate"))
        .args(HOOK)
        .args(more)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

fn answered((child, mut stdin): (Child, ChildStdin)) -> Output {
    stdin.write_all(asked("repl").as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[test]
fn an_answer_that_nobody_reads_is_no_answer() {
    let folder = rules();
    let (mut child, stdin) = hook(folder.path(), &[], Stdio::piped());
    drop(child.stdout.take());
    let output = answered((child, stdin));
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.is_empty());

    #[cfg(target_os = "linux")]
    {
        let full = File::create("/dev/full").unwrap();
        let output = answered(hook(folder.path(), &[], full.into()));
        assert_eq!(output.status.code(), Some(2));
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::time::{Duration, Instant};

    /// Runs a line of shell in which `$HOOK` is the hook.
    fn shell(folder: &Path, line: &str) -> i32 {
        let words = [&[env!("CARGO_BIN_EXE_horngate")], &HOOK[..]].concat();
        fs::write(folder.join("call.json"), asked("repl")).unwrap();
        let status = Command::new("sh")
            .args(["-c", line])
            .env("HOOK", words.join(" "))
            .current_dir(folder)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        status.code().unwrap_or(-1)
    }

    #[test]
    fn closed_streams_deny() {
        let folder = rules();
        for line in ["$HOOK <call.json >out", "$HOOK <call.json >/dev/null"] {
            assert_eq!(
                shell(folder.path(), &format!("{line}; exit $?")),
                0,
                "{line}"
            );
        }
        for line in [
            "$HOOK <call.json >&-; exit $?",
            "$HOOK <&- >out; exit $?",
            "$HOOK <&- >&- 2>&-; exit $?",
            "$HOOK </dev/null >out; exit $?",
            "$HOOK <. >out; exit $?",
        ] {
            assert_eq!(shell(folder.path(), line), 2, "{line}");
        }
        assert_eq!(
            shell(folder.path(), "$HOOK <call.json >out 2>&-; exit $?"),
            0
        );
    }

    #[test]
    fn too_little_memory_denies() {
        let folder = rules();
        let facts: String = (0..2000).map(|n| format!("d({n}).\n")).collect();
        let rules = format!(
            "{facts}pair(X, Y) :- d(X), d(Y).\nmay_execute_tool('U:Qa', tool_repl) :- pair(1, 2).\n"
        );
        fs::write(folder.path().join("rules.pl"), rules).unwrap();
        let mut codes = Vec::new();
        for kilobytes in [30_000, 60_000, 100_000, 140_000] {
            let line = format!("ulimit -v {kilobytes}; $HOOK <call.json >out; exit $?");
            codes.push(shell(folder.path(), &line));
        }
        // Below what the program itself needs the system does not start it, or the shell ends with another code.
        assert!(codes.iter().all(|code| *code != 0), "{codes:?}");
        assert_eq!(codes.last(), Some(&2), "{codes:?}");
    }

    fn children(process: u32) -> Vec<String> {
        let path = format!("/proc/{process}/task/{process}/children");
        let text = fs::read_to_string(path).unwrap();
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_check_that_is_killed_denies() {
        let folder = rules();
        for signal in ["KILL", "ABRT", "SEGV", "TERM"] {
            // It waits for the end of its input.
            let (hook, stdin) = hook(folder.path(), &[], Stdio::piped());
            let end = Instant::now() + Duration::from_secs(30);
            let worker = loop {
                if let [worker] = &*children(hook.id()) {
                    break worker.clone();
                }
                assert!(Instant::now() < end, "there is no other process");
                std::thread::sleep(Duration::from_millis(5));
            };
            let killed = Command::new("sh")
                .args(["-c", &format!("kill -{signal} {worker}")])
                .status()
                .unwrap();
            assert!(killed.success());
            let output = hook.wait_with_output().unwrap();
            drop(stdin);
            assert_eq!(output.status.code(), Some(2), "{signal}");
            assert!(output.stdout.is_empty() && !output.stderr.is_empty());
        }
    }

    /// Hosts go on when a hook ends with anything but 2.
    #[test]
    fn a_hook_that_is_asked_to_end_denies() {
        let folder = rules();
        for signal in ["TERM", "INT", "HUP", "QUIT"] {
            let (hook, stdin) = hook(folder.path(), &[], Stdio::piped());
            let end = Instant::now() + Duration::from_secs(30);
            while children(hook.id()).is_empty() {
                assert!(Instant::now() < end, "there is no other process");
                std::thread::sleep(Duration::from_millis(5));
            }
            let worker = children(hook.id()).pop().unwrap();
            let killed = Command::new("sh")
                .args(["-c", &format!("kill -{signal} {}", hook.id())])
                .status()
                .unwrap();
            assert!(killed.success());
            let output = hook.wait_with_output().unwrap();
            drop(stdin);
            assert_eq!(output.status.code(), Some(2), "{signal}");
            assert!(output.stdout.is_empty() && !output.stderr.is_empty());
            assert!(
                !Path::new(&format!("/proc/{worker}/exe")).exists(),
                "the worker goes on"
            );
        }
    }

    #[test]
    fn a_host_that_says_nothing_is_denied_in_time() {
        let folder = rules();
        let (hook, stdin) = hook(folder.path(), &["--timeout=0.3"], Stdio::piped());
        let output = hook.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("no answer in time"));
    }
}
