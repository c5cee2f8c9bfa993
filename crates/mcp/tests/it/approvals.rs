//! Calls that a person is asked about.

use crate::support::{Proxy, is_denied};
use horngate_gate::{Clock as _, Signatory, SqliteStore, State, Store, SystemClock, Verdict};
use serde_json::{Value, json};
use std::path::Path;

const RULES: &str = "may_execute_tool('U:Qa', tool_echo).\nmay_execute_tool('U:Qa', tool_failing).\n\
    confirm_tool('U:Qa', tool_echo, \"it speaks\").\n";

fn behind(store: &Path, ann: &Signatory) -> Proxy {
    Proxy::started(RULES, |settings| {
        settings.store = Some(store.to_owned());
        settings.approvers = vec![("ann".to_owned(), ann.key())];
    })
}

fn answer(store: &Path, id: &str, sign: impl FnOnce(&horngate_gate::Request) -> Verdict) {
    let store = SqliteStore::open(store).unwrap();
    let record = store.get(id).unwrap().unwrap();
    let verdict = sign(&record.request);
    store.decide(&verdict, SystemClock.now()).unwrap();
}

fn pending(denied: &Value) -> String {
    let metadata = &denied["result"]["structuredContent"]["metadata"];
    assert_eq!(metadata["approval_decision"], "pending", "{denied}");
    let id = metadata["approval_id"].as_str().unwrap().to_owned();
    let text = denied["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(&id), "{text}");
    id
}

#[test]
fn an_approval_in_the_store_releases_one_retry() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("approvals.db");
    let ann = Signatory::generate("ann").unwrap();
    let mut proxy = behind(&store, &ann);
    let id = pending(&proxy.call("echo", json!({"text": "a"})));
    // Asked again, it is the same request.
    assert_eq!(pending(&proxy.call("echo", json!({"text": "a"}))), id);
    assert!(!proxy.heard().contains("tools/call"));
    answer(&store, &id, |request| {
        ann.answer(request, true, SystemClock.now()).unwrap()
    });
    // Another call is not approved.
    assert_ne!(pending(&proxy.call("echo", json!({"text": "b"}))), id);
    let done = proxy.call("echo", json!({"text": "a"}));
    assert_eq!(done["result"]["content"][0]["text"], r#"{"text":"a"}"#);
    // It is used.
    assert_ne!(pending(&proxy.call("echo", json!({"text": "a"}))), id);
    assert_eq!(proxy.heard().matches("tools/call").count(), 1);
    assert!(!is_denied(&proxy.call("failing", json!({}))) || proxy.heard().contains("failing"));
    proxy.end().unwrap();
    // Nothing of the session is left to be approved.
    let states: Vec<State> = SqliteStore::open(&store)
        .unwrap()
        .list()
        .unwrap()
        .iter()
        .map(|record| record.state)
        .collect();
    assert!(
        states
            .iter()
            .all(|state| !matches!(state, State::Pending | State::Approved)),
        "{states:?}"
    );
}

#[test]
fn a_row_without_the_right_signature_is_no_approval() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("approvals.db");
    let ann = Signatory::generate("ann").unwrap();
    let mut proxy = behind(&store, &ann);
    let id = pending(&proxy.call("echo", json!({})));
    let other = Signatory::generate("ann").unwrap();
    answer(&store, &id, |request| {
        other.answer(request, true, SystemClock.now()).unwrap()
    });
    assert!(is_denied(&proxy.call("echo", json!({}))));
    assert!(!proxy.heard().contains("tools/call"));
}

#[test]
fn an_approval_does_not_outlive_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("approvals.db");
    let ann = Signatory::generate("ann").unwrap();
    let mut proxy = behind(&store, &ann);
    let id = pending(&proxy.call("echo", json!({})));
    answer(&store, &id, |request| {
        ann.answer(request, true, SystemClock.now()).unwrap()
    });
    proxy.end().unwrap();
    let mut proxy = behind(&store, &ann);
    assert_ne!(pending(&proxy.call("echo", json!({}))), id);
    assert!(!proxy.heard().contains("tools/call"));
}

#[test]
fn without_an_approver_nobody_can_be_asked() {
    let mut proxy = Proxy::started(RULES, |_| {});
    let denied = proxy.call("echo", json!({}));
    assert_eq!(
        denied["result"]["structuredContent"]["metadata"]["reason"],
        "no-approver"
    );
}

fn form(proxy: &Proxy) -> Value {
    let asked = proxy.wait(|line| line["method"] == "elicitation/create");
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("it speaks") && message.contains("U:Qa"),
        "{message}"
    );
    asked["id"].clone()
}

#[test]
fn the_clients_user_is_asked_where_the_operator_says_so() {
    let mut proxy = Proxy::started(RULES, |settings| settings.elicit = Some("ann".to_owned()));
    for (result, runs) in [
        (
            json!({"action": "accept", "content": {"decision": "approve"}}),
            true,
        ),
        (
            json!({"action": "accept", "content": {"decision": "deny"}}),
            false,
        ),
        (
            json!({"action": "accept", "content": {"decision": "Approve"}}),
            false,
        ),
        (json!({"action": "accept", "content": {}}), false),
        (json!({"action": "accept"}), false),
        (
            json!({"action": "decline", "content": {"decision": "approve"}}),
            false,
        ),
        (json!({"action": "cancel"}), false),
        (json!({"content": {"decision": "approve"}}), false),
    ] {
        let call = proxy.post(
            "tools/call",
            json!({"name": "echo", "arguments": {"text": "a"}}),
        );
        let id = form(&proxy);
        let before = proxy.heard().matches("tools/call").count();
        proxy.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let answer = proxy.wait(|line| line["id"] == call);
        assert_eq!(!is_denied(&answer), runs, "{result}: {answer}");
        assert_eq!(
            proxy.heard().matches("tools/call").count(),
            before + usize::from(runs)
        );
    }
    // What is cancelled while somebody is asked does not run, however it is answered.
    let call = proxy.post(
        "tools/call",
        json!({"name": "echo", "arguments": {"text": "a"}}),
    );
    let id = form(&proxy);
    let before = proxy.heard().matches("tools/call").count();
    proxy.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    proxy.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"decision": "approve"}}}));
    assert!(!is_denied(&proxy.ask("ping", json!({}))));
    assert_eq!(proxy.heard().matches("tools/call").count(), before);
}

#[test]
fn the_actor_does_not_approve_what_it_does() {
    let mut proxy = Proxy::started(RULES, |settings| settings.elicit = Some("U:Qa".to_owned()));
    assert!(is_denied(&proxy.call("echo", json!({}))));
    assert!(!proxy.heard().contains("tools/call"));
}

#[test]
fn without_sessions_the_question_is_in_the_result() {
    let mut proxy = Proxy::start(RULES, |settings| settings.elicit = Some("ann".to_owned()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    let call = json!({"name": "echo", "arguments": {"text": "a"}, "_meta": meta});
    let ask = |proxy: &mut Proxy| {
        let asked = proxy.ask("tools/call", call.clone());
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let question = &asked["result"]["inputRequests"]["horngate-approval"];
        assert_eq!(question["method"], "elicitation/create");
        asked["result"]["requestState"].clone()
    };
    let retry = |state: &Value, decision: &str, text: &str| {
        let mut retry = call.clone();
        retry["arguments"]["text"] = text.into();
        retry["requestState"] = state.clone();
        retry["inputResponses"] =
            json!({"horngate-approval": {"action": "accept", "content": {"decision": decision}}});
        retry
    };
    let state = ask(&mut proxy);
    let done = proxy.ask("tools/call", retry(&state, "approve", "a"));
    assert_eq!(
        done["result"]["content"][0]["text"], r#"{"text":"a"}"#,
        "{done}"
    );
    // The answer is used, and one to another question is none.
    assert!(is_denied(
        &proxy.ask("tools/call", retry(&state, "approve", "a"))
    ));
    assert!(is_denied(&proxy.ask(
        "tools/call",
        retry(&json!("horngate-approval:x"), "approve", "a")
    )));
    // A no is the end of it.
    let state = ask(&mut proxy);
    let denied = proxy.ask("tools/call", retry(&state, "deny", "a"));
    assert_eq!(denied["result"]["isError"], true, "{denied}");
    // A yes to one call is none to another.
    let state = ask(&mut proxy);
    let other = proxy.ask("tools/call", retry(&state, "approve", "b"));
    assert_eq!(other["result"]["resultType"], "input_required");
    assert_eq!(proxy.heard().matches("tools/call").count(), 1);
    let heard = proxy.heard();
    assert!(!heard.contains("horngate-approval"), "{heard}");
}
