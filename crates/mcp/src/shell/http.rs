//! A server that is far away, over streamable HTTP: lines are posted, and what comes back are lines again.
//!
//! Nothing here follows a redirect, sends a token over an open connection or decides about a message. An answer that does
//! not come becomes an error, so that nobody waits for it.

use super::lines::Line;
use super::settings::ProxyError;
use crate::MAX_FRAME_BYTES;
use crate::frame::{Frame, INTERNAL_ERROR, Id, Outcome, error};
use crate::json::{Json, Object};
use crate::methods::{Meta, Passing};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;
use ureq::Agent;
use ureq::http::Uri;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long to wait before the stream of notifications is opened again.
const REOPEN_AFTER: Duration = Duration::from_secs(1);
/// How long a server may take for what only has to be taken, and for the beginning of a session.
const TAKEN_LIMIT: Duration = Duration::from_secs(30);
const BEGIN_LIMIT: Duration = Duration::from_secs(120);
/// How many requests may be on their way, those that nobody waits for any more among them.
const MAX_EXCHANGES: usize = 512;
/// How often to look whether there is room for one more.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How many bytes of unfinished answers may be held, all in all.
const MAX_HELD_BYTES: usize = 4 * MAX_FRAME_BYTES;
const SESSION: &str = "mcp-session-id";

/// Where a server is, and what opens it.
///
/// ```
/// use horngate_mcp::Remote;
/// assert!(Remote::new("https://example.org/mcp", Some("token".to_owned())).is_ok());
/// assert!(Remote::new("http://example.org/mcp", None).is_err());
/// ```
#[derive(Clone)]
pub struct Remote {
    url: String,
    token: Option<String>,
}

impl Remote {
    /// A server at a URL: over TLS, or on this machine. `token` is sent as a bearer token.
    ///
    /// # Errors
    /// [`ProxyError::Setting`] when the URL is none of that.
    pub fn new(url: &str, token: Option<String>) -> Result<Self, ProxyError> {
        let refuse = |why: &str| Err(ProxyError::Setting(format!("`{url}` {why}")));
        let Ok(uri) = url.parse::<Uri>() else {
            return refuse("is no URL");
        };
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return refuse("is no whole URL, as in `https://example.org/mcp`");
        };
        if authority.as_str().contains('@') {
            return Err(ProxyError::Setting(
                "a URL has no user or password; use a token".to_owned(),
            ));
        }
        let host = authority.host().trim_matches(['[', ']']);
        let here = host == "localhost"
            || host
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        match scheme {
            "https" => {}
            "http" if here => {}
            "http" => return refuse("is open to all between here and there; use https"),
            _ => return refuse("is neither https nor http"),
        }
        let readable = |token: &String| token.bytes().all(|byte| byte.is_ascii_graphic());
        if !token.as_ref().is_none_or(readable) {
            let why = "a token has only visible ASCII characters".to_owned();
            return Err(ProxyError::Setting(why));
        }
        Ok(Self {
            url: url.to_owned(),
            token,
        })
    }

    /// The URL without what may be secret.
    pub(super) fn name(&self) -> String {
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        self.url.get(..end).unwrap_or_default().to_owned()
    }

    /// Connects: what is written are lines for the server, what is received are lines of it.
    pub(super) fn open(&self) -> (Poster, mpsc::Receiver<Line>) {
        let (lines, receiver) = mpsc::channel(16);
        let mut agent = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_LIMIT));
        if !self.url.starts_with("https:") {
            // What is in the clear stays on this machine, whatever the environment says of proxies.
            agent = agent.proxy(None);
        }
        let agent = agent.build();
        let link = Arc::new(Link {
            remote: self.clone(),
            agent: agent.into(),
            lines,
            session: Mutex::new(None),
            version: Mutex::new(None),
            over: AtomicBool::new(false),
            listening: AtomicBool::new(false),
            exchanges: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
        });
        let rest = Vec::new();
        (Poster { link, rest }, receiver)
    }
}

impl std::fmt::Debug for Remote {
    /// The token is not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Remote").field(&self.name()).finish()
    }
}

struct Link {
    remote: Remote,
    agent: Agent,
    lines: mpsc::Sender<Line>,
    /// What the server calls the session.
    session: Mutex<Option<String>>,
    /// The revision that a session has agreed on.
    version: Mutex<Option<String>>,
    over: AtomicBool,
    /// There is a stream of what the server says by itself.
    listening: AtomicBool,
    exchanges: AtomicUsize,
    /// Bytes of answers that are not whole yet.
    held: AtomicUsize,
}

/// Posts each line that is written to it.
pub(super) struct Poster {
    link: Arc<Link>,
    rest: Vec<u8>,
}

impl Write for Poster {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        if let Some(line) = self.rest.strip_suffix(b"\n") {
            let line = line.to_vec();
            self.rest.clear();
            Link::post(&self.link, line)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Poster {
    fn drop(&mut self) {
        self.link.over.store(true, Ordering::SeqCst);
        let Some(session) = locked(&self.link.session).take() else {
            return;
        };
        let mut request = self.link.agent.delete(&self.link.remote.url);
        if let Some(token) = &self.link.remote.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.header(SESSION, session);
        let limited = request
            .config()
            .timeout_global(Some(Duration::from_secs(1)))
            .build();
        // The server forgets the session sooner or later by itself.
        let _ = limited.call();
    }
}

fn locked<T>(slot: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Posts a line. Requests are waited for in threads of their own; all else is in order.
    fn post(link: &Arc<Self>, line: Vec<u8>) -> io::Result<()> {
        let Ok(frame) = Frame::read(&line) else {
            return Ok(());
        };
        let id = match &frame {
            Frame::Request { id, .. } => Some(id.clone()),
            _ => None,
        };
        let is = |wanted: &str| match &frame {
            Frame::Request { method, .. } | Frame::Notification { method, .. } => method == wanted,
            Frame::Response { .. } => false,
        };
        let (first, begun) = (is("initialize"), is("notifications/initialized"));
        let work = {
            let link = Arc::clone(link);
            move || link.exchange(&frame, &line)
        };
        if id.is_some() && !first {
            // What waits here is counted as not taken by the server.
            while link.exchanges.load(Ordering::SeqCst) >= MAX_EXCHANGES {
                if link.lines.is_closed() {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                thread::sleep(LOOK_EVERY);
            }
            link.exchanges.fetch_add(1, Ordering::SeqCst);
            let link = Arc::clone(link);
            thread::Builder::new()
                .name("horngate-post".to_owned())
                .spawn(move || {
                    work();
                    link.exchanges.fetch_sub(1, Ordering::SeqCst);
                })?;
            return Ok(());
        }
        work();
        if begun && !link.listening.swap(true, Ordering::SeqCst) {
            let link = Arc::clone(link);
            thread::Builder::new()
                .name("horngate-get".to_owned())
                .spawn(move || link.listen())?;
        }
        Ok(())
    }

    fn exchange(&self, frame: &Frame, line: &[u8]) {
        let (id, is_first) = match frame {
            Frame::Request { id, method, .. } => (Some(id), method == "initialize"),
            _ => (None, false),
        };
        let answered = self.answered(frame, line, id, is_first);
        if let (Err(why), Some(id)) = (answered, id) {
            let outcome = Outcome::Error(error(INTERNAL_ERROR, &why));
            let id = id.clone();
            let line = Frame::Response { id, outcome }.to_string();
            let _ = self.lines.blocking_send(Line::Text(line.into_bytes()));
        }
    }

    /// Posts and passes on what comes back, which must have the answer in it if there is somebody to answer.
    fn answered(
        &self,
        frame: &Frame,
        line: &[u8],
        id: Option<&Id>,
        is_first: bool,
    ) -> Result<(), String> {
        let mut request = self
            .agent
            .post(&self.remote.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        for (name, value) in self.headers(frame) {
            request = request.header(name, value);
        }
        let limit = match (id, is_first) {
            (None, _) => Some(TAKEN_LIMIT),
            (_, true) => Some(BEGIN_LIMIT),
            // A tool may take as long as it takes: who waits can withdraw the call.
            _ => None,
        };
        let response = request
            .config()
            .timeout_global(limit)
            .build()
            .send(line)
            .map_err(|error| format!("the server cannot be reached: {error}"))?;
        let status = response.status().as_u16();
        if is_first && let Some(session) = response.headers().get(SESSION) {
            let session = session.to_str().map_err(|error| error.to_string())?;
            *locked(&self.session) = Some(session.to_owned());
        }
        let kind = response.headers().get("content-type");
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let (is_json, is_stream) = (kind == "application/json", kind == "text/event-stream");
        let body = response.into_body().into_reader();
        let refused = || format!("the server has answered with the HTTP status {status}");
        let Some(id) = id else {
            return if status < 300 { Ok(()) } else { Err(refused()) };
        };
        let mut answered = false;
        let mut pass = |bytes: Vec<u8>| {
            if let Ok(Frame::Response { id: other, outcome }) = Frame::read(&bytes)
                && other == *id
            {
                answered = true;
                if is_first && let Outcome::Result(result) = &outcome {
                    self.agreed(result);
                }
            }
            let sent = self.lines.blocking_send(Line::Text(bytes)).is_ok();
            // The rest waits for the first answer, so nobody waits for the end of its stream.
            sent && !(answered && is_first)
        };
        if is_stream && status < 300 {
            events(BufReader::new(body), &self.held, pass)?;
        } else if is_json {
            let bytes = whole(body, &self.held)?;
            // An error without a body of its own stays an error of HTTP.
            if status < 300 || Frame::read(&bytes).is_ok() {
                pass(bytes);
            }
        }
        match answered {
            true => Ok(()),
            false if status < 300 => Err("the server has not answered".to_owned()),
            false => Err(refused()),
        }
    }

    fn agreed(&self, result: &Object) {
        if let Some(version) = result.get("protocolVersion").and_then(Json::as_str) {
            *locked(&self.version) = Some(version.to_owned());
        }
    }

    /// What the transport wants to be said beside the message.
    fn headers(&self, frame: &Frame) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(token) = &self.remote.token {
            headers.push(("authorization", format!("Bearer {token}")));
        }
        let (method, params) = match frame {
            Frame::Request { method, params, .. } | Frame::Notification { method, params } => {
                (Some(method), params.clone())
            }
            Frame::Response { .. } => (None, Json::object()),
        };
        let mut rest = params.clone();
        let meta = Meta::take(&mut rest, Passing::default());
        let modern = meta
            .0
            .as_ref()
            .and_then(|meta| meta.get(crate::methods::VERSION));
        if let (Some(version), Some(method)) = (modern.and_then(Json::as_str), method) {
            headers.push(("mcp-protocol-version", header_value(version)));
            headers.push(("mcp-method", header_value(method)));
            let name = ["name", "uri"]
                .into_iter()
                .find_map(|key| params.get(key)?.as_str());
            if let Some(name) = name {
                headers.push(("mcp-name", header_value(name)));
            }
            return headers;
        }
        if let Some(session) = &*locked(&self.session) {
            headers.push((SESSION, session.clone()));
        }
        if let Some(version) = &*locked(&self.version) {
            headers.push(("mcp-protocol-version", header_value(version)));
        }
        headers
    }

    /// Hears what the server says by itself, in a session.
    fn listen(&self) {
        while !self.over.load(Ordering::SeqCst) {
            let mut request = self
                .agent
                .get(&self.remote.url)
                .header("accept", "text/event-stream");
            let nothing = Frame::Notification {
                method: String::new(),
                params: Json::object(),
            };
            for (name, value) in self.headers(&nothing) {
                request = request.header(name, value);
            }
            match request.call() {
                Ok(response) if response.status().as_u16() < 300 => {
                    let body = response.into_body().into_reader();
                    let pass = |bytes| self.lines.blocking_send(Line::Text(bytes)).is_ok();
                    let _ = events(BufReader::new(body), &self.held, pass);
                }
                // It has no such stream.
                Ok(_) => return,
                Err(_) => {}
            }
            thread::sleep(REOPEN_AFTER);
        }
    }
}

/// Bytes that are held of an answer that is not whole yet, counted with those of all others.
struct Held<'a> {
    all: &'a AtomicUsize,
    bytes: Vec<u8>,
}

impl<'a> Held<'a> {
    fn new(all: &'a AtomicUsize) -> Self {
        let bytes = Vec::new();
        Self { all, bytes }
    }

    fn extend(&mut self, more: &[u8]) -> Result<(), String> {
        let others = self.all.fetch_add(more.len(), Ordering::SeqCst);
        self.bytes.extend_from_slice(more);
        if self.bytes.len() > MAX_FRAME_BYTES {
            return Err(format!("the answer is longer than {MAX_FRAME_BYTES} bytes"));
        }
        match others.saturating_add(more.len()) > MAX_HELD_BYTES {
            true => Err("too many long answers at once".to_owned()),
            false => Ok(()),
        }
    }

    fn take(&mut self) -> Vec<u8> {
        self.all.fetch_sub(self.bytes.len(), Ordering::SeqCst);
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.take();
    }
}

/// The whole body, if it is no longer than a message may be.
fn whole(body: impl Read, held: &AtomicUsize) -> Result<Vec<u8>, String> {
    let mut body = BufReader::new(body);
    let mut bytes = Held::new(held);
    loop {
        let more = body.fill_buf().map_err(|error| error.to_string())?;
        let read = more.len();
        if read == 0 {
            return Ok(bytes.take());
        }
        bytes.extend(more)?;
        body.consume(read);
    }
}

/// Adds the next line, with its end, to `line`. Nothing is added at the end of the body.
fn next_line(body: &mut impl BufRead, line: &mut Held<'_>) -> Result<(), String> {
    loop {
        let more = body.fill_buf().map_err(|error| error.to_string())?;
        let end = more.iter().position(|byte| *byte == b'\n');
        let read = end.map_or(more.len(), |end| end + 1);
        line.extend(more.get(..read).unwrap_or_default())?;
        body.consume(read);
        if read == 0 || end.is_some() {
            return Ok(());
        }
    }
}

/// The data of each event of a stream, until it ends or `pass` is false.
fn events(
    mut body: impl BufRead,
    held: &AtomicUsize,
    mut pass: impl FnMut(Vec<u8>) -> bool,
) -> Result<(), String> {
    let (mut line, mut data) = (Held::new(held), Held::new(held));
    loop {
        line.take();
        next_line(&mut body, &mut line)?;
        if line.bytes.is_empty() {
            return Ok(());
        }
        let text = line.bytes.strip_suffix(b"\n").unwrap_or(&line.bytes);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() {
            let event = data.take();
            if !event.trim_ascii().is_empty() && !pass(event) {
                return Ok(());
            }
        } else if let Some(more) = text.strip_prefix(b"data:") {
            if !data.bytes.is_empty() {
                data.extend(b"\n")?;
            }
            data.extend(more.strip_prefix(b" ").unwrap_or(more))?;
        }
    }
}

/// A value of a header; what cannot stand there is written in base64, as the transport says.
fn header_value(text: &str) -> String {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if plain && text.trim() == text && !text.starts_with("=?") {
        return text.to_owned();
    }
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = "=?base64?".to_owned();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4_usize {
            let digit = (bits >> (18 - 6 * at)) & 63;
            let digit = usize::try_from(digit)
                .ok()
                .and_then(|digit| DIGITS.get(digit));
            encoded.push(match digit {
                Some(digit) if at <= chunk.len() => char::from(*digit),
                _ => '=',
            });
        }
    }
    encoded.push_str("?=");
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_over_closed_connections_only() {
        for url in [
            "https://example.org/mcp",
            "http://127.0.0.1:8000/mcp",
            "http://localhost/mcp?key=s3cret",
            "http://[::1]:1/",
        ] {
            let remote = Remote::new(url, Some("t".to_owned())).unwrap();
            assert!(!format!("{remote:?}").contains("s3cret"));
        }
        for url in [
            "http://example.org/mcp",
            "http://127.0.0.1.example.org/",
            "http://localhost.example.org/",
            "https://user:pw@example.org/",
            "ftp://127.0.0.1/",
            "example.org/mcp",
            "",
        ] {
            assert!(Remote::new(url, None).is_err(), "{url}");
        }
        assert!(Remote::new("https://example.org/", Some("a\r\nb".to_owned())).is_err());
    }

    #[test]
    fn events_are_lines() {
        let text = b": hi\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: x\ndata:\n\ndata:{}\n\ndata: cut";
        let mut heard = Vec::new();
        let held = AtomicUsize::new(0);
        events(&text[..], &held, |data| {
            heard.push(String::from_utf8(data).unwrap());
            true
        })
        .unwrap();
        assert_eq!(heard, ["{\"a\":\n1}", "{}"]);
        let long = [b"data: ".to_vec(), vec![b'x'; MAX_FRAME_BYTES + 1]].concat();
        assert!(events(&*long, &held, |_| true).is_err());
        // Nor are many short ones one long one, nor what is no data.
        let many = b"data: 0123456789\n".repeat(MAX_FRAME_BYTES / 10);
        assert!(events(&*many, &held, |_| true).is_err());
        let comment = [b": ".to_vec(), vec![b'x'; MAX_FRAME_BYTES + 1]].concat();
        assert!(events(&*comment, &held, |_| true).is_err());
        assert!(whole(&*comment, &held).is_err());
        assert_eq!(held.load(Ordering::SeqCst), 0);
        assert_eq!(whole(&b"{}"[..], &held), Ok(b"{}".to_vec()));
        // What all hold together has a bound, too.
        held.store(MAX_HELD_BYTES, Ordering::SeqCst);
        assert!(whole(&b"{}"[..], &held).is_err());
        assert_eq!(held.load(Ordering::SeqCst), MAX_HELD_BYTES);
    }

    #[test]
    fn what_cannot_be_a_header_is_base64() {
        assert_eq!(header_value("git_log"), "git_log");
        assert_eq!(header_value("é"), "=?base64?w6k=?=");
        assert_eq!(header_value("a\r\n"), "=?base64?YQ0K?=");
        assert_eq!(header_value(" a"), "=?base64?IGE=?=");
    }
}
