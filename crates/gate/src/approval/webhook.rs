//! Asks a service: a signed POST, and a signed answer.
//!
//! Nothing here speaks HTTP, and nothing that is not signed for exactly this request, in time and for the first time, is
//! an answer.

use super::approver::{Answer, Approver, ApproverError};
use super::request::Request;
use crate::clock::{Clock, Millis, SystemClock};
use crate::digest::{Digest, hex, unhex};
use crate::secret::read_secret;
use crate::tool::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde_json::json;
use sha2::Sha256;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// How old an answer may be, and how far the clocks may be apart.
const WINDOW: Millis = 300_000;
const SLACK: Millis = 10_000;
/// The longest answer, in bytes.
pub(super) const MAX_REPLY: usize = 16 << 10;
/// The shortest key, in bytes.
const MIN_KEY: usize = 32;

/// One message to a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Names and values, without those that say what the body is.
    pub headers: Vec<(&'static str, String)>,
    /// JSON.
    pub body: String,
}

/// What a service says to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body, read up to a limit.
    pub body: Vec<u8>,
}

/// Carries messages to one service.
///
/// It follows no redirect, waits for a limited time, reads a limited body, and sends each message once. With the cargo
/// feature `http` there is one, `HttpTransport`.
pub trait Transport: Send + Sync + 'static {
    /// Where the messages go: a part of the gate's settings, and never shown.
    fn target(&self) -> String;

    /// Sends one message. It may block: it is called on a thread for that.
    ///
    /// # Errors
    /// [`ApproverError`] when there is no reply; the call is denied.
    fn post(&self, post: &Post) -> Result<Reply, ApproverError>;
}

/// The secret that a gate shares with a service.
///
/// ```
/// use horngate_gate::WebhookKey;
/// let key = WebhookKey::new(&[7; 32])?;
/// assert!(WebhookKey::new(b"short").is_err());
/// # Ok::<(), horngate_gate::ApproverError>(())
/// ```
#[derive(Clone)]
pub struct WebhookKey {
    mac: Hmac<Sha256>,
    /// Tells keys apart, and does not give them away.
    name: String,
}

impl WebhookKey {
    /// The key with these bytes.
    ///
    /// # Errors
    /// [`ApproverError`] when there are fewer than 32.
    pub fn new(secret: &[u8]) -> Result<Self, ApproverError> {
        let short = || ApproverError::new(format!("a webhook's key has at least {MIN_KEY} bytes"));
        if secret.len() < MIN_KEY {
            return Err(short());
        }
        let mac = Hmac::new_from_slice(secret).map_err(|_| short())?;
        let mut named = mac.clone();
        named.update(b"horngate-webhook-key-name");
        Ok(Self {
            mac,
            name: hex(&named.finalize().into_bytes()),
        })
    }

    /// The key that is written in hexadecimal in a file. A file that others may read is refused, and so is a link.
    ///
    /// # Errors
    /// When the file cannot be read, is a link or readable by others, or holds no key.
    pub fn load(path: impl AsRef<Path>) -> io::Result<Self> {
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let text = String::from_utf8(read_secret(path)?).unwrap_or_default();
        let bytes = unhex(text.trim()).ok_or_else(|| bad("a key is hexadecimal digits"))?;
        Self::new(&bytes).map_err(|error| bad(&error.to_string()))
    }

    fn mac(&self, tag: &str, parts: [&str; 4]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        mac.update(tag.as_bytes());
        for part in parts {
            mac.update(b"\n");
            mac.update(part.as_bytes());
        }
        mac
    }

    fn seal(&self, at: &str, id: &str, binding: &str, body: &str) -> Hmac<Sha256> {
        let body = Digest::of(body).to_string();
        self.mac("horngate-webhook-1", [at, id, binding, &body])
    }

    fn answer_seal(&self, at: &str, id: &str, binding: &str, answer: &str) -> Hmac<Sha256> {
        self.mac("horngate-answer-1", [at, id, binding, answer])
    }

    /// Whether a message came from the gate as it is: for services that are written in Rust.
    #[must_use]
    pub fn is_from_gate(&self, post: &Post) -> bool {
        let header = |name: &str| {
            let found = post.headers.iter().find(|(header, _)| *header == name);
            found.map_or("", |(_, value)| value.as_str())
        };
        let seal = self.seal(
            header("horngate-timestamp"),
            header("horngate-id"),
            header("horngate-binding"),
            &post.body,
        );
        unhex(header("horngate-signature")).is_some_and(|bytes| seal.verify_slice(&bytes).is_ok())
    }

    /// The text of a signed answer, `approve` or `deny`: for services that are written in Rust.
    #[must_use]
    pub fn answer(&self, id: &str, binding: &str, at: Millis, answer: &str) -> String {
        let seal = self.answer_seal(&at.to_string(), id, binding, answer);
        json!({
            "id": id,
            "binding": binding,
            "timestamp": at,
            "answer": answer,
            "signature": hex(&seal.finalize().into_bytes()),
        })
        .to_string()
    }
}

impl fmt::Debug for WebhookKey {
    /// The secret is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookKey").finish_non_exhaustive()
    }
}

/// An answer as it is sent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    id: String,
    binding: String,
    timestamp: Millis,
    answer: String,
    signature: String,
}

/// An answer that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerRefused {
    /// The text is no answer.
    #[error("the text is no answer")]
    Unreadable,
    /// Nothing waits for it: it was answered before, or nobody asked, or the asking process is gone.
    #[error("no request of that id and binding waits for an answer")]
    NotWaiting,
    /// It is too old, or from before the request, or from the future.
    #[error("the answer is not from now")]
    NotNow,
    /// It is not signed with the key that the gate shares with the service.
    #[error("the answer is not signed for this request")]
    NotSigned,
}

/// A request that waits.
struct Waiting {
    binding: String,
    requested_at: Millis,
    answer: oneshot::Sender<Answer>,
}

struct Desk {
    key: WebhookKey,
    clock: Arc<dyn Clock>,
    waiting: Mutex<BTreeMap<String, Waiting>>,
}

impl Desk {
    fn waiting(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn receive(&self, body: &[u8]) -> Result<(), AnswerRefused> {
        if body.len() > MAX_REPLY {
            return Err(AnswerRefused::Unreadable);
        }
        let sent: Sent = serde_json::from_slice(body).map_err(|_| AnswerRefused::Unreadable)?;
        let now = self.clock.now();
        let mut all = self.waiting();
        let waiting = all
            .get(&sent.id)
            .filter(|waiting| waiting.binding == sent.binding)
            .ok_or(AnswerRefused::NotWaiting)?;
        let at = sent.timestamp.to_string();
        let seal = self
            .key
            .answer_seal(&at, &sent.id, &sent.binding, &sent.answer);
        let signature = unhex(&sent.signature).unwrap_or_default();
        seal.verify_slice(&signature)
            .map_err(|_| AnswerRefused::NotSigned)?;
        let before = sent.timestamp.saturating_add(SLACK) < waiting.requested_at;
        if before || now.abs_diff(sent.timestamp) > WINDOW {
            return Err(AnswerRefused::NotNow);
        }
        // What is taken out can be answered by nobody else.
        let waiting = all.remove(&sent.id).ok_or(AnswerRefused::NotWaiting)?;
        waiting
            .answer
            .send(Answer::from_text(&sent.answer))
            .map_err(|_| AnswerRefused::NotWaiting)
    }
}

/// Takes the answers that a service posts back; a host hands them over from its own server.
#[derive(Clone)]
pub struct WebhookAnswers(Arc<Desk>);

impl WebhookAnswers {
    /// The body of a POST that brings an answer.
    ///
    /// # Errors
    /// [`AnswerRefused`] when it is none; the request waits on.
    pub fn receive(&self, body: &[u8]) -> Result<(), AnswerRefused> {
        self.0.receive(body)
    }
}

impl fmt::Debug for WebhookAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookAnswers").finish_non_exhaustive()
    }
}

/// Asks a service with a POST.
///
/// The body is JSON: `id`, `binding`, `text` (all that a person should read, with nothing hidden) and `request` with its
/// parts. The headers are `horngate-id`, `horngate-binding`, `horngate-timestamp` (milliseconds) and `horngate-signature`:
/// HMAC-SHA-256 in hexadecimal over the lines `horngate-webhook-1`, timestamp, id, binding and the SHA-256 of the body in
/// hexadecimal, joined by newlines.
///
/// An answer is a JSON object: `id`, `binding`, `timestamp`, `answer` (`approve` or `deny`) and `signature`, the HMAC over
/// the lines `horngate-answer-1`, timestamp, id, binding and answer. It comes in the reply, or is posted back later and
/// handed to [`WebhookAnswers::receive`]. It counts once, for the request that waits, within five minutes. Everything
/// else denies.
///
/// ```
/// use horngate_gate::{ApproverError, Post, Reply, Transport, Webhook, WebhookKey};
///
/// struct Service;
///
/// impl Transport for Service {
///     fn target(&self) -> String {
///         "https://approvals.example".to_owned()
///     }
///
///     fn post(&self, post: &Post) -> Result<Reply, ApproverError> {
///         // A real one sends it; this one takes the message and does not answer yet.
///         let _ = post;
///         Ok(Reply { status: 202, body: Vec::new() })
///     }
/// }
///
/// let key = WebhookKey::new(&[7; 32])?;
/// // The service answers for one person.
/// let answering = Webhook::answered_by("ann", key.clone(), Service);
/// let answers = answering.answers();
/// assert!(answers.receive(b"approve").is_err());
/// // Or it only tells people, and each answers with a key of their own, through the store.
/// let announcing = Webhook::announcing(key, Service);
/// # Ok::<(), ApproverError>(())
/// ```
pub struct Webhook {
    person: String,
    patience: Duration,
    transport: Arc<dyn Transport>,
    desk: Arc<Desk>,
}

impl Webhook {
    /// A service that answers for one person.
    pub fn answered_by(
        person: impl Into<String>,
        key: WebhookKey,
        transport: impl Transport,
    ) -> Self {
        Self {
            person: person.into(),
            patience: Duration::ZERO,
            transport: Arc::new(transport),
            desk: Arc::new(Desk {
                key,
                clock: Arc::new(SystemClock),
                waiting: Mutex::default(),
            }),
        }
    }

    /// A service that only tells people of the request, which stays in the store until somebody answers it with a key.
    pub fn announcing(key: WebhookKey, transport: impl Transport) -> Self {
        Self::answered_by("", key, transport)
    }

    /// How long a call waits for an answer that comes through the store.
    #[must_use]
    pub fn waiting(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.desk = Arc::new(Desk {
            key: self.desk.key.clone(),
            clock,
            waiting: Mutex::default(),
        });
        self
    }

    /// Where answers go that are posted back. Ask for it after [`Webhook::clock`].
    #[must_use]
    pub fn answers(&self) -> WebhookAnswers {
        WebhookAnswers(Arc::clone(&self.desk))
    }

    fn message(&self, request: &Request, binding: &str) -> Post {
        let body = json!({
            "id": request.id,
            "binding": binding,
            "text": request.for_people(),
            "request": {
                "gate": request.gate,
                "chain": request.chain,
                "session": request.session,
                "invocation": request.invocation.0,
                "server": request.server,
                "tool": request.tool,
                "definition": request.definition,
                "arguments": request.arguments,
                "level": request.level.as_str(),
                "reason": request.reason,
                "derivation": request.derivation,
                "policy_hash": request.policy_hash,
                "epoch": request.epoch,
                "requested_at": request.requested_at,
                "expires_at": request.expires_at,
            },
        })
        .to_string();
        let at = self.desk.clock.now().to_string();
        let seal = self.desk.key.seal(&at, &request.id, binding, &body);
        Post {
            headers: vec![
                ("horngate-id", request.id.clone()),
                ("horngate-binding", binding.to_owned()),
                ("horngate-timestamp", at),
                ("horngate-signature", hex(&seal.finalize().into_bytes())),
            ],
            body,
        }
    }
}

/// Nobody waits any more when the call is given up.
struct Leaving<'d>(&'d Desk, &'d str);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.waiting().remove(self.1);
    }
}

impl Approver for Webhook {
    fn person(&self) -> &str {
        &self.person
    }

    fn provider(&self) -> &str {
        "webhook"
    }

    fn patience(&self) -> Duration {
        self.patience
    }

    fn settings(&self) -> String {
        format!("{:?} {}", self.transport.target(), self.desk.key.name)
    }

    fn ask<'a>(
        &'a self,
        request: &'a Arc<Request>,
    ) -> BoxFuture<'a, Result<Answer, ApproverError>> {
        Box::pin(async move {
            let binding = request.binding().to_string();
            let post = self.message(request, &binding);
            let (send, answer) = oneshot::channel();
            let answers = !self.person.is_empty();
            if answers {
                let waiting = Waiting {
                    binding,
                    requested_at: request.requested_at,
                    answer: send,
                };
                self.desk.waiting().insert(request.id.clone(), waiting);
            }
            let _leaving = Leaving(&self.desk, &request.id);
            let transport = Arc::clone(&self.transport);
            let posted = tokio::task::spawn_blocking(move || transport.post(&post)).await;
            let reply = match posted {
                Ok(reply) => reply?,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(_) => return Err(ApproverError::new("the webhook was stopped")),
                },
            };
            if !matches!(reply.status, 200..=204) {
                let what = format!("the webhook replied with status {}", reply.status);
                return Err(ApproverError::new(what));
            }
            if !answers {
                return Ok(Answer::Defer);
            }
            if !reply.body.is_empty() {
                self.desk
                    .receive(&reply.body)
                    .map_err(|refused| ApproverError::new(format!("the webhook: {refused}")))?;
            }
            answer
                .await
                .map_err(|_| ApproverError::new("the webhook was closed"))
        })
    }
}

impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook")
            .field("person", &self.person)
            .finish_non_exhaustive()
    }
}
