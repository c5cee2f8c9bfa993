//! Arguments: read once, from text, and made canonical. What is hashed, shown, approved and run is the canonical form.
//!
//! Nothing here is repaired: a text that two readers could understand in two ways is refused.

use crate::canonical;
use crate::digest::Digest;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The longest text accepted, in bytes.
pub const MAX_ARGUMENT_BYTES: usize = 4 << 20;

/// The largest integer that every reader of JSON understands alike: 2^53 - 1.
const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The arguments of one call, in canonical form (RFC 8785).
///
/// ```
/// use horngate_gate::Arguments;
/// let arguments = Arguments::parse(r#"{ "b": 1.0, "a": "\u0041" }"#)?;
/// assert_eq!(arguments.canonical(), r#"{"a":"A","b":1}"#);
///
/// assert!(Arguments::parse(r#"{"path": "/tmp", "path": "/"}"#).is_err());
/// assert!(Arguments::parse(r#"{"n": 9007199254740993}"#).is_err());
/// # Ok::<(), horngate_gate::ArgumentsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    canonical: String,
    value: Value,
    digest: Digest,
}

/// Arguments that are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArgumentsError(String);

impl Arguments {
    /// Reads the text of a JSON object.
    ///
    /// # Errors
    /// [`ArgumentsError`] when the text is no JSON object or too long, or has a key twice, half of a surrogate pair, or
    /// a whole number beyond ±(2^53−1).
    pub fn parse(text: &str) -> Result<Self, ArgumentsError> {
        if text.len() > MAX_ARGUMENT_BYTES {
            return Err(ArgumentsError(format!(
                "the arguments are longer than {MAX_ARGUMENT_BYTES} bytes"
            )));
        }
        let bad = |error: serde_json::Error| ArgumentsError(error.to_string());
        let Strict(value) = serde_json::from_str(text).map_err(bad)?;
        if !value.is_object() {
            return Err(ArgumentsError("arguments are a JSON object".to_owned()));
        }
        let mut canonical = String::with_capacity(text.len());
        canonical::write(&mut canonical, &value);
        Ok(Self {
            digest: Digest::of(&canonical),
            canonical,
            value,
        })
    }

    /// The canonical text.
    #[must_use]
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The value that the canonical text stands for.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// SHA-256 of the canonical text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// A value read without repairs.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

fn beyond<E: de::Error>(number: impl fmt::Display) -> E {
    E::custom(format!(
        "the whole number {number} is beyond 2^53-1, where readers differ; write it as a string"
    ))
}

/// Where another crate turns on `arbitrary_precision` of serde_json, numbers arrive as an object with this key.
const NUMBER_AS_TEXT: &str = "$serde_json::private::Number";

fn numbers_are_texts() -> bool {
    serde_json::from_str::<Number>("1e999").is_ok()
}

impl StrictVisitor {
    fn visit_number<E: de::Error>(self, text: &str) -> Result<Value, E> {
        let whole = text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_digit());
        if let (true, Ok(number)) = (whole, text.parse::<i64>()) {
            return self.visit_i64(number);
        }
        let number: f64 = text.parse().map_err(|_| E::custom("no number"))?;
        self.visit_f64(number)
    }
}

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > MAX_INTEGER {
            return Err(beyond(value));
        }
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        if value > MAX_INTEGER {
            return Err(beyond(value));
        }
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        // A long integer and one written as `1e20` arrive here, too.
        if value.fract() == 0.0 && value.abs() > MAX_INTEGER as f64 {
            return Err(beyond(value));
        }
        // As its canonical text is read back: `1.0` is written `1`, and `-0.0` is written `0`.
        if value.fract() == 0.0 {
            return Ok(Value::from(value as i64));
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key == NUMBER_AS_TEXT {
                return match (numbers_are_texts(), map.is_empty()) {
                    (true, true) => self.visit_number(&entries.next_value::<String>()?),
                    _ => Err(de::Error::custom(format!(
                        "the key `{key}` means something else"
                    ))),
                };
            }
            if map.contains_key(&key) {
                return Err(de::Error::custom(format!("the key `{key}` occurs twice")));
            }
            let Strict(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_arrive_as_texts_are_the_same() {
        for text in [
            "0",
            "-0",
            "1",
            "1.0",
            "1e0",
            "-0.0",
            "1.5",
            "15e-1",
            "-7",
            "1e-400",
            "0.1",
            "9007199254740991",
            "9007199254740992",
            "9007199254740993",
            "-9007199254740992",
            "18446744073709551616",
            "1e20",
            "1e999",
            "123456789012345678901234567890",
        ] {
            let plain = serde_json::from_str::<Strict>(text).map(|strict| strict.0);
            let told = StrictVisitor.visit_number::<serde_json::Error>(text);
            match (plain, told) {
                (Ok(plain), Ok(told)) => assert_eq!(plain, told, "{text}"),
                (Err(_), Err(_)) => {}
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    /// A key that serde_json itself might read as a number is no key.
    #[test]
    fn the_mark_of_a_number_is_no_key() {
        for text in [
            r#"{"n": {"$serde_json::private::Number": "1"}}"#,
            r#"{"n": {"$serde_json::private::Number": 1}}"#,
            r#"{"n": {"a": 1, "\u0024serde_json::private::Number": "1"}}"#,
            r#"{"$serde_json::private::Number": "1"}"#,
        ] {
            assert!(Arguments::parse(text).is_err(), "{text}");
        }
    }
}
