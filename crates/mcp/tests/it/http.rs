//! A server that is far away.

use crate::support::{Proxy, is_denied, shown};
use horngate_mcp::{Remote, Server};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a request had.
#[derive(Clone, Debug)]
struct Heard {
    verb: String,
    headers: String,
    body: Value,
}

/// Serves MCP over HTTP by hand, and remembers what it hears.
fn serve() -> (String, Arc<Mutex<Vec<Heard>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(stream), heard) = (stream, Arc::clone(&heard)) else {
                break;
            };
            std::thread::spawn(move || while answer(&stream, &heard).is_some() {});
        }
    });
    (url, all)
}

fn answer(stream: &TcpStream, heard: &Mutex<Vec<Heard>>) -> Option<()> {
    let mut input = BufReader::new(stream);
    let mut first = String::new();
    input.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        input.read_line(&mut line).ok()?;
        let line = line.trim_end().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        headers.push_str(&line);
        headers.push('\n');
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let verb = first.split(' ').next()?.to_owned();
    heard.lock().unwrap().push(Heard {
        verb: verb.clone(),
        headers,
        body: body.clone(),
    });
    let mut output = stream;
    let mut reply = |status: &str, more: &str, text: &str| {
        let length = text.len();
        write!(
            output,
            "HTTP/1.1 {status}\r\n{more}content-length: {length}\r\n\r\n{text}"
        )
        .ok()
    };
    if verb != "POST" {
        return reply("405 Method Not Allowed", "", "");
    }
    if body.get("id").is_none() || body.get("method").is_none() {
        return reply("202 Accepted", "", "");
    }
    let result =
        |result: Value| json!({"jsonrpc": "2.0", "id": body["id"], "result": result}).to_string();
    let json = "content-type: application/json\r\n";
    let stream = "content-type: text/event-stream\r\n";
    let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
    match body["method"].as_str()? {
        "initialize" => reply(
            "200 OK",
            &format!("{json}mcp-session-id: s-1\r\n"),
            &result(
                json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "far", "version": "1"}}),
            ),
        ),
        "tools/list" => reply(
            "200 OK",
            json,
            &result(json!({"tools": [tool("near"), tool("cut"), tool("gone"), tool("secret")]})),
        ),
        "tools/call" => match body["params"]["name"].as_str()? {
            "near" => {
                let told = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
                let done = result(json!({"content": [{"type": "text", "text": "done"}]}));
                reply(
                    "200 OK",
                    stream,
                    &format!("data: {told}\n\nid: 1\ndata: {done}\n\n"),
                )
            }
            "cut" => reply("200 OK", stream, "data: {\"jsonrpc\":\n"),
            _ => reply("500 Internal Server Error", "", "no"),
        },
        _ => reply("404 Not Found", "", ""),
    }
}

fn behind(url: &str, rules: &str) -> Proxy {
    Proxy::started(rules, |settings| {
        settings.server = Server::Url(Remote::new(url, Some("t0ken".to_owned())).unwrap());
    })
}

const RULES: &str = "may_execute_tool('U:Qa', tool_near).\nmay_execute_tool('U:Qa', tool_cut).\nmay_execute_tool('U:Qa', tool_gone).\n";

#[test]
fn only_what_is_granted_is_posted() {
    let (url, heard) = serve();
    let mut proxy = behind(&url, RULES);
    assert_eq!(
        shown(&proxy.ask("tools/list", json!({}))),
        ["near", "cut", "gone"]
    );
    let id = proxy.post("tools/call", json!({"name": "near", "arguments": {}}));
    assert_eq!(proxy.next()["method"], "notifications/message");
    let answer = proxy.next();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(id), &json!("done"))
    );
    assert!(is_denied(&proxy.call("secret", json!({}))));
    // What does not come is an error.
    assert!(
        proxy.call("cut", json!({}))["error"]["message"]
            .as_str()
            .unwrap()
            .contains("not answered")
    );
    assert!(
        proxy.call("gone", json!({}))["error"]["message"]
            .as_str()
            .unwrap()
            .contains("500")
    );
    assert!(is_denied(&proxy.ask("ping", json!({}))));
    assert_eq!(proxy.end().unwrap(), 0);

    let heard = heard.lock().unwrap().clone();
    assert!(
        heard
            .iter()
            .all(|request| request.headers.contains("authorization: bearer t0ken"))
    );
    assert!(
        heard
            .iter()
            .all(|request| request.body["params"]["name"] != "secret")
    );
    let call = heard
        .iter()
        .find(|request| request.body["method"] == "tools/call")
        .unwrap();
    assert!(
        call.headers.contains("mcp-session-id: s-1")
            && call.headers.contains("mcp-protocol-version: 2025-11-25")
    );
    assert_eq!(
        heard.iter().filter(|request| request.verb == "GET").count(),
        1
    );
    assert_eq!(
        heard
            .iter()
            .filter(|request| request.verb == "DELETE")
            .count(),
        1
    );
}

#[test]
fn without_a_session_each_request_says_what_it_is() {
    let (url, heard) = serve();
    let mut proxy = Proxy::start(RULES, |settings| {
        settings.server = Server::Url(Remote::new(&url, None).unwrap());
    });
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let answer = proxy.ask(
        "tools/call",
        json!({"name": "near", "arguments": {}, "_meta": meta}),
    );
    assert!(!is_denied(&answer), "{answer}");
    let heard = heard.lock().unwrap().clone();
    let call = heard
        .iter()
        .find(|request| request.body["method"] == "tools/call")
        .unwrap();
    for header in [
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        "mcp-name: near",
    ] {
        assert!(call.headers.contains(header), "{header}: {}", call.headers);
    }
    assert!(!call.headers.contains("authorization"));
}

#[test]
fn nobody_there_is_an_error() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut proxy = Proxy::start(RULES, |settings| {
        let url = format!("http://127.0.0.1:{port}/");
        settings.server = Server::Url(Remote::new(&url, None).unwrap());
    });
    let answer = proxy.ask(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    );
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("cannot be reached"),
        "{answer}"
    );
}

/// A server that answers every POST with this, and then keeps the connection.
fn stubborn(reply: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(mut stream), heard, reply) = (stream, Arc::clone(&heard), reply.clone()) else {
                break;
            };
            std::thread::spawn(move || {
                let mut text = String::new();
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut bytes) {
                    text.push_str(&String::from_utf8_lossy(&bytes[..read]));
                    let Some((_, body)) = text.split_once("\r\n\r\n") else {
                        continue;
                    };
                    let Ok(body) = serde_json::from_str::<Value>(body) else {
                        continue;
                    };
                    let reply = reply.replace("ID", &body["id"].to_string());
                    heard.lock().unwrap().push(std::mem::take(&mut text));
                    if stream.write_all(reply.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    (url, all)
}

fn hello(reply: String, token: &str) -> (Value, Vec<String>) {
    let (url, heard) = stubborn(reply);
    let mut proxy = Proxy::start(RULES, |settings| {
        settings.server = Server::Url(Remote::new(&url, Some(token.to_owned())).unwrap());
    });
    let answer = proxy.ask(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    );
    let heard = heard.lock().unwrap().clone();
    (answer, heard)
}

#[test]
fn a_redirect_is_an_error_and_nobody_else_gets_the_token() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let to = elsewhere.local_addr().unwrap();
    for status in [301, 302, 303, 307, 308] {
        let reply = format!(
            "HTTP/1.1 {status} x\r\nlocation: http://{to}/mcp\r\ncontent-length: 0\r\n\r\n"
        );
        let (answer, heard) = hello(reply, "t0ken");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains(&status.to_string()),
            "{answer}"
        );
        assert_eq!(heard.len(), 1, "{heard:?}");
    }
    assert!(elsewhere.accept().is_err(), "somebody else was asked");
}

#[test]
fn the_first_answer_ends_the_wait_though_its_stream_goes_on() {
    let result =
        r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
    // The length says that more is to come, and it never does.
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\ndata: {result}\n\n"
    );
    let (url, _) = stubborn(reply);
    let mut proxy = Proxy::start(RULES, |settings| {
        settings.server = Server::Url(Remote::new(&url, None).unwrap());
    });
    for method in ["initialize", "ping", "ping"] {
        let params = match method {
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
            _ => json!({}),
        };
        let answer = proxy.ask(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
    }
}

#[test]
fn an_answer_to_another_request_is_none() {
    for id in ["77", "null", "\"ID\"", "1.0", "[1]"] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"capabilities":{{}}}}}}"#);
        // `ID` stands for the id in the reply.
        let length = body.replace("ID", "2").len();
        let reply = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let (answer, _) = hello(reply, "t");
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("not answered"),
            "{id}: {answer}"
        );
    }
}
