//! Frames: one JSON-RPC message each, as MCP has them.
//!
//! Nothing here is a batch, and nothing passes that is not exactly a request, a notification or a response.

use crate::json::{Json, Object};
use std::fmt;

/// The longest frame, in bytes.
pub const MAX_FRAME_BYTES: usize = 16 << 20;

/// How long an id may be.
const MAX_ID_BYTES: usize = 256;
/// The largest whole number that every reader understands alike.
const MAX_INTEGER: i64 = (1 << 53) - 1;

pub(crate) const PARSE_ERROR: i64 = -32700;
pub(crate) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL_ERROR: i64 = -32603;

/// An id of a request, or a token of its progress.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Id {
    Number(i64),
    String(String),
}

impl Id {
    /// Reads an id; `1.0`, `1e0` and `null` are none.
    pub(crate) fn read(value: &Json) -> Option<Self> {
        match value {
            Json::Number(digits) => {
                let number: i64 = digits.parse().ok()?;
                let plain = number.to_string() == **digits;
                (plain && number.abs() <= MAX_INTEGER).then_some(Self::Number(number))
            }
            Json::String(text) if text.len() <= MAX_ID_BYTES => Some(Self::String(text.clone())),
            _ => None,
        }
    }

    pub(crate) fn json(&self) -> Json {
        match self {
            Self::Number(number) => (*number).into(),
            Self::String(text) => text.as_str().into(),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json().fmt(f)
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame {
    Request {
        id: Id,
        method: String,
        params: Object,
    },
    Notification {
        method: String,
        params: Object,
    },
    Response {
        id: Id,
        outcome: Outcome,
    },
}

/// What a request came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Result(Object),
    Error(Object),
}

/// A frame that is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bad {
    /// Whom to answer, when that is beyond doubt.
    pub(crate) id: Option<Id>,
    /// The method, as far as it can be told.
    pub(crate) method: Option<String>,
    /// Whether it may have been a response rather than a request.
    pub(crate) response: bool,
    pub(crate) code: i64,
    pub(crate) why: String,
}

impl Frame {
    pub(crate) fn read(line: &[u8]) -> Result<Self, Bad> {
        let bad = |code, why: String| Bad {
            id: None,
            method: None,
            response: false,
            code,
            why,
        };
        let read = Json::read(line).map_err(|fault| bad(PARSE_ERROR, fault.to_string()))?;
        let envelope = match &read.value {
            Json::Object(envelope) => envelope,
            Json::Array(_) => {
                return Err(bad(
                    INVALID_REQUEST,
                    "batches are not accepted; send one message at a time".to_owned(),
                ));
            }
            _ => return Err(bad(INVALID_REQUEST, "a message is an object".to_owned())),
        };
        let bad = |why: String| Bad {
            id: envelope.only("id").and_then(Id::read),
            method: envelope
                .only("method")
                .and_then(Json::as_str)
                .map(str::to_owned),
            response: envelope.get("result").is_some() || envelope.get("error").is_some(),
            code: INVALID_REQUEST,
            why,
        };
        match read.fault {
            Some(fault) => Err(bad(brief(&horngate_gate::visible(&fault.to_string())))),
            None => Self::of(envelope).map_err(bad),
        }
    }

    fn of(envelope: &Object) -> Result<Self, String> {
        let brief = |key: &str| brief(&horngate_gate::visible(key));
        const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
        if let Some(key) = envelope.keys().find(|key| !KEYS.contains(key)) {
            return Err(format!("a message has no `{}`", brief(key)));
        }
        if envelope.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
            return Err("`jsonrpc` is not \"2.0\"".to_owned());
        }
        let id = match envelope.get("id") {
            None => None,
            Some(value) => Some(Id::read(value).ok_or("an id is a string or a whole number")?),
        };
        let member = |key| match envelope.get(key) {
            None => Ok(None),
            Some(Json::Object(object)) => Ok(Some(object.clone())),
            Some(_) => Err(format!("`{key}` is not an object")),
        };
        let (params, result, error) = (member("params")?, member("result")?, member("error")?);
        let method = match envelope.get("method") {
            None => None,
            Some(Json::String(method)) => Some(method.clone()),
            Some(_) => return Err("`method` is not a string".to_owned()),
        };
        match (method, id, result, error) {
            (Some(method), Some(id), None, None) => Ok(Self::Request {
                id,
                method,
                params: params.unwrap_or_default(),
            }),
            (Some(method), None, None, None) => Ok(Self::Notification {
                method,
                params: params.unwrap_or_default(),
            }),
            (None, Some(id), Some(result), None) if params.is_none() => Ok(Self::Response {
                id,
                outcome: Outcome::Result(result),
            }),
            (None, Some(id), None, Some(error)) if params.is_none() => {
                let code = error.get("code").and_then(Id::read);
                let message = error.get("message").and_then(Json::as_str);
                let more = error
                    .keys()
                    .find(|key| !["code", "message", "data"].contains(key));
                match (code, message, more) {
                    (Some(Id::Number(_)), Some(_), None) => Ok(Self::Response {
                        id,
                        outcome: Outcome::Error(error),
                    }),
                    _ => Err("`error` has a code, a message, and nothing else but data".into()),
                }
            }
            _ => Err("the message is neither a request nor a notification nor a response".into()),
        }
    }
}

impl fmt::Display for Frame {
    /// On one line, without its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let envelope = Json::object().with("jsonrpc", "2.0");
        match self {
            Self::Request { id, method, params } => envelope
                .with("id", id.json())
                .with("method", method.as_str())
                .with("params", params.clone()),
            Self::Notification { method, params } => envelope
                .with("method", method.as_str())
                .with("params", params.clone()),
            Self::Response { id, outcome } => {
                let envelope = envelope.with("id", id.json());
                match outcome {
                    Outcome::Result(result) => envelope.with("result", result.clone()),
                    Outcome::Error(error) => envelope.with("error", error.clone()),
                }
            }
        }
        .fmt(f)
    }
}

/// How much of a peer's text stands in a message about it.
const MAX_QUOTED: usize = 300;

/// A text with its start only, if it is long: whatever a peer sends, what is said of it is short.
pub(crate) fn brief(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// An error object.
pub(crate) fn error(code: i64, message: &str) -> Object {
    Json::object()
        .with("code", code)
        .with("message", brief(message))
}

/// A response to nobody in particular.
pub(crate) fn error_to_nobody(code: i64, message: &str) -> String {
    Json::object()
        .with("jsonrpc", "2.0")
        .with("id", Json::Null)
        .with("error", error(code, message))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_and_written() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"x","params":{"b":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}"#,
        ] {
            assert_eq!(Frame::read(text.as_bytes()).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_said_of_a_bad_frame_is_short() {
        let long = "\u{202e}".repeat(100_000);
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","{long}":1}}"#),
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"{long}":1,"{long}":2}}}}"#
            ),
        ] {
            let why = Frame::read(text.as_bytes()).unwrap_err().why;
            assert!(
                why.chars().count() < 400 && !why.contains('\u{202e}'),
                "{why}"
            );
        }
    }

    #[test]
    fn an_error_is_a_code_and_a_message() {
        for error in [
            r"{}",
            r#"{"code":1}"#,
            r#"{"code":"1","message":"m"}"#,
            r#"{"code":1.0,"message":"m"}"#,
            r#"{"code":1,"message":7}"#,
            r#"{"code":1,"message":"m","result":{}}"#,
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
            let bad = Frame::read(text.as_bytes()).unwrap_err();
            assert!(bad.response && bad.id == Some(Id::Number(1)), "{error}");
        }
    }

    #[test]
    fn the_id_of_a_bad_frame_is_told_only_beyond_doubt() {
        let id = |text: &str| Frame::read(text.as_bytes()).unwrap_err().id;
        let one = Some(Id::Number(1));
        assert_eq!(id(r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#), one);
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#),
            one
        );
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":1,"method":"x","extra":1}"#),
            one
        );
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#),
            one
        );
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#),
            one
        );
        for text in [
            r#"{"jsonrpc":"2.0","id":-0,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1.0,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1e0,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":9007199254740992,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":[1],"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#,
            "[]",
            "7",
            "{",
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
