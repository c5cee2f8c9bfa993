//! A small MCP server over standard input and output, in both protocol eras, that writes down all it hears.
//!
//! `scripted_server LOG` appends each line that it gets to LOG. Its tools are listed on two pages; some misbehave on
//! request, which is what they are for: the proxy's tests run it.
#![expect(clippy::indexing_slicing, reason = "a member that is missing is null")]

use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::time::Duration;

fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "title": "A title",
        "description": description,
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "annotations": {"readOnlyHint": true},
    })
}

fn say(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}

fn answer(id: &Value, result: Value) -> io::Result<()> {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn call(id: &Value, params: &Value, changed: &mut bool) -> io::Result<()> {
    let arguments = &params["arguments"];
    match params["name"].as_str().unwrap_or_default() {
        "echo" => answer(id, text(&arguments.to_string())),
        "failing" => {
            let mut result = text("it did not work");
            result["isError"] = true.into();
            answer(id, result)
        }
        "broken" => say(
            &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "out of order"}}),
        ),
        "hangs" => Ok(()),
        "dies" => std::process::exit(7),
        "stubborn" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "floods" => {
            for _ in 0..50_000 {
                say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))?;
                say(
                    &json!({"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": "nobody's", "progress": 1}}),
                )?;
            }
            answer(id, text("flooded"))
        }
        "twice" => {
            let mut out = io::stdout().lock();
            writeln!(
                out,
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"content":[]}}}}"#
            )?;
            out.flush()
        }
        "huge" => answer(id, text(&"x".repeat(17 << 20))),
        "changes" => {
            *changed = true;
            say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))?;
            answer(id, text("changed"))
        }
        "asks" => match params["inputResponses"]["name"]["content"]["name"].as_str() {
            Some(name) => answer(
                id,
                json!({"resultType": "complete", "content": [{"type": "text", "text": name}]}),
            ),
            None => answer(
                id,
                json!({
                    "resultType": "input_required",
                    "inputRequests": {"name": {"method": "elicitation/create", "params": {"message": "who?"}}},
                    "requestState": "s1",
                }),
            ),
        },
        other => say(
            &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": format!("no {other}")}}),
        ),
    }
}

fn list(id: &Value, params: &Value, changed: bool) -> io::Result<()> {
    let names: &[&str] = match params["cursor"].as_str() {
        None => &["echo", "failing", "broken", "hangs", "dies", "stubborn"],
        Some(_) => &["floods", "twice", "huge", "changes", "asks", "secret"],
    };
    let described = if changed {
        "Now something else"
    } else {
        "As it says"
    };
    let tools: Vec<Value> = names.iter().map(|name| tool(name, described)).collect();
    let mut result = json!({"tools": tools});
    if params["cursor"].is_null() {
        result["nextCursor"] = "2".into();
    }
    if params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string() {
        result["resultType"] = "complete".into();
        result["ttlMs"] = 60_000.into();
        result["cacheScope"] = "public".into();
    }
    answer(id, result)
}

fn main() -> io::Result<()> {
    let mut log = std::env::args_os()
        .nth(1)
        .map(|path| OpenOptions::new().create(true).append(true).open(path))
        .transpose()?;
    let mut changed = false;
    for line in io::stdin().lock().lines() {
        let line = line?;
        if let Some(log) = &mut log {
            writeln!(log, "{line}")?;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => answer(
                id,
                json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": true}, "prompts": {}, "resources": {}, "experimental": {}},
                    "serverInfo": {"name": "scripted", "version": "1"},
                    "instructions": "Be nice",
                }),
            )?,
            "server/discover" => answer(
                id,
                json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}, "extensions": {}},
                    "ttlMs": 1000,
                    "cacheScope": "public",
                }),
            )?,
            "ping" => answer(id, json!({}))?,
            "tools/list" => list(id, params, changed)?,
            "tools/call" => call(id, params, &mut changed)?,
            "resources/list" => answer(
                id,
                json!({"resources": [{"uri": "note://a", "name": "a"}, {"uri": "note://b", "name": "b"}]}),
            )?,
            "resources/read" => answer(
                id,
                json!({"contents": [{"uri": params["uri"], "text": "a note"}]}),
            )?,
            "prompts/list" => answer(
                id,
                json!({"prompts": [{"name": "greet"}, {"name": "leave"}]}),
            )?,
            "prompts/get" => answer(id, json!({"messages": []}))?,
            _ => {}
        }
    }
    Ok(())
}
