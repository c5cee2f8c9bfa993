//! The revision without sessions.

use crate::support::{Bench, is_denied, listed, shown};
use horngate_mcp::Terms;
use serde_json::{Value, json};

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}, "sampling": {}},
    })
}

fn ask(bench: &mut Bench, id: Value, method: &str, mut params: Value) {
    params["_meta"] = meta();
    bench.client(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
}

#[test]
fn requests_stand_for_themselves() {
    let mut bench = Bench::new(&["git_log"], Terms::default());
    ask(&mut bench, json!(1), "server/discover", json!({}));
    bench.reply("server/discover", json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}, "prompts": {}, "extensions": {}}, "ttlMs": 5, "cacheScope": "public"}));
    let found = &bench.answer(1)["result"];
    assert_eq!(found["capabilities"], json!({"tools": {}}));
    assert_eq!(found["cacheScope"], "private");

    ask(&mut bench, json!(2), "tools/list", json!({}));
    let sent = bench.to_server.last().unwrap();
    let capabilities = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(
        *capabilities,
        json!({"elicitation": {"form": {}}}),
        "sampling does not pass"
    );
    bench.reply("tools/list", json!({"resultType": "complete", "tools": listed(&["git_log", "git_push"]), "ttlMs": 5, "cacheScope": "public"}));
    let list = &bench.answer(2)["result"];
    assert_eq!(shown(bench.answer(2)), ["git_log"]);
    assert_eq!(
        (&list["ttlMs"], &list["cacheScope"], &list["resultType"]),
        (&json!(5), &json!("private"), &json!("complete"))
    );

    ask(
        &mut bench,
        json!(3),
        "tools/call",
        json!({"name": "git_push"}),
    );
    let denied = &bench.answer(3)["result"];
    assert_eq!(
        (&denied["isError"], &denied["resultType"]),
        (&json!(true), &json!("complete"))
    );
    ask(
        &mut bench,
        json!(4),
        "tools/call",
        json!({"name": "git_log", "arguments": {}}),
    );
    let call = bench.called()[0];
    assert_eq!(
        call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
}

#[test]
fn each_retry_is_decided_anew() {
    let mut bench = Bench::new(&["git_log"], Terms::default());
    bench.hold = true;
    ask(
        &mut bench,
        json!(1),
        "tools/call",
        json!({"name": "git_log"}),
    );
    bench.tools(&["git_log"]);
    let (ticket, _) = bench.calls[0];
    let actions = bench.session.released(ticket, "{}");
    bench.apply(actions);
    let asks = json!({"resultType": "input_required", "requestState": "s",
        "inputRequests": {"k": {"method": "elicitation/create", "params": {}}}});
    bench.reply("tools/call", asks.clone());
    assert_eq!(bench.answer(1)["result"], asks);

    // The client's user said yes to the server: to the gate that is nothing.
    let retry = json!({"name": "git_log", "requestState": "s",
        "inputResponses": {"k": {"action": "accept", "content": {"decision": "approve"}}}});
    ask(&mut bench, json!(2), "tools/call", retry.clone());
    assert_eq!(bench.calls.len(), 2);
    assert_eq!(bench.called().len(), 1);
    let (ticket, _) = bench.calls[1];
    let actions = bench.session.released(ticket, "{}");
    bench.apply(actions);
    let sent = &bench.called()[1]["params"];
    assert_eq!(
        (&sent["requestState"], &sent["inputResponses"]),
        (&retry["requestState"], &retry["inputResponses"])
    );

    ask(&mut bench, json!(3), "tools/call", retry);
    let (ticket, _) = bench.calls[2];
    let actions = bench.session.finished(ticket, crate::support::refused());
    bench.apply(actions);
    assert!(is_denied(bench.answer(3)));
    assert_eq!(bench.called().len(), 2);
}

#[test]
fn a_result_that_asks_for_what_does_not_pass_is_refused() {
    let mut bench = Bench::new(&["git_log"], Terms::default());
    for (id, asks) in [
        (
            1,
            json!({"k": {"method": "sampling/createMessage", "params": {}}}),
        ),
        (2, json!({"k": {"method": "tools/call", "params": {}}})),
        (3, json!({"k": 7})),
        (4, json!([])),
    ] {
        ask(
            &mut bench,
            json!(id),
            "tools/call",
            json!({"name": "git_log"}),
        );
        if id == 1 {
            bench.tools(&["git_log"]);
        }
        bench.reply(
            "tools/call",
            json!({"resultType": "input_required", "inputRequests": asks, "requestState": "s"}),
        );
        let result = &bench.answer(id)["result"];
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("inputRequests").is_none());
    }
}

#[test]
fn another_client_may_have_another_list() {
    let mut bench = Bench::new(&["plain", "forms"], Terms::default());
    ask(&mut bench, json!(1), "tools/list", json!({}));
    bench.tools(&["plain", "forms"]);
    assert_eq!(shown(bench.answer(1)), ["plain", "forms"]);
    // The same tool for a client that cannot do as much: the list is asked for again, as that client.
    let mut poor = meta();
    poor["io.modelcontextprotocol/clientCapabilities"] = json!({});
    bench.client(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "forms", "_meta": poor}}));
    assert!(bench.called().is_empty());
    let asked = bench.to_server.last().unwrap();
    assert_eq!(
        asked["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"],
        json!({})
    );
    bench.tools(&["plain"]);
    assert!(is_denied(bench.answer(2)));
    assert!(bench.called().is_empty());
}

#[test]
fn two_lists_at_once_do_not_mix() {
    let mut bench = Bench::new(&["plain", "forms"], Terms::default());
    ask(&mut bench, json!(1), "tools/list", json!({}));
    let mut poor = meta();
    poor["io.modelcontextprotocol/clientCapabilities"] = json!({});
    bench.client(
        &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": poor}}),
    );
    bench.tools(&["plain", "forms"]);
    assert_eq!(shown(bench.answer(1)), ["plain", "forms"]);
    assert!(bench.to_client.iter().all(|line| line["id"] != 2));
    bench.tools(&["plain"]);
    assert_eq!(shown(bench.answer(2)), ["plain"]);
}

#[test]
fn subscriptions_keep_their_names() {
    let mut bench = Bench::new(&[], Terms::default());
    ask(
        &mut bench,
        json!("mine"),
        "subscriptions/listen",
        json!({"notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["note://a"], "taskIds": []}}),
    );
    let sent = bench.to_server.last().unwrap();
    assert_eq!(
        sent["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    let id = sent["id"].clone();
    let told = |method: &str, id: &Value| {
        json!({"jsonrpc": "2.0", "method": method, "params": {
        "_meta": {"io.modelcontextprotocol/subscriptionId": id}, "notifications": {"toolsListChanged": true}}})
    };
    bench.server(&told("notifications/subscriptions/acknowledged", &id));
    bench.server(&told("notifications/tools/list_changed", &id));
    bench.server(&told("notifications/tools/list_changed", &json!(77)));
    assert_eq!(bench.to_client.len(), 2);
    for line in &bench.to_client {
        assert_eq!(
            line["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            "mine"
        );
    }
    bench.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "mine"}}));
    assert_eq!(bench.to_server.last().unwrap()["params"]["requestId"], id);
    bench.server(&told("notifications/tools/list_changed", &id));
    assert_eq!(bench.to_client.len(), 2);
    assert!(bench.session.is_idle());
}
