//! What the proxy adds to one call over standard input and output: a call of the scripted server by itself, behind the
//! proxy, and behind the proxy with an audit log.
//!
//! The server is built by `cargo build --examples` in the same profile.
#![expect(clippy::unwrap_used, reason = "a benchmark has nobody to tell")]

use criterion::{Criterion, criterion_group, criterion_main};
use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_mcp::{Mode, Passing, Server, Settings, run};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#;

fn server() -> PathBuf {
    let bench = std::env::current_exe().unwrap();
    let server = bench
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/scripted_server");
    assert!(server.exists(), "build the examples first, in this profile");
    server
}

struct Client<R, W> {
    input: W,
    output: BufReader<R>,
    line: String,
}

impl<R: Read, W: Write> Client<R, W> {
    fn new(input: W, output: R) -> Self {
        let mut client = Self {
            input,
            output: BufReader::new(output),
            line: String::new(),
        };
        client.ask(HELLO);
        client.ask(CALL);
        client
    }

    fn ask(&mut self, request: &str) -> usize {
        self.input.write_all(request.as_bytes()).unwrap();
        self.input.write_all(b"\n").unwrap();
        self.line.clear();
        self.output.read_line(&mut self.line).unwrap()
    }
}

fn behind(audit: Option<PathBuf>) -> Client<impl Read, impl Write> {
    let source = Source::new("a.pl", "may_execute_tool('U:Qa', tool_echo).");
    let model = Rulebase::load([source])
        .unwrap()
        .evaluate(&Budget::default())
        .unwrap();
    let settings = Settings {
        allowlist: Allowlist::bind(&model, "may_execute_tool/2").unwrap(),
        actor: "U:Qa".to_owned(),
        server: Server::Command(vec![server().into()]),
        namespace: None,
        lock: None,
        confined: Vec::new(),
        store: None,
        approvers: Vec::new(),
        elicit: None,
        audit,
        audit_key: None,
        mode: Mode::Enforce,
        pass: Passing::default(),
        accepted: Vec::new(),
    };
    let (read, input) = std::io::pipe().unwrap();
    let (output, write) = std::io::pipe().unwrap();
    std::thread::spawn(move || run(settings, read, write));
    Client::new(input, output)
}

fn overhead(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call");
    let mut child = Command::new(server())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut direct = Client::new(child.stdin.take().unwrap(), child.stdout.take().unwrap());
    group.bench_function("direct", |bencher| {
        bencher.iter(|| black_box(direct.ask(CALL)))
    });
    drop(direct);
    child.wait().unwrap();
    let mut proxied = behind(None);
    group.bench_function("proxied", |bencher| {
        bencher.iter(|| black_box(proxied.ask(CALL)))
    });
    let folder = tempfile::tempdir().unwrap();
    let mut audited = behind(Some(folder.path().join("audit.jsonl")));
    group.bench_function("audited", |bencher| {
        bencher.iter(|| black_box(audited.ask(CALL)))
    });
    group.finish();
}

criterion_group!(benches, overhead);
criterion_main!(benches);
