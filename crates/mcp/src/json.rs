//! JSON as it travels: strict to read, and written as it was read.
//!
//! Nothing here is repaired. Members keep their order and numbers their digits, so what passes is what was sent; a text
//! that two readers could understand in two ways has a fault.

use std::fmt::{self, Write as _};

/// How deep values may nest. The arguments of a call are read again by a reader that allows 128.
const MAX_DEPTH: usize = 100;
/// How many values a text may have: each takes some thirty bytes.
const MAX_VALUES: usize = 1 << 20;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// The digits as they were written.
    Number(Box<str>),
    String(String),
    Array(Vec<Json>),
    Object(Object),
}

/// The members of an object, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object(Vec<(String, Json)>);

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the text is not UTF-8")]
    NotUtf8,
    #[error("the text is no JSON: byte {0} is not expected")]
    Syntax(usize),
    #[error("values nest deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("the text has more than {MAX_VALUES} values")]
    TooMany,
    #[error("the key `{0}` occurs twice")]
    DuplicateKey(String),
    #[error("a string has half of a surrogate pair")]
    LoneSurrogate,
}

/// What was read. With a fault it is good for nothing but to see whom to answer.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) value: Json,
    pub(crate) fault: Option<Fault>,
}

impl Object {
    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    /// The member of that name, unless there are two.
    pub(crate) fn only(&self, key: &str) -> Option<&Json> {
        let mut found = self.0.iter().filter(|(name, _)| name == key);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        self.0
            .iter_mut()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Sets a member, in its place if there is one.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Json>) {
        match self.get_mut(key) {
            Some(slot) => *slot = value.into(),
            None => self.0.push((key.to_owned(), value.into())),
        }
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.set(key, value);
        self
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    fn repeated(&self) -> Option<&str> {
        if self.0.len() < 9 {
            let mut rest = &*self.0;
            while let [(name, _), after @ ..] = rest {
                if after.iter().any(|(other, _)| other == name) {
                    return Some(name);
                }
                rest = after;
            }
            return None;
        }
        let mut names: Vec<&str> = self.keys().collect();
        names.sort_unstable();
        names.windows(2).find_map(|pair| match pair {
            [a, b] if a == b => Some(*a),
            _ => None,
        })
    }
}

impl Json {
    pub(crate) fn object() -> Object {
        Object::default()
    }

    /// Reads a text whole.
    pub(crate) fn read(bytes: &[u8]) -> Result<Read, Fault> {
        let text = std::str::from_utf8(bytes).map_err(|_| Fault::NotUtf8)?;
        let mut reader = Reader {
            text,
            at: 0,
            values: 0,
            fault: None,
        };
        let value = reader.value(0)?;
        reader.space();
        match reader.peek() {
            None => Ok(Read {
                value,
                fault: reader.fault,
            }),
            Some(_) => Err(reader.syntax()),
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The same through another reader: its numbers may lose digits.
    pub(crate) fn to_value(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&self.to_string()).ok()
    }

    pub(crate) fn from_value(value: &serde_json::Value) -> Self {
        match Self::read(value.to_string().as_bytes()) {
            Ok(read) => read.value,
            // Only what nests too deep for a frame.
            Err(_) => Self::Null,
        }
    }
}

impl From<Object> for Json {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Json {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Number(number.to_string().into())
    }
}

impl From<Vec<Self>> for Json {
    fn from(items: Vec<Self>) -> Self {
        Self::Array(items)
    }
}

impl fmt::Display for Json {
    /// On one line, without spaces, with the fewest escapes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(true) => f.write_str("true"),
            Self::Bool(false) => f.write_str("false"),
            Self::Number(digits) => f.write_str(digits),
            Self::String(text) => write_string(f, text),
            Self::Array(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    item.fmt(f)?;
                }
                f.write_char(']')
            }
            Self::Object(object) => object.fmt(f),
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (at, (name, value)) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_char(',')?;
            }
            write_string(f, name)?;
            f.write_char(':')?;
            value.fmt(f)?;
        }
        f.write_char('}')
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => "",
            _ => continue,
        };
        f.write_str(text.get(plain..at).unwrap_or_default())?;
        match short {
            "" => write!(f, "\\u{byte:04x}")?,
            _ => f.write_str(short)?,
        }
        plain = at + 1;
    }
    f.write_str(text.get(plain..).unwrap_or_default())?;
    f.write_char('"')
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    values: usize,
    /// The first fault that does not keep the rest from being read.
    fault: Option<Fault>,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn syntax(&self) -> Fault {
        Fault::Syntax(self.at)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Fault> {
        match self.peek() {
            Some(byte) if byte == wanted => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.syntax()),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, Fault> {
        word.bytes().try_for_each(|byte| self.expect(byte))?;
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Json, Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault::TooDeep);
        }
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(Fault::TooMany);
        }
        self.space();
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.members(depth),
            _ => Err(self.syntax()),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            match self.next() {
                Some(b',') => {}
                Some(b']') => return Ok(Json::Array(items)),
                _ => return Err(self.syntax()),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<Json, Fault> {
        self.at += 1;
        let mut object = Object::default();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(object.into());
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.syntax());
            }
            let name = self.string()?;
            self.space();
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            object.0.push((name, value));
            self.space();
            match self.next() {
                Some(b',') => {}
                Some(b'}') => break,
                _ => return Err(self.syntax()),
            }
        }
        if let Some(name) = object.repeated() {
            let name = name.to_owned();
            self.fault.get_or_insert(Fault::DuplicateKey(name));
        }
        Ok(object.into())
    }

    fn number(&mut self) -> Result<Json, Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let digits = self.text.get(start..self.at).unwrap_or_default();
        Ok(Json::Number(digits.into()))
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        match self.at > start {
            true => Ok(()),
            false => Err(self.syntax()),
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            text.push_str(self.text.get(start..self.at).unwrap_or_default());
            match self.next() {
                Some(b'"') => return Ok(text),
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(Fault::Syntax(self.at.saturating_sub(1))),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        Ok(match self.next() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.syntax()),
        })
    }

    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.four()?;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let mark = self.at;
        if first < 0xdc00 && self.next() == Some(b'\\') && self.next() == Some(b'u') {
            let second = self.four()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                if let Some(c) = char::from_u32(code) {
                    return Ok(c);
                }
            }
        }
        self.at = mark;
        self.fault.get_or_insert(Fault::LoneSurrogate);
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four(&mut self) -> Result<u32, Fault> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|byte| char::from(byte).to_digit(16));
            code = code * 16 + digit.ok_or_else(|| self.syntax())?;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(text: &str) -> Result<String, Fault> {
        let read = Json::read(text.as_bytes())?;
        match read.fault {
            Some(fault) => Err(fault),
            None => Ok(read.value.to_string()),
        }
    }

    #[test]
    fn order_and_digits_stay() {
        let text = r#"{"z":1.50,"a":[-0,1e400,123456789012345678901234567890],"\u0000":"é\n"}"#;
        assert_eq!(written(text).unwrap(), text);
        assert_eq!(written(" [ 1 , { } ] ").unwrap(), "[1,{}]");
        assert_eq!(written(r#""\u00e9\/\ud83d\ude00""#).unwrap(), "\"é/😀\"");
    }

    #[test]
    fn what_two_readers_could_read_in_two_ways_is_a_fault() {
        assert_eq!(
            written(r#"{"a":1,"b":{"c":1,"\u0063":2}}"#),
            Err(Fault::DuplicateKey("c".to_owned()))
        );
        let many: String = (0..50).map(|n| format!("\"k{n}\":1,")).collect();
        assert_eq!(
            written(&format!("{{{many}\"k7\":2}}")),
            Err(Fault::DuplicateKey("k7".to_owned()))
        );
        for text in [r#""\ud800""#, r#""\udc00\ud800""#, r#""\ud800\u0041""#] {
            assert_eq!(written(text), Err(Fault::LoneSurrogate), "{text}");
        }
        assert_eq!(written(&"[".repeat(1_000_000)), Err(Fault::TooDeep));
        assert_eq!(
            written(&format!("[{}0]", "0,".repeat(MAX_VALUES))),
            Err(Fault::TooMany)
        );
        assert!(matches!(Json::read(b"\"\xff\""), Err(Fault::NotUtf8)));
        for text in [
            "",
            " ",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "NaN",
            "tru",
            "[1,]",
            "{,}",
            "{\"a\"}",
            "{a:1}",
            "\"\t\"",
            "'a'",
            "[1] 2",
            "\"\\x\"",
            "\u{feff}{}",
            "//\n1",
        ] {
            assert!(matches!(written(text), Err(Fault::Syntax(_))), "{text:?}");
        }
    }

    #[test]
    fn with_a_fault_the_rest_can_still_be_read() {
        let read = Json::read(br#"{"id":7,"params":{"name":"a","name":"b"}}"#).unwrap();
        assert!(read.fault.is_some());
        assert_eq!(read.value.as_object().unwrap().only("id"), Some(&7.into()));
        let read = Json::read(br#"{"id":7,"id":8}"#).unwrap();
        assert_eq!(read.value.as_object().unwrap().only("id"), None);
    }

    proptest! {
        #[test]
        fn it_reads_what_serde_json_reads(text in r#"[\[\]{}:,"\\0-9eE.\-+u a-d]{0,24}"#) {
            let ours = written(&text);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            match (&ours, &theirs) {
                (Ok(ours), Ok(theirs)) => {
                    let again: serde_json::Value = serde_json::from_str(ours).unwrap();
                    prop_assert_eq!(&again, theirs);
                }
                // Numbers that it cannot hold, and what it repairs.
                (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("out of range")),
                (Err(Fault::DuplicateKey(_) | Fault::LoneSurrogate), _) => {}
                (Err(fault), Ok(_)) => prop_assert!(false, "{fault}: {text}"),
                (Err(_), Err(_)) => {}
            }
        }

        #[test]
        fn writing_and_reading_again_changes_nothing(text in any::<String>()) {
            let value = Json::object().with(&text, text.as_str()).into();
            let read = Json::read(Json::to_string(&value).as_bytes()).unwrap();
            prop_assert_eq!(read.value, value);
        }
    }
}
