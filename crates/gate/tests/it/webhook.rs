//! Services that are asked with a POST.

use crate::support::{Bench, RULES, START, call, refused};
use horngate_gate::{
    AnswerRefused, ApproverError, Clock, Gate, HttpTransport, Limits, MemoryStore, Post, Reason,
    Reply, Signatory, State, Store, Transport, Webhook, WebhookAnswers, WebhookKey,
};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECRET: [u8; 32] = [7; 32];

fn key() -> WebhookKey {
    WebhookKey::new(&SECRET).unwrap()
}

/// What a service does with a message.
type Service = dyn Fn(&Post) -> Result<Reply, ApproverError> + Send + Sync;

struct Fake(Box<Service>);

impl Transport for Fake {
    fn target(&self) -> String {
        "fake".to_owned()
    }

    fn post(&self, post: &Post) -> Result<Reply, ApproverError> {
        (self.0)(post)
    }
}

fn fake(service: impl Fn(&Post) -> Result<Reply, ApproverError> + Send + Sync + 'static) -> Fake {
    Fake(Box::new(service))
}

fn header(post: &Post, name: &str) -> String {
    let found = post.headers.iter().find(|(header, _)| *header == name);
    found.unwrap().1.clone()
}

fn answer(post: &Post, key: &WebhookKey, at: u64, answer: &str) -> String {
    let (id, binding) = (
        header(post, "horngate-id"),
        header(post, "horngate-binding"),
    );
    key.answer(&id, &binding, at, answer)
}

fn reply(status: u16, body: impl Into<Vec<u8>>) -> Result<Reply, ApproverError> {
    let body = body.into();
    Ok(Reply { status, body })
}

/// Longer than anything takes that answers, however busy the machine is; and what those get who do not.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(400);

fn gate(bench: &Bench, webhook: Webhook, patience: Duration) -> Gate {
    let limits = Limits {
        approver: patience,
        ..Limits::default()
    };
    bench
        .builder(RULES)
        .limits(limits)
        .approver(webhook)
        .build()
        .unwrap()
}

/// The call with a service that answers in its reply.
async fn asked(
    service: impl Fn(&Post) -> Result<Reply, ApproverError> + Send + Sync + 'static,
) -> Result<Value, Reason> {
    asked_for(LONG, service).await
}

async fn asked_for(
    patience: Duration,
    service: impl Fn(&Post) -> Result<Reply, ApproverError> + Send + Sync + 'static,
) -> Result<Value, Reason> {
    let bench = Bench::new();
    let webhook = Webhook::answered_by("ann", key(), fake(service)).clock(bench.clock.clone());
    let gate = gate(&bench, webhook, patience);
    let qa = gate.invocation("U:Qa", "s");
    let outcome = call(&gate, &qa, "deploy", r#"{"n":1}"#).await;
    assert_eq!(bench.runs.count(), usize::from(outcome.is_ok()));
    outcome
        .map(|done| done.data)
        .map_err(|refusal| refusal.reason)
}

#[tokio::test]
async fn a_signed_yes_in_the_reply_runs_the_call() {
    let outcome = asked(|post| {
        assert!(key().is_from_gate(post));
        let body: Value = serde_json::from_str(&post.body).unwrap();
        assert_eq!(body["request"]["arguments"], r#"{"n":1}"#);
        assert_eq!(body["id"], header(post, "horngate-id"));
        assert!(body["text"].as_str().unwrap().contains("customers see it"));
        reply(200, answer(post, &key(), START, "approve"))
    })
    .await;
    assert_eq!(outcome, Ok(serde_json::json!({"n": 1})));
}

#[tokio::test]
async fn a_message_that_was_changed_is_not_from_the_gate() {
    let outcome = asked(|post| {
        for change in 0..5 {
            let mut other = post.clone();
            match change {
                0 => other.body = other.body.replace("deploy", "delete"),
                n => other.headers[n - 1].1 = "0".repeat(64),
            }
            assert!(!key().is_from_gate(&other), "{change}");
        }
        assert!(!WebhookKey::new(&[8; 32]).unwrap().is_from_gate(post));
        reply(200, answer(post, &key(), START, "deny"))
    })
    .await;
    assert_eq!(outcome, Err(Reason::Declined));
}

#[tokio::test]
async fn whatever_is_no_signed_yes_denies() {
    type Case = (fn(&Post) -> Result<Reply, ApproverError>, Reason);
    let cases: [Case; 17] = [
        (|_| Err(ApproverError::new("down")), Reason::ApproverError),
        (|_| panic!("oh"), Reason::ApproverPanic),
        (|_| reply(500, ""), Reason::ApproverError),
        (|_| reply(404, ""), Reason::ApproverError),
        (
            |post| reply(302, answer(post, &key(), START, "approve")),
            Reason::ApproverError,
        ),
        (
            |post| reply(500, answer(post, &key(), START, "approve")),
            Reason::ApproverError,
        ),
        (|_| reply(200, "approve"), Reason::ApproverError),
        (
            |_| reply(200, r#"{"answer":"approve"}"#),
            Reason::ApproverError,
        ),
        (|_| reply(200, vec![b' '; 20_000]), Reason::ApproverError),
        // Nobody answers in time.
        (|_| reply(202, ""), Reason::ApproverTimeout),
        // Signed by somebody else.
        (
            |post| {
                let other = WebhookKey::new(&[8; 32]).unwrap();
                reply(200, answer(post, &other, START, "approve"))
            },
            Reason::ApproverError,
        ),
        // Signed for another request, or another call.
        (
            |post| {
                let binding = header(post, "horngate-binding");
                reply(
                    200,
                    key().answer(&"0".repeat(32), &binding, START, "approve"),
                )
            },
            Reason::ApproverError,
        ),
        (
            |post| {
                let id = header(post, "horngate-id");
                reply(200, key().answer(&id, &"0".repeat(64), START, "approve"))
            },
            Reason::ApproverError,
        ),
        // A yes made of a no.
        (
            |post| {
                let no = answer(post, &key(), START, "deny");
                reply(200, no.replace("deny", "approve"))
            },
            Reason::ApproverError,
        ),
        // Too old, and from the future.
        (
            |post| reply(200, answer(post, &key(), START - 10_001, "approve")),
            Reason::ApproverError,
        ),
        (
            |post| reply(200, answer(post, &key(), START + 300_001, "approve")),
            Reason::ApproverError,
        ),
        // Understood by nobody.
        (
            |post| reply(200, answer(post, &key(), START, "yes")),
            Reason::UnknownAnswer,
        ),
    ];
    for (number, (service, reason)) in cases.into_iter().enumerate() {
        let patience = match reason {
            Reason::ApproverTimeout => SHORT,
            _ => LONG,
        };
        let outcome = asked_for(patience, service).await;
        assert_eq!(outcome, Err(reason), "{number}");
    }
}

#[tokio::test]
async fn the_gates_own_signature_is_no_answer() {
    let outcome = asked(|post| {
        let mut sent: Value =
            serde_json::from_str(&answer(post, &key(), START, "approve")).unwrap();
        sent["signature"] = header(post, "horngate-signature").into();
        reply(200, sent.to_string())
    })
    .await;
    assert_eq!(outcome, Err(Reason::ApproverError));
}

/// A service that takes messages and answers none in its reply.
fn silent() -> (Fake, Receiver<Post>) {
    let (send, messages) = mpsc::channel();
    let send = Mutex::new(send);
    let fake = fake(move |post| {
        send.lock().unwrap().send(post.clone()).unwrap();
        reply(202, "")
    });
    (fake, messages)
}

async fn next(messages: &Receiver<Post>) -> Post {
    loop {
        if let Ok(post) = messages.try_recv() {
            return post;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn posted(answers: &WebhookAnswers, body: &str) -> Result<(), AnswerRefused> {
    answers.receive(body.as_bytes())
}

#[tokio::test]
async fn an_answer_that_is_posted_back_counts_once() {
    let bench = Bench::new();
    let (service, messages) = silent();
    let webhook = Webhook::answered_by("ann", key(), service).clock(bench.clock.clone());
    let answers = webhook.answers();
    let gate = gate(&bench, webhook, LONG);
    let start = |gate: &Gate| {
        let gate = gate.clone();
        tokio::spawn(async move {
            let qa = gate.invocation("U:Qa", "s");
            call(&gate, &qa, "deploy", "{}").await.map(|_| ())
        })
    };
    let waiting = start(&gate);
    let post = next(&messages).await;
    // What is wrong changes nothing: the request waits on.
    let wrong = answer(&post, &WebhookKey::new(&[8; 32]).unwrap(), START, "approve");
    assert_eq!(posted(&answers, &wrong), Err(AnswerRefused::NotSigned));
    assert_eq!(posted(&answers, "{}"), Err(AnswerRefused::Unreadable));
    let old = answer(&post, &key(), START - 20_000, "approve");
    assert_eq!(posted(&answers, &old), Err(AnswerRefused::NotNow));
    let good = answer(&post, &key(), START, "approve");
    assert_eq!(posted(&answers, &good), Ok(()));
    waiting.await.unwrap().unwrap();
    assert_eq!(bench.runs.count(), 1);
    // Again, for the same and for the next request of the same call.
    assert_eq!(posted(&answers, &good), Err(AnswerRefused::NotWaiting));
    let waiting = start(&gate);
    let again = next(&messages).await;
    assert_ne!(header(&again, "horngate-id"), header(&post, "horngate-id"));
    assert_eq!(posted(&answers, &good), Err(AnswerRefused::NotWaiting));
    assert_eq!(
        posted(&answers, &answer(&again, &key(), START, "deny")),
        Ok(())
    );
    assert_eq!(waiting.await.unwrap().unwrap_err().reason, Reason::Declined);
    assert_eq!(bench.runs.count(), 1);
}

#[tokio::test]
async fn an_answer_to_a_call_that_was_given_up_or_to_another_process_is_none() {
    let bench = Bench::new();
    let (service, messages) = silent();
    let webhook = Webhook::answered_by("ann", key(), service).clock(bench.clock.clone());
    let answers = webhook.answers();
    let gate = gate(&bench, webhook, SHORT);
    let qa = gate.invocation("U:Qa", "s");
    assert_eq!(
        refused(&gate, &qa, "deploy", "{}").await,
        Reason::ApproverTimeout
    );
    let good = answer(&next(&messages).await, &key(), START, "approve");
    assert_eq!(posted(&answers, &good), Err(AnswerRefused::NotWaiting));
    let (service, _messages) = silent();
    let restarted = Webhook::answered_by("ann", key(), service).clock(bench.clock.clone());
    assert_eq!(
        posted(&restarted.answers(), &good),
        Err(AnswerRefused::NotWaiting)
    );
    assert_eq!(bench.runs.count(), 0);
}

#[tokio::test]
async fn an_announced_request_is_answered_through_the_store_by_a_persons_key() {
    let (bench, store) = (Bench::new(), Arc::new(MemoryStore::new()));
    let (service, messages) = silent();
    let ann = Signatory::generate("ann").unwrap();
    let webhook = Webhook::announcing(key(), service)
        .clock(bench.clock.clone())
        .waiting(LONG);
    let answers = webhook.answers();
    let limits = Limits {
        approver: LONG,
        ..Limits::default()
    };
    let gate = bench
        .builder(RULES)
        .limits(limits)
        .approver(webhook)
        .approver_key("ann", ann.key())
        .store(store.clone())
        .build()
        .unwrap();
    let waiting = {
        let gate = gate.clone();
        tokio::spawn(async move {
            let qa = gate.invocation("U:Qa", "s");
            call(&gate, &qa, "deploy", "{}").await.map(|_| ())
        })
    };
    let post = next(&messages).await;
    // The service itself answers for nobody.
    let from_service = answer(&post, &key(), START, "approve");
    assert_eq!(
        posted(&answers, &from_service),
        Err(AnswerRefused::NotWaiting)
    );
    let id = header(&post, "horngate-id");
    let request = store.get(&id).unwrap().unwrap().request;
    assert_eq!(
        request.binding().to_string(),
        header(&post, "horngate-binding")
    );
    let verdict = ann.answer(&request, true, bench.clock.now()).unwrap();
    gate.submit(&verdict).unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(store.get(&id).unwrap().unwrap().state, State::Consumed);
}

#[tokio::test]
async fn another_key_or_target_is_another_policy() {
    let bench = Bench::new();
    let hash = |key: WebhookKey, address: &str| {
        let transport = HttpTransport::new(address).unwrap();
        let gate = bench.builder(RULES);
        let webhook = Webhook::answered_by("ann", key, transport);
        gate.approver(webhook).build().unwrap().policy_hash()
    };
    let (a, b) = ("https://a.example/", "https://b.example/");
    assert_eq!(hash(key(), a), hash(key(), a));
    assert_ne!(hash(key(), a), hash(key(), b));
    assert_ne!(hash(key(), a), hash(WebhookKey::new(&[8; 32]).unwrap(), a));
}

/// Services are written in other languages: these values were computed by another implementation of HMAC.
#[test]
fn signatures_are_what_the_documentation_says() {
    let sent: Value =
        serde_json::from_str(&key().answer("id", "binding", START, "approve")).unwrap();
    assert_eq!(
        sent,
        serde_json::json!({
            "id": "id",
            "binding": "binding",
            "timestamp": START,
            "answer": "approve",
            "signature": "13826bcb743210dd6751220f7145e5fbe372711c815a0919c568f65ffd9d08b4",
        })
    );
    let post = Post {
        headers: vec![
            ("horngate-id", "id".to_owned()),
            ("horngate-binding", "binding".to_owned()),
            ("horngate-timestamp", START.to_string()),
            (
                "horngate-signature",
                "a63a84f3a920496b4b7b9d1942410f37c8845acef6338ada19d90c0ab3cac74d".to_owned(),
            ),
        ],
        body: r#"{"a":1}"#.to_owned(),
    };
    assert!(key().is_from_gate(&post));
}

#[test]
fn keys_are_long_private_and_not_shown() {
    assert!(WebhookKey::new(&[7; 31]).is_err());
    assert!(!format!("{:?}", key()).contains('7'));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("webhook.key");
    std::fs::write(&path, "07".repeat(32)).unwrap();
    let private = |mode| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    private(0o644);
    assert!(WebhookKey::load(&path).is_err());
    private(0o600);
    let loaded = WebhookKey::load(&path).unwrap();
    assert_eq!(
        loaded.answer("a", "b", 1, "deny"),
        key().answer("a", "b", 1, "deny")
    );
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(WebhookKey::load(&link).is_err());
}

#[test]
fn addresses_in_the_clear_to_others_and_with_passwords_are_refused() {
    for address in [
        "http://approvals.example/",
        "http://10.0.0.1/",
        "http://localhost.example/",
        "http://127.0.0.1.example/",
        "ftp://localhost/",
        "https://ann:secret@approvals.example/",
        "https:///ask",
        "/ask",
        "",
    ] {
        assert!(HttpTransport::new(address).is_err(), "{address}");
    }
    for address in [
        "https://approvals.example/ask?team=1",
        "http://localhost:1/",
        "http://127.0.0.1:1/",
        "http://[::1]:1/",
    ] {
        assert!(HttpTransport::new(address).is_ok(), "{address}");
    }
}

/// A message as it came over a connection.
fn read_message(stream: &mut TcpStream) -> Post {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    assert!(first.starts_with("POST /ask HTTP/1.1"), "{first}");
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        let name = name.to_ascii_lowercase();
        if name == "content-length" {
            length = value.parse().unwrap();
        }
        for known in [
            "horngate-id",
            "horngate-binding",
            "horngate-timestamp",
            "horngate-signature",
        ] {
            if known == name {
                headers.push((known, value.to_owned()));
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Post {
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}

/// A server on this machine that does something with one message; the address to ask it at.
fn server(serve: impl FnOnce(&Post, &mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/ask", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let post = read_message(&mut stream);
        serve(&post, &mut stream);
    });
    address
}

fn respond(stream: &mut TcpStream, status: &str, body: &str) {
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
}

async fn over_http(address: &str, limit: Duration) -> (Result<(), Reason>, String) {
    let bench = Bench::new();
    let transport = HttpTransport::within(address, limit).unwrap();
    let webhook = Webhook::answered_by("ann", key(), transport).clock(bench.clock.clone());
    let gate = gate(&bench, webhook, LONG);
    let qa = gate.invocation("U:Qa", "s");
    let outcome = call(&gate, &qa, "deploy", r#"{"path":"/ü"}"#).await;
    assert_eq!(bench.runs.count(), usize::from(outcome.is_ok()));
    match outcome {
        Ok(_) => (Ok(()), String::new()),
        Err(refusal) => (Err(refusal.reason), refusal.detail().to_owned()),
    }
}

#[tokio::test]
async fn a_server_that_signs_its_yes_lets_the_call_run() {
    let address = server(|post, stream| {
        assert!(key().is_from_gate(post));
        respond(stream, "200 OK", &answer(post, &key(), START, "approve"));
    });
    assert_eq!(over_http(&address, LONG).await.0, Ok(()));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    other.set_nonblocking(true).unwrap();
    let elsewhere = format!("http://{}/ask", other.local_addr().unwrap());
    for status in [
        "301 Moved",
        "302 Found",
        "303 See",
        "307 Temporary",
        "308 Permanent",
    ] {
        let elsewhere = elsewhere.clone();
        let address = server(move |_, stream| {
            let text = format!(
                "HTTP/1.1 {status}\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            stream.write_all(text.as_bytes()).unwrap();
        });
        let (outcome, detail) = over_http(&address, LONG).await;
        assert_eq!(outcome, Err(Reason::ApproverError));
        assert!(detail.contains("status 30"), "{detail}");
    }
    assert!(other.accept().is_err(), "nobody went there");
}

#[tokio::test]
async fn long_slow_broken_and_missing_servers_deny_in_time() {
    let started = std::time::Instant::now();
    let endless = server(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        while stream.write_all(&[b' '; 4096]).is_ok() {}
    });
    let silent = server(|_, stream| {
        let _ = stream.read(&mut [0]);
    });
    let dripping = server(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let broken = server(|_, stream| {
        let _ = stream.write_all(b"approve\r\n\r\n");
    });
    let unsigned = server(|_, stream| respond(stream, "200 OK", r#"{"answer":"approve"}"#));
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/ask", listener.local_addr().unwrap())
    };
    for address in [endless, silent, dripping, broken, unsigned, gone] {
        let (outcome, detail) = over_http(&address, SHORT).await;
        assert_eq!(outcome, Err(Reason::ApproverError), "{detail}");
    }
    assert!(started.elapsed() < LONG);
}
