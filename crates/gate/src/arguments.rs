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
            if map.contains_key(&key) {
                return Err(de::Error::custom(format!("the key `{key}` occurs twice")));
            }
            let Strict(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
