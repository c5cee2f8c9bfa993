use crate::{folder, horngate, root, run, run_with};
use insta::assert_snapshot;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const RULES: &str = "--rules=rules/governance.pl";

#[test]
fn good_and_bad_lines() {
    let long = "x".repeat((1 << 20) + 1);
    let input = [
        r#"{"actor":"U:Qa","tool":"repl"}"#,
        r#"{"tool":"run_shell","actor":"U:Cd"}"#,
        r#"{"actor":"U:Ux","tool":"repl"}"#,
        r#"{"actor":"U:Qa","tool":"rm_rf_slash"}"#,
        r#"{"actor":"U:Qa","tool":"remote_trigger"}"#,
        r#"{"actor":"\u0055:Qa","tool":"repl"}"#,
        r#"{"actor":"U:Qa\u202e","tool":"repl"}"#,
        "",
        "nonsense",
        r#"["U:Qa","repl"]"#,
        r#"{"actor":"U:Qa"}"#,
        r#"{"tool":"repl"}"#,
        r#"{"actor":"U:Qa","tool":7}"#,
        r#"{"actor":"U:Qa","tool":"repl","tool":"repl"}"#,
        r#"{"actor":"U:Qa","tool":"repl","force":true}"#,
        r#"{"actor":"U:Qa","tool":"repl"} {"actor":"U:Qa","tool":"repl"}"#,
        r#"{"actor":"\ud800","tool":"repl"}"#,
        &long,
        r#"{"actor":"U:SD","tool":"repl"}"#,
    ];
    let from_stdin = run_with(&root(), &["decide", RULES, "--batch=-"], &input.join("\n"));
    assert_eq!(from_stdin.code, 2);
    assert_snapshot!(format!("{}\n{}", from_stdin.stdout, from_stdin.stderr));
    let folder = folder(&[("in.jsonl", &input.join("\r\n"))]);
    let file = folder.path().join("in.jsonl");
    let from_file = run(
        &root(),
        &["decide", RULES, "--batch", file.to_str().unwrap()],
    );
    assert_eq!((from_file.code, from_file.stdout), (2, from_stdin.stdout));
}

#[test]
fn bytes_that_are_no_text_are_a_bad_line() {
    let input =
        b"{\"actor\":\"U:Qa\xff\",\"tool\":\"repl\"}\n{\"actor\":\"U:Qa\",\"tool\":\"repl\"}\n";
    let output = horngate(&root())
        .args(["decide", RULES, "--batch=-"])
        .write_stdin(input)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let answers = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        answers,
        "{\"decision\":\"deny\",\"actor\":null,\"tool\":null,\"reason\":\"error\"}\n\
         {\"decision\":\"allow\",\"actor\":\"U:Qa\",\"tool\":\"repl\",\"reason\":\"derived\"}\n"
    );
}

#[test]
fn the_code_is_that_of_the_worst_line() {
    let code = |input: &str| run_with(&root(), &["decide", RULES, "--batch=-"], input).code;
    let (yes, no) = (
        "{\"actor\":\"U:Qa\",\"tool\":\"repl\"}\n",
        "{\"actor\":\"U:Ux\",\"tool\":\"repl\"}\n",
    );
    assert_eq!(code(yes), 0);
    assert_eq!(code(&format!("{yes}{no}{yes}")), 1);
    assert_eq!(code(&format!("{yes}x\n{no}")), 2);
    assert_eq!(code(""), 2);
}

#[test]
fn rules_that_are_refused_deny_every_line() {
    let folder = folder(&[
        ("a.pl", "may_execute_tool(a, tool_b.\n"),
        ("in.jsonl", "{\"actor\":\"a\",\"tool\":\"b\"}\nx\n"),
    ]);
    for rules in ["--rules=a.pl", "--rules=nosuch.pl"] {
        let denied = run(folder.path(), &["decide", rules, "--batch=in.jsonl"]);
        assert_eq!(denied.code, 2);
        assert_eq!(
            denied.stdout,
            "{\"decision\":\"deny\",\"actor\":\"a\",\"tool\":\"b\",\"reason\":\"error\"}\n\
             {\"decision\":\"deny\",\"actor\":null,\"tool\":null,\"reason\":\"error\"}\n"
        );
        assert_eq!(run(folder.path(), &["decide", rules, "--batch=-"]).code, 2);
    }
    let nosuch = run(
        folder.path(),
        &["decide", "--rules=a.pl", "--batch=nosuch.jsonl"],
    );
    assert_eq!((nosuch.code, &*nosuch.stdout), (2, ""));
}

#[test]
fn each_line_is_answered_before_the_next_is_sent() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_horngate"))
        .args(["decide", RULES, "--batch=-"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for (actor, decision) in [("U:Qa", "allow"), ("U:Ux", "deny"), ("U:SD", "allow")] {
        writeln!(questions, "{{\"actor\":\"{actor}\",\"tool\":\"repl\"}}").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.contains(&format!(
            "\"decision\":\"{decision}\",\"actor\":\"{actor}\""
        )));
    }
    drop(questions);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_long_batch_agrees_with_single_decisions() {
    let mut input = String::new();
    for number in 0..100_000 {
        let actor = ["U:Qa", "U:Ux", "J:Junior", "nobody"][number % 4];
        let tool = ["repl", "run_shell", "remote_trigger"][number % 3];
        writeln!(input, "{{\"actor\":\"{actor}\",\"tool\":\"{tool}\"}}").unwrap();
    }
    let folder = folder(&[]);
    let file = folder.path().join("in.jsonl");
    fs::write(&file, &input).unwrap();
    let batch = run(
        &root(),
        &["decide", RULES, "--batch", file.to_str().unwrap()],
    );
    assert_eq!(batch.code, 1);
    let lines: Vec<&str> = batch.stdout.lines().collect();
    assert_eq!(lines.len(), 100_000);
    for (line, first) in lines.iter().zip(lines.iter().take(12).cycle()) {
        assert_eq!(line, first);
    }
    for line in lines.iter().take(12) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let single = run(
            &root(),
            &[
                "decide",
                RULES,
                "--format=json",
                &text("actor"),
                &text("tool"),
            ],
        );
        assert_eq!(single.json()["decision"], line["decision"]);
        assert_eq!(single.json()["reason"], line["reason"]);
    }
}
