//! JSON Schemas of arguments: compiled once, checked before anything else is asked.
//!
//! Nothing here reads files or the network: only references within the document are followed.

use crate::visible::visible;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The largest schema, in bytes of its text.
const MAX_SCHEMA_BYTES: usize = 256 << 10;
/// How deep a schema may nest.
const MAX_DEPTH: usize = 64;
/// How many subschemas may apply to one value, references followed.
const MAX_UNFOLDED: u64 = 10_000;
/// The largest compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;
/// How many findings are told.
const MAX_FINDINGS: usize = 5;

/// The dialects whose own schemas are built in.
const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Keywords whose value is data, not a schema.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Keywords whose schemas apply to the same value.
const IN_PLACE: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
];

/// A schema that can be used.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
}

impl Schema {
    /// Compiles a schema, or says why it cannot be used.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        if !schema.is_object() {
            return Err("a schema is a JSON object".to_owned());
        }
        if schema.to_string().len() > MAX_SCHEMA_BYTES {
            return Err(format!(
                "the schema is longer than {MAX_SCHEMA_BYTES} bytes"
            ));
        }
        check_references(schema, 0)?;
        Unfolded::check(schema)?;
        let patterns = PatternOptions::regex().size_limit(MAX_REGEX_BYTES);
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .build(schema)
            .map_err(|error| format!("the schema does not compile: {error}"))?;
        Ok(Self { validator })
    }

    /// What is wrong with `arguments`, if anything.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), String> {
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        let mut findings: Vec<String> = self
            .validator
            .iter_errors(arguments)
            .take(MAX_FINDINGS)
            .map(|error| {
                // The values may be long or secret; where and which rule is enough.
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "/" } else { &place };
                format!(
                    "at `{}`: {}",
                    visible(place),
                    visible(&error.masked().to_string())
                )
            })
            .collect();
        if findings.is_empty() {
            findings.push("the schema does not hold".to_owned());
        }
        Err(findings.join("; "))
    }
}

/// Refuses what would have to be fetched, and what nests too deep.
fn check_references(schema: &Value, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("the schema nests deeper than {MAX_DEPTH} levels"));
    }
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target))
                        if !target.starts_with('#') =>
                    {
                        return Err(format!(
                            "the reference `{}` leaves the document",
                            visible(target)
                        ));
                    }
                    ("$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                        return Err(format!("`{key}` is not supported; write `$ref`"));
                    }
                    ("$schema", Value::String(dialect))
                        if !DIALECTS.contains(&dialect.trim_end_matches('#')) =>
                    {
                        return Err(format!("the dialect `{}` is unknown", visible(dialect)));
                    }
                    ("$id" | "id", Value::String(_)) if depth > 0 => {
                        return Err("a part of a schema cannot have an identity".to_owned());
                    }
                    (data, _) if DATA.contains(&data) => {}
                    _ => check_references(value, depth + 1)?,
                }
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| check_references(item, depth + 1)),
        _ => Ok(()),
    }
}

/// Counts how many subschemas apply to one value. A reference that leads back to itself without going into the value
/// would never end, and references that fan out double with each step.
struct Unfolded<'s> {
    root: &'s Value,
    counts: BTreeMap<&'s str, u64>,
    open: BTreeSet<&'s str>,
}

impl<'s> Unfolded<'s> {
    fn check(root: &'s Value) -> Result<(), String> {
        let mut all = Self {
            root,
            counts: BTreeMap::new(),
            open: BTreeSet::new(),
        };
        all.everywhere(root)
    }

    /// Every subschema, as the start of what applies to some value.
    fn everywhere(&mut self, schema: &'s Value) -> Result<(), String> {
        match schema {
            Value::Object(map) => {
                self.count(schema)?;
                map.iter()
                    .filter(|(key, _)| !DATA.contains(&key.as_str()))
                    .try_for_each(|(_, value)| self.everywhere(value))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.everywhere(item)),
            _ => Ok(()),
        }
    }

    fn count(&mut self, schema: &'s Value) -> Result<u64, String> {
        let mut sum: u64 = 1;
        if let Value::Object(map) = schema {
            if let Some(Value::String(target)) = map.get("$ref") {
                sum = sum.saturating_add(self.count_target(target)?);
            }
            for key in IN_PLACE {
                let parts: Vec<&'s Value> = match map.get(key) {
                    Some(Value::Array(items)) => items.iter().collect(),
                    Some(Value::Object(inner)) if key.starts_with("depend") => {
                        inner.values().collect()
                    }
                    Some(one) => vec![one],
                    None => Vec::new(),
                };
                for part in parts {
                    sum = sum.saturating_add(self.count(part)?);
                }
            }
        }
        if sum > MAX_UNFOLDED {
            return Err(format!(
                "more than {MAX_UNFOLDED} parts of the schema apply to one value"
            ));
        }
        Ok(sum)
    }

    fn count_target(&mut self, target: &'s str) -> Result<u64, String> {
        if let Some(count) = self.counts.get(target) {
            return Ok(*count);
        }
        let Some(found) = find(self.root, target) else {
            return Err(format!("the reference `{}` leads nowhere", visible(target)));
        };
        if !self.open.insert(target) {
            return Err(format!(
                "the reference `{}` leads back to itself",
                visible(target)
            ));
        }
        if self.open.len() > MAX_DEPTH {
            return Err(format!(
                "more than {MAX_DEPTH} references lead to one another"
            ));
        }
        let count = self.count(found)?;
        self.open.remove(target);
        self.counts.insert(target, count);
        Ok(count)
    }
}

/// What a reference within the document leads to: a pointer, or an anchor.
fn find<'s>(root: &'s Value, target: &str) -> Option<&'s Value> {
    let fragment = target.strip_prefix('#')?;
    match fragment {
        "" => Some(root),
        pointer if pointer.starts_with('/') => root
            .pointer(pointer)
            .or_else(|| root.pointer(&percent_decoded(pointer)?)),
        anchor => find_anchor(root, anchor),
    }
}

fn find_anchor<'s>(schema: &'s Value, anchor: &str) -> Option<&'s Value> {
    match schema {
        Value::Object(map) => {
            let named = map.get("$anchor").and_then(Value::as_str) == Some(anchor);
            if named {
                return Some(schema);
            }
            map.values().find_map(|value| find_anchor(value, anchor))
        }
        Value::Array(items) => items.iter().find_map(|item| find_anchor(item, anchor)),
        _ => None,
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let pair = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&pair).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(schema: Value) -> String {
        Schema::compile(&schema).expect_err("it is refused")
    }

    #[test]
    fn nothing_is_fetched() {
        for target in [
            "http://127.0.0.1:1/schema.json",
            "https://example.com/a",
            "file:///etc/passwd",
            "other.json",
            "other.json#/a",
        ] {
            let schema = json!({"type": "object", "properties": {"a": {"$ref": target}}});
            assert!(refused(schema).contains("leaves the document"), "{target}");
        }
        assert!(refused(json!({"$schema": "http://example.com/mine"})).contains("unknown"));
        assert!(
            refused(json!({"properties": {"a": {"$id": "http://x/", "$ref": "#/b"}}}))
                .contains("identity")
        );
    }

    #[test]
    fn references_within_the_document_are_followed() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/small"}, "b": {"$ref": "#s"}},
            "$defs": {"small": {"$anchor": "s", "type": "integer", "maximum": 3}},
        });
        let schema = Schema::compile(&schema).unwrap();
        assert!(schema.check(&json!({"a": 3, "b": 1})).is_ok());
        assert!(schema.check(&json!({"a": 4})).is_err());
        assert!(schema.check(&json!({"b": 4})).is_err());
    }

    #[test]
    fn recursion_must_go_into_the_value() {
        assert!(refused(json!({"$ref": "#"})).contains("back to itself"));
        assert!(
            refused(json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}}))
                .contains("back to itself")
        );
        let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}}});
        assert!(Schema::compile(&tree).is_ok());
        let mut bomb = json!({"$defs": {"x0": {}}, "$ref": "#/$defs/x20"});
        for n in 1..=20 {
            let below = format!("#/$defs/x{}", n - 1);
            bomb["$defs"][format!("x{n}")] = json!({"allOf": [{"$ref": below}, {"$ref": below}]});
        }
        assert!(refused(bomb).contains("apply to one value"));
    }

    #[test]
    fn patterns_take_linear_time() {
        let schema = json!({"properties": {"a": {"pattern": "^(a+)+$"}}});
        let schema = Schema::compile(&schema).unwrap();
        let long = format!("{}!", "a".repeat(50_000));
        assert!(schema.check(&json!({"a": long})).is_err());
        assert!(refused(json!({"pattern": "(?=a)b"})).contains("compile"));
        assert!(refused(json!({"pattern": "(x{1000}){1000}"})).contains("compile"));
    }

    #[test]
    fn values_are_not_repeated_in_the_findings() {
        let schema = json!({"properties": {"password": {"type": "integer"}}});
        let told = Schema::compile(&schema).unwrap();
        let told = told.check(&json!({"password": "hunter2"})).unwrap_err();
        assert!(!told.contains("hunter2"), "{told}");
        assert!(told.contains("/password"), "{told}");
    }

    #[test]
    fn size_and_depth_are_bounded() {
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({"not": deep});
        }
        assert!(refused(deep).contains("deeper"));
        assert!(refused(json!({"description": "x".repeat(300_000)})).contains("longer"));
        assert!(refused(json!(true)).contains("object"));
    }
}
