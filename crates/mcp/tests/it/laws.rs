//! Whatever the two sides say.

use crate::support::Bench;
use horngate_mcp::{Passing, Terms};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn id() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..6_i64).prop_map(Value::from),
        "[a-b]".prop_map(Value::from),
        Just(json!("horngate-3")),
        Just(Value::Null),
    ]
}

fn tool() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("good"), Just("bad"), Just("Good"), Just("x::good")]
}

fn from_client() -> impl Strategy<Value = String> {
    let modern = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let meta = prop_oneof![Just(json!({})), Just(modern)];
    let request = (id(), tool(), meta, 0..9_usize).prop_map(|(id, tool, meta, which)| {
        let (method, params) = match which {
            0..=3 => (
                "tools/call",
                json!({"name": tool, "arguments": {}, "_meta": meta}),
            ),
            4 => ("tools/list", json!({"_meta": meta})),
            5 => ("tools/list", json!({"_meta": meta, "cursor": "c"})),
            6 => ("initialize", json!({"capabilities": {}})),
            7 => ("ping", json!({"_meta": {"progressToken": 1}})),
            _ => ("prompts/get", json!({"name": tool})),
        };
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    });
    let request = request.boxed();
    let cancelled = id().prop_map(|id| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string()
    });
    let response =
        id().prop_map(|id| json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string());
    prop_oneof![
        6 => request.clone(),
        1 => cancelled,
        1 => response,
        1 => request.prop_map(|line| format!("[{line}]")),
        1 => r#"[\[\]{}:,"0-9a-z]{0,12}"#,
    ]
}

fn from_server() -> impl Strategy<Value = String> {
    let lists = Just(json!({"tools": [
        {"name": "good", "inputSchema": {"type": "object"}}, {"name": "bad", "inputSchema": {"type": "object"}}]}));
    let pages = Just(
        json!({"tools": [{"name": "bad", "inputSchema": {"type": "object"}}], "nextCursor": "n"}),
    );
    let result = prop_oneof![
        lists,
        pages,
        Just(json!({"content": [], "capabilities": {}, "completion": {}}))
    ];
    prop_oneof![
        6 => (0..12_u64, result).prop_map(|(id, result)| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()),
        1 => (0..12_u64).prop_map(|id| json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "m"}}).to_string()),
        1 => id().prop_map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}).to_string()),
        1 => Just(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}).to_string()),
        1 => r#"[\[\]{}:,"0-9a-z]{0,12}"#,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn only_what_is_granted_reaches_the_server(
        steps in prop::collection::vec(prop_oneof![from_client().prop_map(Ok), from_server().prop_map(Err)], 0..60)
    ) {
        let passing = Passing { prompts: true, ..Passing::default() };
        let mut bench = Bench::new(&["good"], Terms { passing, ..Terms::default() });
        let mut asked: BTreeMap<String, i64> = BTreeMap::new();
        let mut called: BTreeSet<String> = BTreeSet::new();
        for step in steps {
            match step {
                Ok(line) => {
                    if let Ok(frame) = serde_json::from_str::<Value>(&line)
                        && frame.get("method").is_some() && frame.get("id").is_some()
                    {
                        if frame["method"] == "tools/call" {
                            called.insert(frame["id"].to_string());
                        }
                        *asked.entry(frame["id"].to_string()).or_default() += 1;
                    }
                    bench.client_text(&line);
                }
                Err(line) => bench.server_text(&line),
            }
        }
        for call in bench.called() {
            prop_assert_eq!(&call["params"]["name"], "good");
        }
        prop_assert!(bench.to_server.iter().all(|frame| frame["method"] != "prompts/get"));
        for frame in &bench.to_client {
            prop_assert_eq!(&frame["jsonrpc"], "2.0");
            // What a tool gives is the tool's, whatever it looks like.
            let is_list = !called.contains(&frame["id"].to_string());
            if let Some(tools) = frame["result"]["tools"].as_array().filter(|_| is_list) {
                prop_assert!(tools.iter().all(|tool| tool["name"] == "good"), "{frame}");
            }
            // Nobody is answered who did not ask, and nobody twice.
            if frame.get("method").is_none() && frame["id"] != Value::Null {
                let open = asked.get_mut(&frame["id"].to_string());
                prop_assert!(open.is_some(), "{frame}");
                let open = open.unwrap();
                *open -= 1;
                prop_assert!(*open >= 0, "{frame}");
            }
        }
        // The ids that the server is asked with are all different.
        let mut ids: Vec<String> = bench.to_server.iter()
            .filter(|frame| frame.get("method").is_some() && frame.get("id").is_some())
            .map(|frame| frame["id"].to_string()).collect();
        let count = ids.len();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), count);
    }

    #[test]
    fn any_bytes_are_survived(client in prop::collection::vec(any::<Vec<u8>>(), 0..8), server in prop::collection::vec(any::<Vec<u8>>(), 0..8)) {
        let mut bench = Bench::started(&["good"], Terms::default());
        for (client, server) in client.iter().zip(&server) {
            let actions = bench.session.from_client(client);
            bench.apply(actions);
            let actions = bench.session.from_server(server);
            bench.apply(actions);
        }
        prop_assert!(bench.to_server.is_empty());
    }
}
