//! `horngate mcp`, as a client starts it; real servers, too, where they are installed.

use crate::{Run, folder, root, run};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const RULES: &str = "may_execute_tool('U:Qa', tool_echo).\nmay_execute_tool('U:Qa', tool_failing).\n\
    confirm_tool('U:Qa', tool_failing, \"it fails\").\n";

/// The server of the proxy's own tests.
fn scripted() -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_horngate")).parent().unwrap();
    let server = profile.join("examples/scripted_server");
    // Not every way to run the tests builds the examples.
    if !server.exists() {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "-q",
            "-p",
            "horngate-mcp",
            "--example",
            "scripted_server",
        ]);
        cargo.arg("--target-dir").arg(profile.parent().unwrap());
        if profile.ends_with("release") {
            cargo.arg("--release");
        }
        assert!(cargo.status().unwrap().success());
    }
    server
}

pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_horngate"));
        command
            .current_dir(folder)
            .args(["mcp", "--rules", "rules.pl", "--actor", "U:Qa"])
            .args(options)
            .arg("--")
            .arg(scripted())
            .arg("heard.jsonl");
        Self::of(command)
    }

    /// The client of what a command starts.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self {
            child,
            input,
            output,
            next: 1,
        };
        client.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        client
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(self.input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert_ne!(
                self.output.read_line(&mut line).unwrap(),
                0,
                "no answer to {method}"
            );
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    fn call(&mut self, tool: &str) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": {}}))["result"].take()
    }

    pub(crate) fn end(self) -> Option<i32> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        child.wait().unwrap().code()
    }
}

fn heard(folder: &Path) -> usize {
    let text = std::fs::read_to_string(folder.join("heard.jsonl")).unwrap();
    text.matches("tools/call").count()
}

#[test]
fn ann_approves_in_another_terminal() {
    let folder = folder(&[("rules.pl", RULES)]);
    let path = folder.path();
    let key = run(path, &["approvals", "keygen", "--key", "ann.key"]).stdout;
    let options = [
        "--store",
        "a.db",
        "--approver",
        key.trim_end(),
        "--audit",
        "audit.jsonl",
    ];
    let mut client = Client::start(path, &options);
    assert_eq!(client.call("echo")["content"][0]["text"], "{}");
    let waits = client.call("failing");
    let id = waits["structuredContent"]["metadata"]["approval_id"]
        .as_str()
        .unwrap();
    assert_eq!(heard(path), 1);
    let approve = [
        "approvals",
        "approve",
        "--store",
        "a.db",
        "--key",
        "ann.key",
        id,
    ];
    let Run { code, stderr, .. } = run(path, &approve);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        client.call("failing")["content"][0]["text"],
        "it did not work"
    );
    assert_eq!(heard(path), 2);
    assert_eq!(client.end(), Some(0));
    let verified = run(path, &["audit", "verify", "audit.jsonl"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn ten_thousand_calls_leak_nothing() {
    let folder = folder(&[("rules.pl", RULES)]);
    let mut client = Client::start(folder.path(), &[]);
    let process = Path::new("/proc").join(client.child.id().to_string());
    let count = |what: &str| std::fs::read_dir(process.join(what)).unwrap().count();
    let resident = || -> usize {
        let text = std::fs::read_to_string(process.join("statm")).unwrap();
        text.split(' ').nth(1).unwrap().parse().unwrap()
    };
    for _ in 0..1_000 {
        client.call("echo");
    }
    let (pages, files, threads) = (resident(), count("fd"), count("task"));
    for _ in 0..10_000 {
        assert_eq!(client.call("echo")["content"][0]["text"], "{}");
    }
    assert_eq!((count("fd"), count("task")), (files, threads));
    // A kilobyte a call would be ten megabytes.
    let now = resident();
    assert!(now < pages + 512, "{pages} pages became {now}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_servers_code_is_the_proxys() {
    let folder = folder(&[("rules.pl", "may_execute_tool('U:Qa', tool_dies).\n")]);
    let mut client = Client::start(folder.path(), &[]);
    assert!(
        client
            .ask("tools/call", &json!({"name": "dies"}))
            .get("error")
            .is_some()
    );
    assert_eq!(client.end(), Some(7));
}

#[test]
fn what_is_in_the_clear_goes_through_no_proxy_of_the_environment() {
    let folder = folder(&[("rules.pl", RULES)]);
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let other = format!("http://{}", elsewhere.local_addr().unwrap());
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", server.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut first = String::new();
        BufReader::new(&stream).read_line(&mut first).unwrap();
        let reply = "HTTP/1.1 500 x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(reply.as_bytes()).unwrap();
        first
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_horngate"));
    command
        .current_dir(folder.path())
        .args([
            "mcp",
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--token-env",
            "T",
            "--url",
            &url,
        ])
        .env("T", "t0ken");
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env(name, &other);
    }
    let client = Client::of(command);
    assert!(heard.join().unwrap().starts_with("POST /mcp"));
    assert!(elsewhere.accept().is_err(), "a proxy was asked");
    client.end();
}

#[test]
fn without_a_gate_there_is_no_server() {
    let folder = folder(&[
        ("rules.pl", RULES),
        (
            "doubt.pl",
            "may_execute_tool(A, T) :- a(A), t(T).\na('U:Qa').\nt(tool_echo).\n",
        ),
        ("bad.pl", "may_execute_tool(U:Qa, tool_echo.\n"),
        (
            "near.pl",
            "may_execute_tool('U:Qa', tool_echo).\nconfrm_tool('U:Qa', tool_echo).\n",
        ),
        ("lock.json", "{}"),
    ]);
    let started = "touch started";
    let mut session = String::new();
    for options in [
        &["--rules", "missing.pl", "--actor", "U:Qa"][..],
        &["--rules", "bad.pl", "--actor", "U:Qa"],
        &["--rules", "doubt.pl", "--actor", "U:Qa"],
        &["--rules", "near.pl", "--actor", "U:Qa"],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--namespace",
            "Git::x",
        ],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--lock",
            "lock.json",
        ],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--store",
            "a.db",
            "--approver",
            "ann",
        ],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--store",
            "a.db",
            "--approver",
            "ann=00",
        ],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--confined",
            "a::b",
        ],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--accept-doubt",
            "no-such-lint=because",
        ],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--audit",
            "no/such/folder",
        ],
        &[
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--suggest",
            "no/such/folder",
        ],
    ] {
        let mut args = vec!["mcp"];
        args.extend(options);
        args.extend(["--", "sh", "-c", started]);
        let Run {
            code,
            stdout,
            stderr,
        } = run(folder.path(), &args);
        assert_eq!((code, &*stdout), (2, ""), "{options:?}");
        session.push_str(&format!("$ horngate mcp {}\n{stderr}\n", options.join(" ")));
    }
    for options in [
        &["mcp"][..],
        &["mcp", "--rules", "rules.pl", "--", "sh"],
        &["mcp", "--rules", "rules.pl", "--actor", "U:Qa"],
        &["mcp", "--rules", "rules.pl", "--actor", "U:Qa", "--"],
        &["mcp", "--rules", "rules.pl", "--actor", "U:Qa", "sh"],
        &[
            "mcp", "--rules", "rules.pl", "--actor", "U:Qa", "--store", "a.db", "--", "sh", "-c",
            started,
        ],
        &[
            "mcp",
            "--rules",
            "rules.pl",
            "--actor",
            "U:Qa",
            "--observe",
            "--suggest",
            "f",
            "--",
            "sh",
            "-c",
            started,
        ],
        &[
            "mcp", "--rules", "rules.pl", "--actor", "U:Qa", "--pass", "tools", "--", "sh", "-c",
            started,
        ],
    ] {
        assert_eq!(run(folder.path(), options).code, 2, "{options:?}");
    }
    assert!(!folder.path().join("started").exists());
    assert_snapshot!(session);
}

#[test]
fn help() {
    assert_snapshot!(run(&root(), &["help", "mcp"]).stdout);
}

/// Where the real servers are; where they are missing says so, and fails when `HORNGATE_PEERS=1` demands them.
pub(crate) fn peers() -> Option<PathBuf> {
    let install = Command::new(root().join("tests/peers/mcp/install"))
        .arg("--present")
        .output()
        .unwrap();
    if !install.status.success() {
        assert!(
            std::env::var_os("HORNGATE_PEERS").is_none_or(|value| value != "1"),
            "HORNGATE_PEERS=1, but the MCP servers are missing: run tests/peers/mcp/install"
        );
        // Straight to standard error, which the test harness does not hold back.
        let _ = writeln!(
            std::io::stderr(),
            "NOT TESTED WITH REAL MCP SERVERS: they are missing: run tests/peers/mcp/install"
        );
        return None;
    }
    let folder = String::from_utf8(install.stdout).unwrap();
    Some(PathBuf::from(folder.trim()))
}

/// Real servers, driven by a real client: see `tests/peers/mcp`.
#[test]
fn real_servers_are_behind_the_proxy_as_they_are() {
    let Some(folder) = peers() else { return };
    let output = Command::new(folder.join("python/bin/python"))
        .arg(root().join("tests/peers/mcp/compare.py"))
        .arg(env!("CARGO_BIN_EXE_horngate"))
        .arg(folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.ends_with("the proxy and the servers agree\n"),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for spoken in [
        "git: 2026-07-28",
        "git: 2025-11-25",
        "filesystem: 2025-11-25",
        "everything: 2025-11-25",
        "memory: 2025-11-25",
        "sequential-thinking: 2025-11-25",
        "time: 2026-07-28",
        "fetch: 2026-07-28",
        "everything over HTTP",
    ] {
        assert!(text.contains(spoken), "{spoken}: {text}");
    }
}
