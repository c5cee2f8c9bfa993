//! The whole around a server that is a process.

use crate::support::{Proxy, is_denied, settings, shown};
use horngate_gate::verify;
use horngate_mcp::{Mode, Namespace, Passing, ProxyError, Server, run};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::BufReader;
use std::time::Duration;

const ECHO: &str = "may_execute_tool('U:Qa', tool_echo).\n";

fn grants(tools: &[&str]) -> String {
    tools
        .iter()
        .map(|tool| format!("may_execute_tool('U:Qa', tool_{tool}).\n"))
        .collect()
}

fn names(answer: &Value) -> Vec<String> {
    shown(answer).into_iter().map(str::to_owned).collect()
}

#[test]
fn only_what_is_granted_is_seen_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let mut proxy = Proxy::started(ECHO, |settings| settings.audit = Some(log.clone()));
    let list = proxy.ask("tools/list", json!({}));
    assert_eq!(names(&list), ["echo"]);
    assert_eq!(list["result"]["tools"][0]["title"], "A title");

    let answer = proxy.call("echo", json!({"text": "é", "n": 1.0}));
    assert_eq!(
        answer["result"]["content"][0]["text"],
        r#"{"n":1,"text":"é"}"#
    );
    let denied = proxy.call("secret", json!({"text": "password"}));
    assert_eq!(denied["result"]["isError"], true);
    assert_eq!(
        denied["result"]["content"][0]["text"],
        "Error: the tool `secret` is not granted to you"
    );
    let document = &denied["result"]["structuredContent"];
    assert_eq!(document["success"], false);
    assert_eq!(document["metadata"]["reason"], "not-granted");
    // That there is no such tool is not told either.
    let nothing = proxy.call("nothing", json!({}));
    assert_eq!(
        nothing["result"]["structuredContent"]["metadata"]["reason"],
        "not-granted"
    );
    let invalid = proxy.call("echo", json!({"text": 7}));
    assert_eq!(
        invalid["result"]["structuredContent"]["metadata"]["reason"],
        "invalid-arguments"
    );
    proxy.send_text(r#"{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"echo","name":"secret"}}"#);
    assert!(is_denied(&proxy.wait(|line| line["id"] == 99)));

    let heard = proxy.heard();
    assert!(
        !heard.contains("secret") && !heard.contains("nothing"),
        "{heard}"
    );
    assert_eq!(heard.matches("tools/call").count(), 1);
    assert_eq!(proxy.end().unwrap(), 0);

    let text = std::fs::read_to_string(&log).unwrap();
    let file = BufReader::new(std::fs::File::open(&log).unwrap());
    assert!(verify(file, None, None, None).unwrap().is_ok());
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let events: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| {
            (
                line["event"].as_str().unwrap(),
                line["reason"].as_str().unwrap_or(""),
            )
        })
        .collect();
    assert_eq!(
        events,
        [
            ("policy", ""),
            ("executing", ""),
            ("executed", ""),
            ("denied", "unknown-tool"),
            ("denied", "no-such-tool"),
            ("denied", "invalid-arguments"),
            ("denied", "malformed"),
        ]
    );
    assert!(
        lines
            .iter()
            .skip(1)
            .all(|line| line["chain"] == json!(["U:Qa"]))
    );
}

#[test]
fn failures_of_a_tool_are_the_tools() {
    let mut proxy = Proxy::started(
        &grants(&["failing", "broken", "twice", "huge", "echo"]),
        |_| {},
    );
    let failing = proxy.call("failing", json!({}));
    assert_eq!(
        failing["result"],
        json!({"content": [{"type": "text", "text": "it did not work"}], "isError": true})
    );
    let broken = proxy.call("broken", json!({}));
    assert_eq!(
        broken["error"],
        json!({"code": -32000, "message": "out of order"})
    );
    let twice = proxy.call("twice", json!({}));
    assert!(
        twice["error"]["message"]
            .as_str()
            .unwrap()
            .contains("occurs twice"),
        "{twice}"
    );
    let huge = proxy.call("huge", json!({}));
    assert!(
        huge["error"]["message"]
            .as_str()
            .unwrap()
            .contains("longer than"),
        "{huge}"
    );
    assert!(!is_denied(&proxy.call("echo", json!({}))));
}

#[test]
fn a_message_too_long_is_refused_and_the_session_goes_on() {
    let mut proxy = Proxy::started(ECHO, |_| {});
    let long = "x".repeat(17 << 20);
    proxy.send_text(&json!({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": long}}}).to_string());
    let refused = proxy.wait(|line| line.get("error").is_some());
    assert_eq!(refused["id"], Value::Null);
    assert!(!is_denied(&proxy.call("echo", json!({}))));
    assert_eq!(proxy.heard().matches("tools/call").count(), 1);
}

#[test]
fn a_server_that_dies_leaves_no_call_waiting() {
    let mut proxy = Proxy::started(&grants(&["dies", "hangs"]), |_| {});
    let hangs = proxy.post("tools/call", json!({"name": "hangs", "arguments": {}}));
    let dies = proxy.post("tools/call", json!({"name": "dies", "arguments": {}}));
    let mut answered = vec![proxy.next()["id"].clone(), proxy.next()["id"].clone()];
    answered.sort_by_key(Value::as_u64);
    assert_eq!(answered, [json!(hangs), json!(dies)]);
    assert_eq!(proxy.end().unwrap(), 7);
}

#[test]
fn a_server_that_dies_is_gone_though_its_output_is_held_open() {
    let mut proxy = Proxy::started(&grants(&["dies"]), |settings| {
        let Server::Command(command) = &settings.server else {
            unreachable!()
        };
        let script = "sleep 1000 & exec \"$0\" \"$1\"";
        let mut words: Vec<OsString> = vec!["sh".into(), "-c".into(), script.into()];
        words.extend(command.iter().cloned());
        settings.server = Server::Command(words);
    });
    assert!(is_denied(&proxy.call("dies", json!({}))));
    assert_eq!(proxy.end().unwrap(), 7);
}

#[test]
fn a_server_that_hangs_is_ended_with_the_client() {
    let mut proxy = Proxy::started(&grants(&["stubborn", "echo"]), |_| {});
    proxy.ask("tools/list", json!({}));
    let id = proxy.post("tools/call", json!({"name": "stubborn", "arguments": {}}));
    while !proxy.heard().contains("stubborn") {
        std::thread::sleep(Duration::from_millis(5));
    }
    proxy.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    // It does not end at the end of its input, so it is told to: 128 and the number of SIGTERM.
    assert_eq!(proxy.end().unwrap(), 143);
}

#[test]
fn what_is_under_way_at_the_end_of_the_input_is_answered() {
    let mut proxy = Proxy::started(ECHO, |_| {});
    let id = proxy.post("tools/call", json!({"name": "echo", "arguments": {}}));
    proxy.close();
    let answer = proxy.wait(|line| line["id"] == id);
    assert!(!is_denied(&answer));
    assert_eq!(proxy.end().unwrap(), 0);
}

#[test]
fn a_flood_is_held_back() {
    let mut proxy = Proxy::started(&grants(&["floods"]), |_| {});
    proxy.ask("tools/list", json!({}));
    let id = proxy.post("tools/call", json!({"name": "floods", "arguments": {}}));
    let mut told = 0;
    proxy.wait(|line| {
        told += usize::from(line["method"] == "notifications/tools/list_changed");
        line["id"] == id
    });
    assert_eq!(told, 1);
}

#[test]
fn a_server_that_cannot_be_started_is_no_session() {
    let settings = settings(ECHO, vec!["/nonexistent/server".into()]);
    let started = run(settings, std::io::empty(), std::io::sink());
    assert!(matches!(started, Err(ProxyError::Server(_))), "{started:?}");
}

#[test]
fn doubtful_rules_are_no_gate() {
    for rules in [
        "may_execute_tool(A, T) :- actor(A), tool(T).\nactor('U:Qa').\ntool(tool_echo).\n",
        "may_execute_tool('U:Qa', tool_echo).\nmay_read_resource(A, U) :- a(A), u(U).\na('U:Qa').\nu('note://a').\n",
        "may_execute_tool('U:Qa', tool_echo).\nmay_read_resources('U:Qa', 'note://a').\n",
        "may_execute_tool('U:Qa', tool_echo).\nmay_use_prompt('U:Qa').\n",
    ] {
        let settings = settings(rules, vec!["true".into()]);
        let started = run(settings, std::io::empty(), std::io::sink());
        assert!(started.is_err(), "{rules}");
    }
}

#[test]
fn a_confined_tool_needs_no_grant() {
    let mut proxy = Proxy::started(ECHO, |settings| {
        settings.confined = vec!["failing".to_owned()]
    });
    assert_eq!(
        names(&proxy.ask("tools/list", json!({}))),
        ["echo", "failing"]
    );
    let answer = proxy.call("failing", json!({}));
    assert_eq!(answer["result"]["content"][0]["text"], "it did not work");
}

#[test]
fn a_namespace_is_part_of_every_name() {
    let rules =
        "may_execute_tool('U:Qa', 'tool_notes::echo').\nmay_execute_tool('U:Qa', tool_failing).\n";
    let mut proxy = Proxy::started(rules, |settings| {
        settings.namespace = Some(Namespace::parse("notes").unwrap());
    });
    assert_eq!(names(&proxy.ask("tools/list", json!({}))), ["echo"]);
    assert!(!is_denied(&proxy.call("echo", json!({}))));
    let denied = proxy.call("failing", json!({}));
    assert_eq!(
        denied["result"]["content"][0]["text"],
        "Error: the tool `failing` is not granted to you"
    );
    assert!(is_denied(&proxy.call("notes::echo", json!({}))));
}

#[test]
fn a_definition_that_was_not_reviewed_is_hidden_and_denied() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("tools.lock");
    let rules = grants(&["echo", "changes"]);
    let mut proxy = Proxy::started(&rules, |settings| settings.lock = Some(lock.clone()));
    let list = proxy.ask("tools/list", json!({}));
    assert_eq!(names(&list), ["echo", "changes"]);
    assert!(
        list["result"]["tools"][0].get("title").is_none(),
        "nobody has reviewed it"
    );
    assert!(lock.exists());
    assert!(!is_denied(&proxy.call("echo", json!({}))));
    proxy.call("changes", json!({}));
    let denied = proxy.call("echo", json!({}));
    assert_eq!(
        denied["result"]["structuredContent"]["metadata"]["reason"],
        "definition-changed"
    );
    assert_eq!(names(&proxy.ask("tools/list", json!({}))), [""; 0]);
    assert_eq!(proxy.heard().matches(r#""name":"echo""#).count(), 1);
    proxy.end().unwrap();

    // The next session has the same lock, and the server is as it was.
    let mut proxy = Proxy::started(&rules, |settings| settings.lock = Some(lock.clone()));
    assert_eq!(
        names(&proxy.ask("tools/list", json!({}))),
        ["echo", "changes"]
    );
    proxy.end().unwrap();
    std::fs::write(&lock, "{}").unwrap();
    let mut broken = settings(&rules, vec!["true".into()]);
    broken.lock = Some(lock);
    let started = run(broken, std::io::empty(), std::io::sink());
    assert!(
        matches!(started, Err(ProxyError::Unreadable(..))),
        "{started:?}"
    );
}

#[test]
fn prompts_and_resources_have_predicates_of_their_own() {
    let rules =
        format!("{ECHO}may_read_resource('U:Qa', 'note://a').\nmay_use_prompt('U:Qa', greet).\n");
    let mut proxy = Proxy::started(&rules, |_| {});
    let list = proxy.ask("resources/list", json!({}));
    assert_eq!(
        list["result"]["resources"],
        json!([{"uri": "note://a", "name": "a"}])
    );
    let prompts = proxy.ask("prompts/list", json!({}));
    assert_eq!(prompts["result"]["prompts"], json!([{"name": "greet"}]));
    assert!(is_denied(
        &proxy.ask("resources/read", json!({"uri": "note://b"}))
    ));
    assert!(!is_denied(
        &proxy.ask("resources/read", json!({"uri": "note://a"}))
    ));
    assert!(is_denied(
        &proxy.ask("prompts/get", json!({"name": "leave"}))
    ));
    assert!(!proxy.heard().contains("leave"));
    proxy.end().unwrap();

    let mut proxy = Proxy::started(ECHO, |settings| {
        settings.pass = Passing {
            resources: true,
            ..Passing::default()
        };
    });
    assert!(!is_denied(
        &proxy.ask("resources/read", json!({"uri": "note://b"}))
    ));
    assert!(is_denied(&proxy.ask("prompts/list", json!({}))));
}

#[test]
fn observing_denies_nothing_and_says_what_a_gate_would() {
    let folder = tempfile::tempdir().unwrap();
    let (facts, log) = (
        folder.path().join("facts.pl"),
        folder.path().join("audit.jsonl"),
    );
    let mut proxy = Proxy::started(ECHO, |settings| {
        settings.mode = Mode::Suggest(facts.clone());
        settings.audit = Some(log.clone());
    });
    assert_eq!(names(&proxy.ask("tools/list", json!({}))).len(), 12);
    for tool in ["echo", "failing", "failing"] {
        proxy.call(tool, json!({}));
    }
    // What is only listed is not used.
    assert!(!is_denied(&proxy.ask("resources/list", json!({}))));
    assert!(!is_denied(&proxy.ask("prompts/list", json!({}))));
    assert!(!is_denied(
        &proxy.ask("resources/read", json!({"uri": "note://a"}))
    ));
    proxy.end().unwrap();
    let text = std::fs::read_to_string(&facts).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('%')).collect();
    assert_eq!(
        lines,
        [
            "may_execute_tool('U:Qa', tool_failing).",
            "may_read_resource('U:Qa', 'note://a').",
        ]
    );
    let audit = std::fs::read_to_string(&log).unwrap();
    assert_eq!(audit.matches(r#""event":"observed""#).count(), 3);
    // With these facts a gate lets the same through.
    let mut proxy = Proxy::started(&format!("{ECHO}{text}"), |_| {});
    assert_eq!(
        names(&proxy.ask("tools/list", json!({}))),
        ["echo", "failing"]
    );
}

#[test]
fn the_revision_without_sessions_needs_none() {
    let mut proxy = Proxy::start(&grants(&["echo", "asks"]), |_| {});
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let list = proxy.ask("tools/list", json!({"_meta": meta}));
    assert_eq!(names(&list), ["echo", "asks"]);
    assert_eq!(list["result"]["cacheScope"], "private");
    let asks = proxy.ask("tools/call", json!({"name": "asks", "_meta": meta}));
    assert_eq!(asks["result"]["resultType"], "input_required");
    let done = proxy.ask(
        "tools/call",
        json!({"name": "asks", "_meta": meta, "requestState": "s1",
        "inputResponses": {"name": {"action": "accept", "content": {"name": "ann"}}}}),
    );
    assert_eq!(done["result"]["content"][0]["text"], "ann");
    assert!(is_denied(
        &proxy.ask("tools/call", json!({"name": "secret", "_meta": meta}))
    ));
    assert!(!proxy.heard().contains("secret"));
}
