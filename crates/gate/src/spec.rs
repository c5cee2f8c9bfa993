//! What a tool says about itself, and how strictly it is guarded.
//!
//! Nothing here decides.

use crate::digest::Digest;
use serde_json::{Value, json};
use std::fmt;

/// How strictly a tool is guarded: what a wrong call of it could cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The grant is enough.
    #[default]
    None,
    /// A person is asked.
    Confirm,
    /// A person is asked, and no list or policy may answer in their place.
    Destructive,
}

impl Level {
    /// The atom that stands for it in rules.
    ///
    /// ```
    /// assert_eq!(horngate_gate::Level::Confirm.as_str(), "confirm");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Confirm => "confirm",
            Self::Destructive => "destructive",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::None, Self::Confirm, Self::Destructive]
            .into_iter()
            .find(|level| level.as_str() == name)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A tool's name, description, arguments and guard.
///
/// ```
/// use horngate_gate::{Level, ToolSpec};
/// use serde_json::json;
///
/// let spec = ToolSpec::new("delete_topic", "Deletes a topic and all its messages")
///     .schema(json!({"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}))
///     .destructive("the messages are lost");
/// assert_eq!(spec.level(), Level::Destructive);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    name: String,
    description: String,
    schema: Value,
    level: Level,
    reason: Option<String>,
}

impl ToolSpec {
    /// A tool that takes any object and whose grant is enough.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            schema: json!({"type": "object"}),
            level: Level::None,
            reason: None,
        }
    }

    /// The JSON Schema of its arguments. Only references within the document are followed.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }

    /// A person is asked before each call; `reason` is shown.
    #[must_use]
    pub fn confirm(self, reason: impl Into<String>) -> Self {
        self.at_least(Level::Confirm, reason.into())
    }

    /// As [`ToolSpec::confirm`], and no list or policy may answer for the person.
    #[must_use]
    pub fn destructive(self, reason: impl Into<String>) -> Self {
        self.at_least(Level::Destructive, reason.into())
    }

    fn at_least(mut self, level: Level, reason: String) -> Self {
        if level >= self.level {
            self.level = level;
            self.reason = Some(reason);
        }
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does, for the model.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        &self.schema
    }

    /// How strictly it is guarded.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Why a person is asked.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Names the definition: a tool that says anything else about itself is another.
    pub(crate) fn digest(&self, server: &str) -> Digest {
        let schema = serde_json_canonicalizer::to_string(&self.schema)
            .unwrap_or_else(|_| self.schema.to_string());
        let reason = self.reason.as_deref().unwrap_or_default();
        Digest::of_parts(
            "horngate-tool-1",
            [
                server,
                &self.name,
                &self.description,
                &schema,
                self.level.as_str(),
                reason,
            ],
        )
    }
}

/// The longest name of a tool.
pub(crate) const MAX_NAME: usize = 128;

/// Why a name cannot be a tool's.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
    match name {
        "" => Err("a tool needs a name".to_owned()),
        _ if name.len() > MAX_NAME => Err(format!(
            "the name `{}` is longer than {MAX_NAME} characters",
            crate::visible::visible(&crate::visible::shortened(name, MAX_NAME))
        )),
        _ if !name.chars().all(allowed) => Err(format!(
            "the name `{}` has characters other than ASCII letters, digits and `_-./:`",
            crate::visible::visible(name)
        )),
        _ => Ok(()),
    }
}

/// What remains of a name for an eye that is in a hurry: names with the same rest look alike.
pub(crate) fn look(name: &str) -> String {
    name.chars()
        .map(|c| match c.to_ascii_lowercase() {
            '0' => 'o',
            '1' => 'l',
            '-' | '.' | '/' | ':' => '_',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_level_wins_whatever_the_order() {
        let spec = ToolSpec::new("a", "").destructive("lost").confirm("asked");
        assert_eq!(
            (spec.level(), spec.reason()),
            (Level::Destructive, Some("lost"))
        );
    }

    #[test]
    fn a_definition_is_all_that_a_tool_says() {
        let spec = || ToolSpec::new("a", "does a");
        let digest = spec().digest("local");
        assert_eq!(digest, spec().digest("local"));
        assert_ne!(digest, spec().digest("other"));
        assert_ne!(digest, ToolSpec::new("a", "does b").digest("local"));
        assert_ne!(digest, spec().confirm("").digest("local"));
        assert_ne!(digest, spec().schema(json!({})).digest("local"));
    }

    #[test]
    fn names_are_plain_ascii() {
        for name in ["repl", "fs/read.file", "mcp__git__log", "A-1:b"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "re pl",
            "repl ",
            "ｒｅｐｌ",
            "rеpl",
            "re\u{200b}pl",
            &"x".repeat(129),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
