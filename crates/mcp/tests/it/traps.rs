//! Ways around the gate that are none.

use crate::support::{Bench, Names, is_denied, listed, shown};
use horngate_mcp::{Namespace, NoteKind, Passing, Terms};
use serde_json::json;

fn bench() -> Bench {
    Bench::started(&["git_log"], Terms::default())
}

#[test]
fn the_list_is_the_grants_on_every_page() {
    let mut bench = bench();
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    bench.reply(
        "tools/list",
        json!({"tools": listed(&["git_commit"]), "nextCursor": "p2"}),
    );
    assert_eq!(bench.to_server.last().unwrap()["params"]["cursor"], "p2");
    bench.tools(&["git_push", "git_log"]);
    assert_eq!(shown(bench.answer(1)), ["git_log"]);
    assert!(bench.answer(1)["result"].get("nextCursor").is_none());

    // A page that is asked for by itself.
    bench.client(
        &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"cursor": "p2"}}),
    );
    bench.tools(&["git_push", "git_log"]);
    bench.tools(&["git_push", "git_log"]);
    assert_eq!(shown(bench.answer(2)), ["git_log"]);
}

#[test]
fn only_the_exact_name_is_granted() {
    let mut bench = bench();
    let names = [
        "git_commit",
        "Git_Log",
        "GIT_LOG",
        "git_log ",
        "gіt_log",
        "git_lоg",
        "git_log\u{200b}",
        "",
        "x::git_log",
    ];
    for (id, name) in names.iter().enumerate() {
        bench.call(id, name);
        if id == 0 {
            bench.tools(&["git_log", "git_commit", "x::git_log"]);
        }
        assert!(is_denied(bench.answer(id)), "{name:?}");
    }
    assert_eq!(bench.called().len(), 0);
    bench.call(99, "git_log");
    assert_eq!(bench.called().len(), 1);
    assert_eq!(
        bench.called()[0]["params"]["arguments"].to_string(),
        r#"{"a":2,"b":1}"#
    );
}

#[test]
fn a_call_in_a_batch_goes_nowhere() {
    let mut bench = bench();
    bench.client(&json!([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "git_log"}}]));
    bench.client_text("[]");
    assert_eq!(bench.to_server, Vec::<serde_json::Value>::new());
    assert_eq!(bench.to_client.len(), 2);
    for answer in &bench.to_client {
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(null), &json!(-32600))
        );
    }
    // The server's batches do not pass either.
    bench.server_text(r#"[{"jsonrpc":"2.0","method":"notifications/message","params":{}}]"#);
    assert_eq!(bench.to_client.len(), 2);
}

#[test]
fn the_second_of_two_names_is_not_called() {
    let mut bench = bench();
    bench.call(1, "git_log");
    bench.tools(&["git_log", "git_commit"]);
    bench.to_server.clear();
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"git_log","name":"git_commit"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"git_log","n\u0061me":"git_commit"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call","params":{"name":"git_commit"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{},"params":{"name":"git_commit"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"git_log","arguments":{"a":1,"a":2}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"git_log","arguments":{"a":"\ud800"}}}"#,
    ] {
        bench.to_client.clear();
        bench.client_text(line);
        assert_eq!(bench.answer(7)["error"]["code"], -32600, "{line}");
    }
    assert_eq!(bench.to_server.len(), 0);
}

#[test]
fn an_error_names_nobody_in_doubt() {
    let mut bench = bench();
    let null = json!(null);
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        "nonsense",
        "7",
    ] {
        bench.client_text(line);
        let last = bench.to_client.last().unwrap();
        assert_eq!(last["id"], null, "{line}");
        assert!(last.get("error").is_some());
    }
    // An id that is in use.
    bench.client(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}));
    bench.client(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}));
    assert_eq!(bench.to_client.last().unwrap()["id"], null);
    bench.client_text(r#"{"jsonrpc":"2.0","id":5,"method":"ping","x":1}"#);
    assert_eq!(bench.to_client.last().unwrap()["id"], null);
    assert_eq!(bench.to_server.len(), 1);
    bench.reply("ping", json!({}));
    assert!(bench.answer(5).get("result").is_some());
}

#[test]
fn a_call_without_an_id_is_dropped_and_recorded() {
    let mut bench = bench();
    bench.client(&json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "git_log"}}));
    assert!(bench.to_server.is_empty() && bench.to_client.is_empty());
    let note = &bench.notes[0];
    assert_eq!(
        (note.kind, &*note.method, &*note.subject),
        (NoteKind::Refused, "tools/call", "git_log")
    );
}

#[test]
fn what_is_not_in_the_table_does_not_pass() {
    let mut bench = bench();
    for (id, method) in [
        "tools/run",
        "Tools/Call",
        "tools/call ",
        "tasks/get",
        "tasks/result",
        "sampling/createMessage",
        "$/x",
        "",
    ]
    .iter()
    .enumerate()
    {
        bench.client(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "git_log"}}),
        );
        assert_eq!(bench.answer(id)["error"]["code"], -32601, "{method:?}");
    }
    for params in [
        json!({"name": "git_log", "task": {"ttl": 1}}),
        json!({"name": "git_log", "tool": "git_commit"}),
        json!({"name": ["git_log"]}),
        json!({"arguments": {}}),
        json!({"name": "git_log", "arguments": []}),
        json!({"name": "git_log", "_meta": 7}),
        json!({"name": "git_log", "_meta": {"progressToken": null}}),
    ] {
        bench.client(
            &json!({"jsonrpc": "2.0", "id": "p", "method": "tools/call", "params": params}),
        );
        let last = bench.to_client.last().unwrap();
        assert_eq!(
            (&last["id"], &last["error"]["code"]),
            (&json!("p"), &json!(-32602)),
            "{params}"
        );
    }
    bench.client(&json!({"jsonrpc": "2.0", "method": "notifications/tasks/status"}));
    assert!(bench.to_server.is_empty());
    bench.server(&json!({"jsonrpc": "2.0", "method": "notifications/unheard", "params": {}}));
    assert!(
        bench
            .to_client
            .iter()
            .all(|line| line.get("method").is_none())
    );
}

#[test]
fn nothing_is_called_before_the_session_begins() {
    let mut bench = Bench::new(&["git_log"], Terms::default());
    bench.call(1, "git_log");
    bench.client(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    for id in [1, 2] {
        assert_eq!(bench.answer(id)["error"]["code"], -32600);
    }
    assert!(bench.to_server.is_empty());
    // What is said while it has only been asked for waits, in order.
    bench.client(
        &json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"capabilities": {}}}),
    );
    bench.call(4, "git_log");
    bench.call(5, "git_log");
    bench.client(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}),
    );
    bench.client(
        &json!({"jsonrpc": "2.0", "id": 6, "method": "initialize", "params": {"capabilities": {}}}),
    );
    assert_eq!(bench.answer(6)["error"]["code"], -32600);
    assert_eq!(bench.to_server.len(), 1);
    bench.reply("initialize", json!({"capabilities": {"tools": {}}}));
    bench.tools(&["git_log"]);
    assert_eq!(bench.called().len(), 1);
    // Where it does not begin, nothing runs.
    let mut bench = Bench::new(&["git_log"], Terms::default());
    bench.client(
        &json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"capabilities": {}}}),
    );
    bench.call(4, "git_log");
    let id = bench.to_server[0]["id"].clone();
    bench.server(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no"}}));
    assert_eq!(bench.answer(4)["error"]["code"], -32600);
    assert_eq!(bench.to_server.len(), 1);
    assert!(bench.session.is_idle());
}

#[test]
fn ids_of_the_two_directions_are_apart() {
    let mut bench = bench();
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    // The server asks something with the id that the client has used, and with the one that the server was asked with.
    let used = bench.to_server[0]["id"].clone();
    bench.server(&json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}));
    if used != 1 {
        bench.server(&json!({"jsonrpc": "2.0", "id": used, "method": "roots/list"}));
    }
    let asked: Vec<_> = bench
        .to_client
        .iter()
        .map(|line| line["id"].clone())
        .collect();
    assert!(
        asked
            .iter()
            .all(|id| id.as_str().is_some_and(|id| id.starts_with("horngate-"))),
        "{asked:?}"
    );
    assert!(
        bench
            .to_client
            .iter()
            .all(|line| line["method"] == "roots/list")
    );
    // The client's answer to the server does not answer the client.
    bench.client(&json!({"jsonrpc": "2.0", "id": asked[0], "result": {"roots": []}}));
    let answer = bench.to_server.last().unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]),
        (&json!(1), &json!({"roots": []}))
    );
    bench.reply("ping", json!({"x": 1}));
    assert_eq!(bench.answer(1)["result"], json!({}));
    // An answer to nothing, and one that was given already.
    let before = bench.to_server.len();
    bench.client(&json!({"jsonrpc": "2.0", "id": asked[0], "result": {}}));
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(bench.to_server.len(), before);
    let before = bench.to_client.len();
    bench.server(&json!({"jsonrpc": "2.0", "id": used, "result": {}}));
    bench.server(&json!({"jsonrpc": "2.0", "id": "horngate-1", "result": {}}));
    assert_eq!(bench.to_client.len(), before);
}

#[test]
fn the_server_asks_only_what_the_table_has() {
    let mut bench = bench();
    for method in ["sampling/createMessage", "tools/call", "initialize", "x"] {
        bench.server(&json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": {}}));
        let answer = bench.to_server.last().unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(9), &json!(-32601)),
            "{method}"
        );
    }
    assert!(bench.to_client.is_empty());
    let passing = Passing {
        sampling: true,
        ..Passing::default()
    };
    let mut bench = Bench::started(
        &[],
        Terms {
            passing,
            ..Terms::default()
        },
    );
    bench.server(
        &json!({"jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": {"a": 1}}),
    );
    assert_eq!(bench.to_client[0]["params"], json!({"a": 1}));
}

#[test]
fn a_flood_of_changes_is_told_once() {
    let mut bench = bench();
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    for _ in 0..1000 {
        bench.server(&changed);
    }
    assert_eq!(bench.to_client.len(), 1);
    assert!(
        bench.to_server.is_empty(),
        "nothing is read before somebody asks"
    );
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    bench.tools(&["git_log"]);
    bench.server(&changed);
    assert_eq!(bench.to_client.len(), 3);
}

#[test]
fn a_tool_that_is_gone_or_changed_is_known_before_the_next_call() {
    let mut bench = bench();
    bench.call(1, "git_log");
    bench.tools(&["git_log"]);
    assert_eq!(bench.called().len(), 1);
    bench.server(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    bench.call(2, "git_log");
    bench.tools(&["git_status"]);
    assert!(is_denied(bench.answer(2)));
    assert_eq!(bench.called().len(), 1);
}

#[test]
fn names_of_two_servers_never_merge() {
    let namespace = Some(Namespace::parse("git").unwrap());
    let terms = Terms {
        namespace,
        ..Terms::default()
    };
    let mut bench = Bench::started(&["git::log", "log", "git::x::y"], terms);
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    bench.tools(&["log", "commit", "x::y"]);
    assert_eq!(shown(bench.answer(1)), ["log"]);
    bench.call(2, "log");
    assert_eq!(bench.called()[0]["params"]["name"], "log");

    // Without a namespace nobody can pretend to have one.
    let mut bench = Bench::started(&["git::log"], Terms::default());
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    bench.tools(&["git::log"]);
    assert_eq!(shown(bench.answer(1)), Vec::<&str>::new());
    bench.call(2, "git::log");
    assert!(is_denied(bench.answer(2)));
    assert!(bench.called().is_empty());
}

#[test]
fn a_name_that_stands_twice_in_a_list_is_nobodys() {
    let mut bench = bench();
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    bench.tools(&["git_log", "git_log"]);
    assert_eq!(shown(bench.answer(1)), Vec::<&str>::new());
    bench.call(2, "git_log");
    assert!(is_denied(bench.answer(2)));
}

#[test]
fn lists_without_end_are_given_up() {
    let mut bench = bench();
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    for _ in 0..300 {
        if bench.to_client.is_empty() {
            bench.reply(
                "tools/list",
                json!({"tools": listed(&["git_log"]), "nextCursor": "again"}),
            );
        }
    }
    assert_eq!(bench.answer(1)["error"]["code"], -32603);
    bench.call(2, "git_log");
    bench.reply("tools/list", json!({"tools": "many"}));
    assert!(is_denied(bench.answer(2)));
    assert!(bench.called().is_empty());
}

#[test]
fn what_the_client_takes_back_does_not_run() {
    let mut bench = bench();
    bench.hold = true;
    bench.call(1, "git_log");
    bench.tools(&["git_log"]);
    let (ticket, _) = bench.calls[0];
    bench.client(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    assert_eq!(bench.abandoned, [ticket]);
    // The gate lets it pass too late.
    let actions = bench.session.released(ticket, "{}");
    bench.apply(actions);
    assert!(bench.called().is_empty());
    assert!(bench.to_client.is_empty());
    assert!(bench.session.is_idle());

    // One that runs is cancelled at the server, under the id that it has there.
    bench.hold = false;
    bench.call(2, "git_log");
    let sent = bench.called()[0]["id"].clone();
    bench.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2, "reason": "r"}}));
    let told = bench.to_server.last().unwrap();
    assert_eq!(told["params"], json!({"requestId": sent, "reason": "r"}));
    bench.server(&json!({"jsonrpc": "2.0", "id": sent, "result": {"content": []}}));
    assert!(bench.to_client.is_empty());
    assert!(bench.session.is_idle());
}

#[test]
fn progress_goes_to_who_asked() {
    let mut bench = bench();
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"progressToken": "t"}}}));
    bench.client(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"_meta": {"progressToken": "t"}}}));
    assert_eq!(bench.answer(2)["error"]["code"], -32602);
    let progress = |token| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": 1}});
    bench.to_client.clear();
    bench.server(&progress("other"));
    assert!(bench.to_client.is_empty());
    bench.server(&progress("t"));
    assert_eq!(bench.to_client.len(), 1);
    bench.reply("ping", json!({}));
    bench.server(&progress("t"));
    assert_eq!(bench.to_client.len(), 2);
}

#[test]
fn answers_that_read_in_two_ways_are_refused() {
    let mut bench = bench();
    bench.call(1, "git_log");
    bench.tools(&["git_log"]);
    let id = bench.called()[0]["id"].clone();
    bench.server_text("a log line that a server prints");
    bench.server_text(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"content":[]}}}}"#
    ));
    assert!(is_denied(bench.answer(1)));
    assert!(bench.session.is_idle());
}

#[test]
fn a_message_too_long_is_nobodys() {
    let mut bench = bench();
    let actions = bench.session.oversize_from_client();
    bench.apply(actions);
    assert_eq!(bench.to_client[0]["id"], json!(null));
    bench.call(1, "git_log");
    bench.tools(&["git_log"]);
    let actions = bench.session.oversize_from_server();
    bench.apply(actions);
    assert!(is_denied(bench.answer(1)));
    assert!(bench.session.is_idle());
}

#[test]
fn resources_and_prompts_need_grants_of_their_own() {
    let mut bench = bench();
    for (id, method, params) in [
        (1, "resources/list", json!({})),
        (2, "resources/templates/list", json!({})),
        (3, "resources/read", json!({"uri": "note://a"})),
        (4, "resources/subscribe", json!({"uri": "note://a"})),
        (5, "prompts/list", json!({})),
        (6, "prompts/get", json!({"name": "greet"})),
        (
            7,
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {}}),
        ),
        (
            8,
            "completion/complete",
            json!({"ref": {"type": "ref/other", "name": "greet"}, "argument": {}}),
        ),
    ] {
        bench.client(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        assert!(is_denied(bench.answer(id)), "{method}");
    }
    assert!(bench.to_server.is_empty());

    let warden = Names {
        uris: ["note://a".to_owned()].into(),
        prompts: ["greet".to_owned()].into(),
        ..Names::default()
    };
    let passing = Passing {
        prompts: true,
        resources: true,
        sampling: false,
    };
    let mut bench = Bench::with(
        warden,
        Terms {
            passing,
            ..Terms::default()
        },
    );
    bench.start();
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "resources/list"}));
    bench.reply("resources/list", json!({"resources": [{"uri": "note://a"}, {"uri": "note://b"}, {"uri": 7}, 1], "nextCursor": "x"}));
    assert_eq!(
        bench.answer(1)["result"]["resources"],
        json!([{"uri": "note://a"}])
    );
    assert_eq!(bench.answer(1)["result"]["nextCursor"], "x");
    bench.client(&json!({"jsonrpc": "2.0", "id": 2, "method": "prompts/list"}));
    bench.reply(
        "prompts/list",
        json!({"prompts": [{"name": "leave"}, {"name": "greet"}]}),
    );
    assert_eq!(
        bench.answer(2)["result"]["prompts"],
        json!([{"name": "greet"}])
    );
    bench.client(&json!({"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "note://b"}}));
    assert!(is_denied(bench.answer(3)));
    bench.client(&json!({"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": "note://a"}}));
    bench.reply("resources/read", json!({"contents": []}));
    assert_eq!(bench.answer(4)["result"], json!({"contents": []}));
    // Nor is a change told of what may not be read.
    let before = bench.to_client.len();
    for uri in ["note://b", "note://a"] {
        bench.server(&json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}));
    }
    assert_eq!(bench.to_client.len(), before + 1);
}

#[test]
fn capabilities_are_what_passes() {
    let mut bench = Bench::new(&[], Terms::default());
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "clientInfo": {"name": "admin", "version": "1"},
        "capabilities": {"roots": {}, "sampling": {}, "elicitation": {}, "tasks": {}, "experimental": {}}}}));
    let asked = &bench.to_server[0]["params"];
    assert_eq!(
        asked["capabilities"],
        json!({"roots": {}, "elicitation": {}})
    );
    bench.reply(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"},
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "tasks": {}, "logging": {}}}),
    );
    assert_eq!(
        bench.answer(1)["result"]["capabilities"],
        json!({"tools": {}, "logging": {}})
    );
}
