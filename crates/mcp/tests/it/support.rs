//! A session without streams, and the whole proxy between two pipes.

use horngate::{Allowlist, Budget, Rulebase, Source};
use horngate_gate::{Arguments, ToolSpec};
use horngate_mcp::{
    Action, Mode, Note, Passing, ProxyError, Refused, Server, Session, Settings, Terms, Verdict,
    Warden, run,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

/// Grants by name.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) granted: BTreeSet<String>,
    pub(crate) installed: BTreeSet<String>,
    pub(crate) uris: BTreeSet<String>,
    pub(crate) prompts: BTreeSet<String>,
}

impl Warden for Names {
    fn install(&mut self, tools: &[ToolSpec]) {
        self.installed = tools.iter().map(|tool| tool.name().to_owned()).collect();
    }

    fn granted(&self) -> BTreeSet<String> {
        self.granted
            .intersection(&self.installed)
            .cloned()
            .collect()
    }

    fn may_read(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    fn may_use(&self, prompt: &str) -> bool {
        self.prompts.contains(prompt)
    }
}

/// A session, and what it said to both sides.
pub(crate) struct Bench {
    pub(crate) session: Session<Names>,
    pub(crate) to_server: Vec<Value>,
    pub(crate) to_client: Vec<Value>,
    pub(crate) notes: Vec<Note>,
    /// Calls that the gate was handed.
    pub(crate) calls: Vec<(u64, String)>,
    pub(crate) abandoned: Vec<u64>,
    /// Calls are left with the gate.
    pub(crate) hold: bool,
}

impl Bench {
    pub(crate) fn new(granted: &[&str], terms: Terms) -> Self {
        let warden = Names {
            granted: granted.iter().map(|&name| name.to_owned()).collect(),
            ..Names::default()
        };
        Self::with(warden, terms)
    }

    pub(crate) fn with(warden: Names, terms: Terms) -> Self {
        Self {
            session: Session::new(warden, terms),
            to_server: Vec::new(),
            to_client: Vec::new(),
            notes: Vec::new(),
            calls: Vec::new(),
            abandoned: Vec::new(),
            hold: false,
        }
    }

    /// A session that was initialized.
    pub(crate) fn started(granted: &[&str], terms: Terms) -> Self {
        let mut bench = Self::new(granted, terms);
        bench.start();
        bench
    }

    pub(crate) fn start(&mut self) {
        self.client(
            &json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "t", "version": "1"}}}),
        );
        let id = self.to_server.last().unwrap()["id"].clone();
        self.server(
            &json!({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}),
        );
        self.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self.to_client.clear();
        self.to_server.clear();
        self.notes.clear();
    }

    pub(crate) fn client(&mut self, frame: &Value) {
        self.client_text(&frame.to_string());
    }

    pub(crate) fn client_text(&mut self, line: &str) {
        let actions = self.session.from_client(line.as_bytes());
        self.apply(actions);
    }

    pub(crate) fn server(&mut self, frame: &Value) {
        self.server_text(&frame.to_string());
    }

    pub(crate) fn server_text(&mut self, line: &str) {
        let actions = self.session.from_server(line.as_bytes());
        self.apply(actions);
    }

    /// Answers the last request to the server, which must be of this method.
    pub(crate) fn reply(&mut self, method: &str, result: Value) {
        let asked = self
            .to_server
            .iter()
            .rev()
            .find(|frame| frame["method"] == method)
            .unwrap_or_else(|| panic!("the server was not asked for {method}"));
        let id = asked["id"].clone();
        self.server(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str) {
        self.client(
            &json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call",
            "params": {"name": tool, "arguments": {"b": 1.0, "a": 2}}}),
        );
    }

    pub(crate) fn tools(&mut self, names: &[&str]) {
        self.reply("tools/list", json!({"tools": listed(names)}));
    }

    pub(crate) fn apply(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::ToServer(line) | Action::ToServerIfRoom(line) => {
                    self.to_server.push(parsed(&line));
                }
                Action::ToClient(line) => self.to_client.push(parsed(&line)),
                Action::Call {
                    ticket,
                    tool,
                    arguments,
                } => {
                    self.calls.push((ticket, tool.clone()));
                    if !self.hold {
                        self.judge(ticket, &tool, &arguments);
                    }
                }
                Action::Deliver { ticket, .. } => {
                    let actions = self.session.finished(ticket, Verdict::Passed);
                    self.apply(actions);
                }
                Action::Abandon { ticket } => self.abandoned.push(ticket),
                Action::Note(note) => self.notes.push(note),
                Action::Answered { .. } | Action::Sign { .. } | Action::WriteLock(_) => {}
            }
        }
    }

    fn judge(&mut self, ticket: u64, tool: &str, arguments: &str) {
        let granted = self.session.warden().granted().contains(tool);
        let actions = match (granted, Arguments::parse(arguments)) {
            (true, Ok(arguments)) => self.session.released(ticket, arguments.canonical()),
            _ => self.session.finished(ticket, refused()),
        };
        self.apply(actions);
    }

    /// What the server was asked to call.
    pub(crate) fn called(&self) -> Vec<&Value> {
        let calls = |frame: &&Value| frame["method"] == "tools/call";
        self.to_server.iter().filter(calls).collect()
    }

    pub(crate) fn answer(&self, id: impl Into<Value>) -> &Value {
        let id = id.into();
        let found = self
            .to_client
            .iter()
            .find(|frame| frame["id"] == id && frame.get("method").is_none());
        found.unwrap_or_else(|| panic!("{id} was not answered: {:?}", self.to_client))
    }
}

pub(crate) fn refused() -> Verdict {
    Verdict::Refused(Box::new(Refused {
        text: "Error: no".to_owned(),
        document: json!({"success": false}),
        pending: None,
    }))
}

pub(crate) fn is_denied(answer: &Value) -> bool {
    answer["result"]["isError"] == true || answer.get("error").is_some()
}

pub(crate) fn listed(names: &[&str]) -> Vec<Value> {
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
    names.iter().map(tool).collect()
}

pub(crate) fn shown(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

fn parsed(line: &str) -> Value {
    assert!(!line.contains('\n'), "{line:?}");
    serde_json::from_str(line).unwrap()
}

/// The allowlist of rules.
pub(crate) fn allowlist(rules: &str) -> Allowlist {
    let rulebase = Rulebase::load([Source::new("rules.pl", rules)]).unwrap();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    Allowlist::bind(&model, "may_execute_tool/2").unwrap()
}

/// The scripted server, and where it writes down what it hears.
pub(crate) fn scripted(log: &Path) -> Vec<OsString> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let server = BUILT.get_or_init(|| {
        let tests = std::env::current_exe().unwrap();
        let profile = tests.parent().unwrap().parent().unwrap();
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
            assert!(
                cargo.status().unwrap().success(),
                "the scripted server is not built"
            );
        }
        server
    });
    vec![server.into(), log.into()]
}

pub(crate) fn settings(rules: &str, command: Vec<OsString>) -> Settings {
    Settings {
        allowlist: allowlist(rules),
        actor: "U:Qa".to_owned(),
        server: Server::Command(command),
        namespace: None,
        lock: None,
        confined: Vec::new(),
        store: None,
        approvers: Vec::new(),
        elicit: None,
        audit: None,
        audit_key: None,
        mode: Mode::Enforce,
        pass: Passing::default(),
        accepted: Vec::new(),
    }
}

/// The proxy before a server, and a client that speaks by hand.
pub(crate) struct Proxy {
    input: Option<PipeWriter>,
    lines: Receiver<Value>,
    run: Option<JoinHandle<Result<u8, ProxyError>>>,
    log: PathBuf,
    _folder: tempfile::TempDir,
    next: u64,
}

impl Proxy {
    /// The scripted server behind these rules.
    pub(crate) fn start(rules: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("heard.jsonl");
        let mut settings = settings(rules, scripted(&log));
        change(&mut settings);
        let (read, input) = std::io::pipe().unwrap();
        let (output, write): (PipeReader, PipeWriter) = std::io::pipe().unwrap();
        let run = std::thread::spawn(move || run(settings, read, write));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                if sender.send(parsed(&line)).is_err() {
                    break;
                }
            }
        });
        Self {
            input: Some(input),
            lines,
            run: Some(run),
            log,
            _folder: folder,
            next: 1,
        }
    }

    /// The same, initialized.
    pub(crate) fn started(rules: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let mut proxy = Self::start(rules, change);
        let answer = proxy.ask(
            "initialize",
            json!({"protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}),
        );
        assert!(answer.get("result").is_some(), "{answer}");
        proxy.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        proxy
    }

    pub(crate) fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string());
    }

    pub(crate) fn send_text(&mut self, line: &str) {
        let mut input = self.input.as_ref().unwrap();
        // A proxy that has ended does not listen.
        let _ = input
            .write_all(line.as_bytes())
            .and_then(|()| input.write_all(b"\n"));
    }

    pub(crate) fn next(&self) -> Value {
        self.lines
            .recv_timeout(Duration::from_secs(20))
            .expect("the proxy says something")
    }

    /// The next line with this id, or with this method.
    pub(crate) fn wait(&self, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        loop {
            let line = self.next();
            if wanted(&line) {
                return line;
            }
        }
    }

    pub(crate) fn post(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.wait(|line| line["id"] == id && line.get("method").is_none())
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// What the server has heard.
    pub(crate) fn heard(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Ends it; what it ended with.
    pub(crate) fn end(mut self) -> Result<u8, ProxyError> {
        self.input = None;
        self.run.take().unwrap().join().unwrap()
    }
}
