//! `horngate decide --batch - --watch`.

use crate::{folder, peer, root, run, run_with};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

const RULES: &str = ":- dynamic may_execute_tool/2.\nmay_execute_tool(ann, tool_x).\n";

/// A horngate that is asked by the line.
struct Gate {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Gate {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_horngate"))
            .args(["decide", "--batch=-", "--watch"])
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.join("stderr.txt")).unwrap())
            .spawn()
            .unwrap();
        Self {
            questions: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// The reason for which ann may or may not run `tool`.
    fn ask(&mut self, tool: &str) -> String {
        writeln!(self.questions, "{{\"actor\":\"ann\",\"tool\":\"{tool}\"}}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        let reason = answer["reason"].as_str().unwrap().to_owned();
        assert_eq!(answer["decision"] == "allow", reason == "derived");
        reason
    }

    fn end(mut self) -> i32 {
        drop(self.questions);
        self.child.wait().unwrap().code().unwrap()
    }
}

fn granting(tool: &str) -> String {
    RULES.replace("tool_x", &format!("tool_{tool}"))
}

#[test]
fn each_answer_is_by_the_rules_as_they_are() {
    let folder = folder(&[("rules/a.pl", RULES)]);
    let path = folder.path().join("rules/a.pl");
    let mut gate = Gate::start(folder.path(), &["--rules=rules"]);
    assert_eq!(gate.ask("x"), "derived");
    // In place, with another length.
    fs::write(&path, granting("yy")).unwrap();
    assert_eq!(gate.ask("x"), "unknown-tool");
    // Another file under the name.
    fs::write(folder.path().join("new"), RULES).unwrap();
    fs::rename(folder.path().join("new"), &path).unwrap();
    assert_eq!(gate.ask("x"), "derived");
    // Bad, half written, gone: denied, and mended.
    for bad in [
        "may_execute_tool(ann, tool_x)",
        ":- dynamic may_execute_tool/2.\nmay_exe",
        "",
        "p(a).\n",
    ] {
        fs::write(&path, bad).unwrap();
        assert_eq!(gate.ask("x"), "error", "{bad:?}");
        assert_eq!(gate.ask("x"), "error", "{bad:?}");
    }
    fs::write(&path, RULES).unwrap();
    assert_eq!(gate.ask("x"), "derived");
    fs::remove_file(&path).unwrap();
    assert_eq!(gate.ask("x"), "error");
    fs::write(&path, RULES).unwrap();
    assert_eq!(gate.ask("x"), "derived");
    // A file more in the folder, and one less.
    let other = folder.path().join("rules/b.pl");
    fs::write(&other, "may_execute_tool(ann, tool_z).\n").unwrap();
    assert_eq!(
        gate.ask("x"),
        "error",
        "two files define it without multifile"
    );
    fs::write(&other, "q(a).\n").unwrap();
    assert_eq!(gate.ask("x"), "derived");
    fs::remove_dir_all(folder.path().join("rules")).unwrap();
    assert_eq!(gate.ask("x"), "error");
    assert_eq!(gate.end(), 2);
    let told = fs::read_to_string(folder.path().join("stderr.txt")).unwrap();
    let denied = told.matches("every question is denied until the rules are mended");
    assert_eq!(denied.count(), 6, "{told}");
    assert_eq!(
        told.matches("note: the rules have changed: 1 grant\n")
            .count(),
        5,
        "{told}"
    );
}

#[test]
fn a_change_that_no_metadata_shows_is_seen() {
    let folder = folder(&[("a.pl", &granting("x"))]);
    let path = folder.path().join("a.pl");
    let mut gate = Gate::start(folder.path(), &["--rules=a.pl"]);
    // The same length and the same time of the last change, again and again.
    let then = SystemTime::now() - Duration::from_secs(100);
    for round in 0..200 {
        let tool = ["x", "y"][round % 2];
        let mut file = File::options().write(true).open(&path).unwrap();
        file.write_all(granting(tool).as_bytes()).unwrap();
        file.set_modified(then).unwrap();
        drop(file);
        assert_eq!(gate.ask(tool), "derived", "in round {round}");
    }
    assert_eq!(gate.end(), 0);
}

#[test]
fn what_has_settled_is_not_read_again() {
    let folder = folder(&[("a.pl", RULES)]);
    let mut gate = Gate::start(folder.path(), &["--rules=a.pl"]);
    thread::sleep(Duration::from_millis(3_300));
    assert_eq!(gate.ask("x"), "derived");
    let io = format!("/proc/{}/io", gate.child.id());
    let read = || {
        let io = fs::read_to_string(&io).ok()?;
        let line = io.lines().find_map(|line| line.strip_prefix("rchar: "))?;
        line.parse::<u64>().ok()
    };
    if let Some(before) = read() {
        for _ in 0..50 {
            gate.ask("x");
        }
        // The questions have some 30 bytes each, the rules would have more.
        let bytes = read().unwrap() - before;
        assert!(bytes < 50 * (RULES.len() as u64 + 30), "{bytes}");
    }
    assert_eq!(gate.end(), 0);
}

#[test]
fn rules_that_are_bad_at_first_can_be_mended() {
    let folder = folder(&[("b.pl", "p(a).\n")]);
    let mut gate = Gate::start(folder.path(), &["--rules=a.pl", "--rules=b.pl"]);
    assert_eq!(gate.ask("x"), "error");
    fs::write(folder.path().join("a.pl"), RULES).unwrap();
    assert_eq!(gate.ask("x"), "derived");
    assert_eq!(gate.ask("y"), "unknown-tool");
    assert_eq!(gate.end(), 2);
}

#[cfg(unix)]
#[test]
fn a_link_that_points_elsewhere_is_a_change_and_a_pipe_is_no_file() {
    use std::os::unix::fs::symlink;
    let folder = folder(&[("x.pl", &granting("x")), ("y.pl", &granting("y"))]);
    let link = folder.path().join("link.pl");
    symlink("x.pl", &link).unwrap();
    let mut gate = Gate::start(folder.path(), &["--rules=link.pl"]);
    assert_eq!(gate.ask("x"), "derived");
    fs::remove_file(&link).unwrap();
    symlink("y.pl", &link).unwrap();
    assert_eq!(gate.ask("x"), "unknown-tool");
    assert_eq!(gate.ask("y"), "derived");
    assert_eq!(gate.end(), 1);
    let input = "{\"actor\":\"ann\",\"tool\":\"x\"}\n";
    let args = ["decide", "--rules=/dev/null", "--batch=-", "--watch"];
    let denied = run_with(folder.path(), &args, input);
    assert_eq!(denied.code, 2);
    assert!(
        denied.stderr.contains("only regular files are read again"),
        "{}",
        denied.stderr
    );
}

#[test]
fn the_time_limit_holds_for_each_reading() {
    let numbers: String = (0..300).map(|n| format!("n({n}).\n")).collect();
    let slow = format!(
        "{RULES}{numbers}may_execute_tool(ann, tool_y) :- n(A), n(B), n(C), n(D), A + B + C + D =:= -1.\n"
    );
    let folder = folder(&[("a.pl", RULES)]);
    let mut gate = Gate::start(folder.path(), &["--rules=a.pl", "--timeout=1"]);
    assert_eq!(gate.ask("x"), "derived");
    fs::write(folder.path().join("a.pl"), slow).unwrap();
    assert_eq!(gate.ask("x"), "error");
    assert_eq!(gate.ask("x"), "error");
    fs::write(folder.path().join("a.pl"), RULES).unwrap();
    assert_eq!(gate.ask("x"), "derived");
    assert_eq!(gate.end(), 2);
}

#[test]
fn watching_is_for_batches() {
    let watched = run(
        &root(),
        &["decide", "--rules=rules", "--watch", "U:Qa", "repl"],
    );
    assert_eq!(watched.code, 2);
    let nobody = run(
        &root(),
        &["decide", "--rules=rules", "--watch", "--batch=-"],
    );
    assert_eq!(nobody.code, 2);
}

#[test]
fn the_example_in_python_asks_and_never_allows_by_mistake() {
    if !peer::present("python3", "--version", "python3") {
        return;
    }
    let python = |args: &[&str], program: &str| {
        let output = Command::new("python3")
            .arg(root().join("examples/ask.py"))
            .args(args)
            .env("HORNGATE", program)
            .current_dir(root())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), text)
    };
    let own = env!("CARGO_BIN_EXE_horngate");
    let (code, text) = python(&[], own);
    assert_eq!(code, 0, "{text}");
    assert_eq!(text.lines().count(), 11, "{text}");
    let rules = "rules/governance.pl";
    assert_eq!(
        python(&[rules, "U:Qa", "repl"], own),
        (0, "allow: derived\n".to_owned())
    );
    assert_eq!(
        python(&[rules, "U:Qa", "nosuch"], own),
        (1, "deny: unknown-tool\n".to_owned())
    );
    assert_eq!(python(&[rules, "U:Qa", "repl"], "no-such-program").0, 2);
    // One that ends at once, one that answers nonsense.
    for program in ["true", "echo"] {
        assert_eq!(python(&[rules, "U:Qa", "repl"], program).0, 2, "{program}");
    }
}
