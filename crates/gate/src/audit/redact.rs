//! What looks secret does not go into the log.
//!
//! Nothing here changes what runs or what is hashed.

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

/// The arguments as they are written, or nothing if they are too long.
pub(crate) fn redacted(value: &Value, bytes: usize) -> Option<Value> {
    (bytes <= MAX_BYTES).then(|| without_secrets(value))
}

fn without_secrets(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let value = match is_secret(key) {
                    true => Value::from("[redacted]"),
                    false => without_secrets(value),
                };
                (key.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(without_secrets).collect(),
        other => other.clone(),
    }
}

fn is_secret(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    SECRET.iter().any(|part| match *part {
        "pin" => plain == "pin" || plain == "pincode",
        part => plain.contains(part),
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
        assert_eq!(
            redacted(&arguments, 10),
            Some(json!({
                "user": "ann", "API-Key": "[redacted]",
                "nested": [{"db_password": "[redacted]", "port": 5432}],
                "access_token": "[redacted]", "spinner": "wheel", "pin": "[redacted]",
            }))
        );
        assert_eq!(redacted(&arguments, MAX_BYTES + 1), None);
    }
}
