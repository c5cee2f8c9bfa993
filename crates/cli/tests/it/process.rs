use crate::{folder, root, run, session};
use insta::assert_snapshot;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn bad_usage_and_help_amid_arguments_end_with_two() {
    let rules = "--rules=rules/governance.pl";
    for args in [
        &[][..],
        &["nosuch"],
        &["check"],
        &["query", rules],
        &["query", "p(X)"],
        &["query", rules, "--count", "--limit=1", "p(X)"],
        &["query", rules, "--limit=x", "p(X)"],
        &["decide", rules],
        &["decide", rules, "U:Qa"],
        &["decide", rules, "U:Qa", "repl", "more"],
        &["decide", rules, "U:Qa", "repl", "--batch=-"],
        &["decide", rules, "U:Qa", "repl", "--format=sarif"],
        &["decide", rules, "U:Qa", "repl", "--allowlist=nonsense"],
        &["decide", rules, "U:Qa", "repl", "--timeout=0"],
        &["decide", rules, "U:Qa", "repl", "--timeout=soon"],
        &["decide", rules, "U:Qa", "repl", "--max-tuples=-1"],
        // An actor or a tool that a caller chose.
        &["decide", rules, "--help", "repl"],
        &["decide", rules, "-h", "repl"],
        &["decide", rules, "U:Qa", "--help"],
        &["decide", rules, "--version", "repl"],
        &["decide", rules, "-V", "repl"],
        &["decide", rules, "--batch=x", "repl"],
        &["approvals", "show", "--store=x", "--help"],
        &["audit", "verify", "x", "--help"],
    ] {
        assert_eq!(run(&root(), args).code, 2, "{args:?}");
    }
    let named_help = ["decide", rules, "--", "--help", "repl"];
    assert_eq!(run(&root(), &named_help).code, 1);
}

#[test]
fn help_and_version() {
    for args in [
        &["--help"][..],
        &["-V"],
        &["help", "decide"],
        &["decide", "--help"],
        &["approvals", "--help"],
        &["approvals", "approve", "--help"],
        &["audit", "verify", "--help"],
        &["help", "hook"],
    ] {
        assert_eq!(run(&root(), args).code, 0, "{args:?}");
    }
    assert_snapshot!(session(
        &root(),
        &[
            &["--version"],
            &["--help"],
            &["check", "--help"],
            &["query", "--help"],
            &["decide", "--help"],
            &["explain", "--help"],
            &["grants", "--help"],
        ]
    ));
}

#[test]
fn no_colour_in_a_pipe() {
    let folder = folder(&[("a.pl", "p(a,.\n")]);
    let output = Command::new(env!("CARGO_BIN_EXE_horngate"))
        .args(["check", "a.pl"])
        .current_dir(folder.path())
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    assert!(!output.stderr.is_empty());
    assert!(!output.stderr.contains(&0x1b) && !output.stdout.contains(&0x1b));
}

/// Runs with a standard output that nobody reads.
fn unread(folder: &Path, args: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_horngate"))
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap()
}

#[test]
fn a_closed_pipe_is_no_answer_and_no_panic() {
    let facts: String = (0..20_000).map(|n| format!("p(a{n}).\n")).collect();
    let batch = "{\"actor\":\"a\",\"tool\":\"b\"}\n".repeat(20_000);
    let folder = folder(&[
        ("a.pl", &facts),
        ("g.pl", "may_execute_tool(a, tool_b).\n"),
        ("in.jsonl", &batch),
    ]);
    for args in [
        &["query", "--rules=a.pl", "p(X)"][..],
        &["query", "--rules=a.pl", "p(X)", "--format=json"],
        &["decide", "--rules=g.pl", "--batch=in.jsonl"],
    ] {
        let output = unread(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written_is_no_answer() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_horngate"))
        .args(["decide", "--rules=rules/governance.pl", "U:Qa", "repl"])
        .current_dir(root())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error: "));
}

#[test]
fn when_the_time_is_over_the_answer_is_no() {
    let facts: String = (0..300).map(|n| format!("d({n}).\n")).collect();
    let rule = "may_execute_tool(a, tool_b) :- d(W), d(X), d(Y), d(Z), W + X + Y + Z < 0.\n";
    let folder = folder(&[("a.pl", &format!("{facts}{rule}"))]);
    let (rules, limit) = ("--rules=a.pl", "--timeout=0.05");
    let decided = run(
        folder.path(),
        &["decide", rules, limit, "a", "b", "--format=json"],
    );
    assert_eq!(decided.code, 2);
    let json = decided.json();
    assert_eq!(
        (&json["decision"], &json["error"][0]["kind"]),
        (&"deny".into(), &"timeout".into())
    );
    assert_snapshot!(session(
        folder.path(),
        &[
            &["decide", rules, limit, "a", "b"],
            &[
                "query",
                rules,
                limit,
                "may_execute_tool(a, T)",
                "--format=json"
            ],
            &["grants", rules, limit, "--format=json"],
            &["check", "a.pl", limit],
            &["check", "a.pl", limit, "--format=json"],
        ]
    ));
}
