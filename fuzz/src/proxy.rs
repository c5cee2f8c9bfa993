//! Frames of MCP.

use horngate_gate::{Arguments, ToolSpec};
use horngate_mcp::{Action, Passing, Refused, Session, Terms, Verdict, Warden};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Only {
    installed: BTreeSet<String>,
}

impl Warden for Only {
    fn install(&mut self, tools: &[ToolSpec]) {
        self.installed = tools.iter().map(|tool| tool.name().to_owned()).collect();
    }

    fn granted(&self) -> BTreeSet<String> {
        self.installed
            .iter()
            .filter(|name| *name == "good")
            .cloned()
            .collect()
    }

    fn may_read(&self, _: &str) -> bool {
        false
    }

    fn may_use(&self, _: &str) -> bool {
        false
    }
}

struct Bench {
    session: Session<Only>,
    to_server: Vec<Value>,
    to_client: Vec<Value>,
}

impl Bench {
    fn apply(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::ToServer(line) => self.to_server.push(parsed(&line)),
                Action::ToClient(line) => self.to_client.push(parsed(&line)),
                Action::Call {
                    ticket,
                    tool,
                    arguments,
                } => {
                    let granted = self.session.warden().granted().contains(&tool);
                    let actions = match (granted, Arguments::parse(&arguments)) {
                        (true, Ok(arguments)) => {
                            self.session.released(ticket, arguments.canonical())
                        }
                        _ => self.session.finished(ticket, refused()),
                    };
                    self.apply(actions);
                }
                Action::Deliver { ticket, .. } => {
                    let actions = self.session.finished(ticket, Verdict::Passed);
                    self.apply(actions);
                }
                _ => {}
            }
        }
    }
}

fn refused() -> Verdict {
    Verdict::Refused(Box::new(Refused {
        text: "Error: no".to_owned(),
        document: json!({"success": false}),
        pending: None,
    }))
}

fn parsed(line: &str) -> Value {
    assert!(!line.contains('\n'), "{line:?}");
    serde_json::from_str(line).expect("what the proxy writes is JSON")
}

/// Only what is granted reaches the server, and nobody is answered who did not ask, or twice. A line that starts with
/// `<` is the server's.
pub fn frames(data: &[u8]) {
    let terms = Terms {
        passing: Passing {
            prompts: true,
            resources: true,
            ..Passing::default()
        },
        elicit: true,
        ..Terms::default()
    };
    let mut bench = Bench {
        session: Session::new(Only::default(), terms),
        to_server: Vec::new(),
        to_client: Vec::new(),
    };
    let mut asked: BTreeMap<String, i64> = BTreeMap::new();
    let mut called: BTreeSet<String> = BTreeSet::new();
    // Frames that another reader does not take, of which the proxy may know an id to refuse them by.
    let mut unread = 0;
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let actions = match line.strip_prefix(b"<") {
            Some(line) => bench.session.from_server(line),
            None => {
                match serde_json::from_slice::<Value>(line) {
                    Ok(frame) => {
                        if let Some(id) = frame.get("id") {
                            if frame["method"] == "tools/call" {
                                called.insert(id.to_string());
                            }
                            *asked.entry(id.to_string()).or_default() += 1;
                        }
                    }
                    Err(_) => unread += 1,
                }
                bench.session.from_client(line)
            }
        };
        bench.apply(actions);
    }
    for frame in &bench.to_server {
        let method = frame.get("method").and_then(Value::as_str);
        assert!(
            !matches!(method, Some("prompts/get" | "resources/read")),
            "{frame}"
        );
        if method == Some("tools/call") {
            assert_eq!(frame["params"]["name"], "good");
        }
    }
    for frame in &bench.to_client {
        assert_eq!(frame["jsonrpc"], "2.0");
        // What a tool gives is the tool's, whatever it looks like.
        let is_list = !called.contains(&frame["id"].to_string());
        if let Some(tools) = frame["result"]["tools"].as_array().filter(|_| is_list) {
            assert!(tools.iter().all(|tool| tool["name"] == "good"), "{frame}");
        }
        if frame.get("method").is_none() && frame["id"] != Value::Null {
            let open = asked.entry(frame["id"].to_string()).or_default();
            *open -= 1;
            if *open < 0 && frame.get("error").is_some() {
                unread -= 1;
                *open = 0;
            }
            assert!(*open >= 0 && unread >= 0, "{frame}");
        }
    }
    let requests = bench
        .to_server
        .iter()
        .filter(|frame| frame.get("method").is_some());
    let ids: Vec<String> = requests
        .filter_map(|frame| Some(frame.get("id")?.to_string()))
        .collect();
    let different: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(different.len(), ids.len(), "{ids:?}");
}
