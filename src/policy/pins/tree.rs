//! JSON, YAML and TOML as one kind of tree.
//!
//! Nothing here knows what a list of tools looks like. What the three languages read differently is refused: a key that
//! stands twice, aliases, tags, dates, numbers without a finite value.

use super::forms::{Syntax, ToolListError};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::collections::HashSet;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// How deeply a text may be nested.
const MAX_DEPTH: usize = 100;

/// A text, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Boolean(bool),
    /// As RFC 8785 has it, all numbers are doubles.
    Number(f64),
    String(String),
    List(Vec<Tree>),
    /// In the order of the text, no key twice.
    Map(Vec<(String, Tree)>),
}

impl Tree {
    pub(super) fn parse(text: &str, syntax: Syntax) -> Result<Self, ToolListError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match syntax {
            Syntax::Json => json(text),
            Syntax::Yaml => yaml(text),
            Syntax::Toml => toml(text),
        }
    }

    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "an object",
        }
    }

    /// The value of a key, if this is an object that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries
                .iter()
                .find(|(known, _)| known == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }
}

fn at_line(line: usize, column: usize, message: impl fmt::Display) -> ToolListError {
    ToolListError::new(&format!("line {line}, column {column}"), message)
}

fn twice(key: &str) -> String {
    format!("the key `{key}` stands twice")
}

fn json(text: &str) -> Result<Tree, ToolListError> {
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let place = format!(" at line {line} column {column}");
        at_line(
            line,
            column.max(1),
            message.strip_suffix(&place).unwrap_or(&message),
        )
    })
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let (mut entries, mut seen) = (Vec::new(), HashSet::new());
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(twice(&key)));
            }
            entries.push((key, map.next_value()?));
        }
        Ok(Tree::Map(entries))
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::String(value) => serializer.serialize_str(value),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}

/// A list or an object that is not complete yet.
enum Open {
    List(Vec<Tree>),
    Map {
        entries: Vec<(String, Tree)>,
        seen: HashSet<String>,
        key: Option<String>,
    },
}

fn yaml(text: &str) -> Result<Tree, ToolListError> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let mut whole = None;
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| {
            let marker = error.marker();
            at_line(marker.line(), marker.col() + 1, error.info())
        })?;
        let refuse = |message: String| at_line(span.start.line(), span.start.col() + 1, message);
        let done = match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => None,
            Event::DocumentStart(_) if whole.is_some() => {
                return Err(refuse("a second document".to_owned()));
            }
            Event::DocumentStart(_) => None,
            Event::Alias(_) => {
                return Err(refuse("an alias: write out what it stands for".to_owned()));
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                return Err(refuse("a tag: leave it out".to_owned()));
            }
            Event::Scalar(text, style, _, None) => Some(match style {
                ScalarStyle::Plain => plain(&text).map_err(refuse)?,
                _ => Tree::String(text.into_owned()),
            }),
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                return Err(refuse(format!("nested more than {MAX_DEPTH} levels deep")));
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                None
            }
            Event::MappingStart(..) => {
                open.push(Open::Map {
                    entries: Vec::new(),
                    seen: HashSet::new(),
                    key: None,
                });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Some(Tree::List(items)),
                Some(Open::Map { entries, .. }) => Some(Tree::Map(entries)),
                None => None,
            },
        };
        let Some(done) = done else { continue };
        match open.last_mut() {
            None => whole = Some(done),
            Some(Open::List(items)) => items.push(done),
            Some(Open::Map { entries, seen, key }) => match key.take() {
                Some(key) => entries.push((key, done)),
                None => match done {
                    Tree::String(name) if name == "<<" => {
                        return Err(refuse("a merge key: write out what it brings".to_owned()));
                    }
                    Tree::String(name) if !seen.insert(name.clone()) => {
                        return Err(refuse(twice(&name)));
                    }
                    Tree::String(name) => *key = Some(name),
                    other => {
                        let kind = other.kind();
                        return Err(refuse(format!("{kind} as a key: put it in quotes")));
                    }
                },
            },
        }
    }
    whole.ok_or_else(|| at_line(1, 1, "the text is empty"))
}

/// What a scalar without quotes is, by the core schema of YAML 1.2.
fn plain(text: &str) -> Result<Tree, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" | "True" | "TRUE" => Tree::Boolean(true),
        "false" | "False" | "FALSE" => Tree::Boolean(false),
        _ => match number(text) {
            Some(value) if value.is_finite() => Tree::Number(value),
            Some(_) => return Err("a number without a finite value".to_owned()),
            None => Tree::String(text.to_owned()),
        },
    })
}

fn number(text: &str) -> Option<f64> {
    let radix = |digits: &str, radix: u32| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let value = u64::from_str_radix(digits, radix).ok();
        value.filter(|_| plain).map(|value| value as f64)
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(f64::NAN);
    }
    let shape = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    let starts = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if shape && starts {
        text.parse().ok()
    } else {
        None
    }
}

fn toml(text: &str) -> Result<Tree, ToolListError> {
    let place = |at: usize| {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    };
    let whole = DeTable::parse(text).map_err(|error| {
        let (line, column) = place(error.span().map_or(0, |span| span.start));
        at_line(line, column, error.message().trim_end())
    })?;
    let refuse = |span: std::ops::Range<usize>, message: &str| {
        let (line, column) = place(span.start);
        at_line(line, column, message)
    };
    table(whole.get_ref(), &refuse)
}

type Refuse<'r> = &'r dyn Fn(std::ops::Range<usize>, &str) -> ToolListError;

fn table(table: &DeTable<'_>, refuse: Refuse<'_>) -> Result<Tree, ToolListError> {
    let entries = table
        .iter()
        .map(|(key, value)| Ok((key.get_ref().to_string(), toml_value(value, refuse)?)));
    entries.collect::<Result<_, _>>().map(Tree::Map)
}

/// The depth of what the parser reads is bounded.
fn toml_value(
    value: &toml::Spanned<DeValue<'_>>,
    refuse: Refuse<'_>,
) -> Result<Tree, ToolListError> {
    let finite = |value: Option<f64>| match value.filter(|value| value.is_finite()) {
        Some(value) => Ok(Tree::Number(value)),
        None => Err("a number without a finite value"),
    };
    let result = match value.get_ref() {
        DeValue::String(text) => Ok(Tree::String(text.to_string())),
        DeValue::Boolean(value) => Ok(Tree::Boolean(*value)),
        DeValue::Integer(value) => {
            let read = i64::from_str_radix(value.as_str(), value.radix()).ok();
            finite(read.map(|value| value as f64))
        }
        DeValue::Float(value) => finite(value.as_str().parse().ok()),
        DeValue::Datetime(_) => Err("a date: put it in quotes"),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| toml_value(item, refuse));
            return items.collect::<Result<_, _>>().map(Tree::List);
        }
        DeValue::Table(inner) => return table(inner, refuse),
    };
    result.map_err(|message| refuse(value.span(), message))
}
