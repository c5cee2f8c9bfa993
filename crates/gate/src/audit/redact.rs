//! What looks secret does not go into the log.
//!
//! Nothing here changes what runs or what is hashed.

use crate::canonical;
use serde_json::Value;

/// Parts of keys whose values are not written.
const SECRET: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "authorization",
    "credential",
    "privatekey",
    "accesskey",
    "cookie",
    "bearer",
    "signature",
    "pin",
];

/// Arguments longer than this are named by their hash alone.
const MAX_BYTES: usize = 64 << 10;

/// Whether arguments of so many bytes are written at all.
pub(crate) fn is_written(bytes: usize) -> bool {
    bytes <= MAX_BYTES
}

/// The arguments as they are written, or nothing if they are too long.
pub(super) fn redacted(value: &Value, bytes: usize) -> Option<Value> {
    let mut text = String::new();
    is_written(bytes).then(|| write(&mut text, value))?;
    serde_json::from_str(&text).ok()
}

/// Appends the text of a value, without what looks secret.
pub(super) fn write(text: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            text.push('{');
            for (place, (key, value)) in map.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                canonical::write_string(text, key);
                text.push(':');
                match is_secret(key) {
                    true => text.push_str("\"[redacted]\""),
                    false => write(text, value),
                }
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write(text, item);
            }
            text.push(']');
        }
        other => canonical::write(text, other),
    }
}

fn is_secret(key: &str) -> bool {
    let mut plain = String::with_capacity(key.len());
    for c in key.chars().filter(|c| c.is_alphanumeric()) {
        match c.is_ascii() {
            true => plain.push(c.to_ascii_lowercase()),
            false => plain.extend(c.to_lowercase()),
        }
    }
    let is_there = |part: &&str| {
        let (part, plain) = (part.as_bytes(), plain.as_bytes());
        // Most keys do not even have the first letter.
        plain.len() >= part.len() && plain.windows(part.len()).any(|window| window == part)
    };
    SECRET.iter().any(|part| match *part {
        "pin" => plain == "pin" || plain == "pincode",
        part => is_there(&part),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_looks_secret_is_not_written() {
        let arguments = json!({
            "user": "ann", "API-Key": "k", "nested": [{"db_password": "p", "port": 5432}],
            "access_token": {"a": 1}, "spinner": "wheel", "pin": 1234,
        });
        let mut text = String::new();
        write(&mut text, &arguments);
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({
                "user": "ann", "API-Key": "[redacted]",
                "nested": [{"db_password": "[redacted]", "port": 5432}],
                "access_token": "[redacted]", "spinner": "wheel", "pin": "[redacted]",
            })
        );
        assert!(is_written(MAX_BYTES) && !is_written(MAX_BYTES + 1));
    }
}
