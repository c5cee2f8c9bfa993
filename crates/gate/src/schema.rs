//! JSON Schemas of arguments: compiled once, checked before anything else is asked.
//!
//! Nothing here reads files or the network: only references within the document are followed.

use crate::arguments::Arguments;
use crate::cost::{Cost, MAX_STEPS, TooMuch};
use crate::visible::visible;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The largest schema, in bytes of its text.
const MAX_SCHEMA_BYTES: usize = 256 << 10;
/// How deep a schema may nest.
const MAX_DEPTH: usize = 64;
/// How many subschemas may lead to one another for one value, references followed.
const MAX_CHAIN: usize = 512;
/// How many subschemas may apply to one value, references followed.
const MAX_UNFOLDED: u64 = 10_000;
/// The largest compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;
/// How many findings are told, and how long a check may be for them to be looked for.
const MAX_FINDINGS: usize = 5;
const MAX_STEPS_TOLD: u64 = 50_000;

/// The dialects whose own schemas are built in.
const DIALECTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

/// Keywords whose value is data, not a schema.
pub(crate) const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Keywords whose schemas apply to the same value.
pub(crate) const IN_PLACE: [&str; 9] = [
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
    cost: Cost,
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
            .map_err(|error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "/" } else { &place };
                format!("the schema does not compile: at `{place}`: {error}")
            })?;
        Ok(Self {
            validator,
            cost: Cost::of(schema),
        })
    }

    /// What is wrong with `arguments`, if anything. Arguments that would take too long to check are.
    pub(crate) fn check(&self, arguments: &Arguments) -> Result<(), String> {
        let (value, bytes) = (arguments.value(), arguments.canonical().len());
        let steps = match self.cost.steps(value, bytes) {
            Ok(steps) => steps,
            Err(TooMuch) => {
                return Err(format!(
                    "to check them against the schema would take more than {MAX_STEPS} steps; send less, or nest less"
                ));
            }
        };
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let told = match steps <= MAX_STEPS_TOLD {
            true => MAX_FINDINGS,
            false => 0,
        };
        let mut findings: Vec<String> = std::iter::once(())
            .filter(|()| told > 0)
            .flat_map(|()| self.validator.iter_errors(value))
            .take(told)
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
                self.count(schema, 0)?;
                map.iter()
                    .filter(|(key, _)| !DATA.contains(&key.as_str()))
                    .try_for_each(|(_, value)| self.everywhere(value))
            }
            Value::Array(items) => items.iter().try_for_each(|item| self.everywhere(item)),
            _ => Ok(()),
        }
    }

    fn count(&mut self, schema: &'s Value, depth: usize) -> Result<u64, String> {
        if depth > MAX_CHAIN {
            return Err(format!(
                "more than {MAX_CHAIN} parts of the schema lead to one another"
            ));
        }
        let mut sum: u64 = 1;
        if let Value::Object(map) = schema {
            if let Some(Value::String(target)) = map.get("$ref") {
                sum = sum.saturating_add(self.count_target(target, depth + 1)?);
            }
            for key in IN_PLACE {
                for part in map.get(key).into_iter().flat_map(|value| parts(key, value)) {
                    sum = sum.saturating_add(self.count(part, depth + 1)?);
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

    fn count_target(&mut self, target: &'s str, depth: usize) -> Result<u64, String> {
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
        let count = self.count(found, depth)?;
        self.open.remove(target);
        self.counts.insert(target, count);
        Ok(count)
    }
}

/// The schemas in the value of a keyword whose schemas apply to the same value.
pub(crate) fn parts<'s>(keyword: &str, value: &'s Value) -> Vec<&'s Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(inner) if keyword.starts_with("depend") => inner.values().collect(),
        one => vec![one],
    }
}

/// What a reference within the document leads to: a pointer, or an anchor.
pub(crate) fn find<'s>(root: &'s Value, target: &str) -> Option<&'s Value> {
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

    fn check(schema: &Schema, arguments: Value) -> Result<(), String> {
        schema.check(&Arguments::parse(&arguments.to_string()).unwrap())
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
        assert!(check(&schema, json!({"a": 3, "b": 1})).is_ok());
        assert!(check(&schema, json!({"a": 4})).is_err());
        assert!(check(&schema, json!({"b": 4})).is_err());
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
        assert!(check(&schema, json!({"a": long})).is_err());
        assert!(refused(json!({"pattern": "(?=a)b"})).contains("compile"));
        assert!(refused(json!({"pattern": "(x{1000}){1000}"})).contains("compile"));
    }

    #[test]
    fn values_are_not_repeated_in_the_findings() {
        let schema = json!({"properties": {"password": {"type": "integer"}}});
        let told = Schema::compile(&schema).unwrap();
        let told = check(&told, json!({"password": "hunter2"})).unwrap_err();
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

    /// A chain of arguments, each in the one before.
    fn nested(depth: usize) -> Value {
        let mut value = json!({});
        for _ in 0..depth {
            value = json!({"x": value});
        }
        value
    }

    /// What is slow is refused before it is checked; the time is generous, since other tests run beside this one.
    fn in_time<T>(work: impl FnOnce() -> T) -> T {
        let started = std::time::Instant::now();
        let result = work();
        assert!(started.elapsed() < std::time::Duration::from_secs(10));
        result
    }

    #[test]
    fn schemas_that_recur_and_fan_out_end_in_time() {
        // Each level of the arguments doubles what applies to the next.
        let twice =
            json!([{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}]);
        let bombs = ["allOf", "anyOf", "oneOf"].map(|key| json!({key: twice}));
        let others = [
            json!({"properties": {"x": {"$ref": "#"}}, "patternProperties": {"^x": {"$ref": "#"}}}),
            json!({"if": {"properties": {"x": {"$ref": "#"}}}, "else": {"not": {"properties": {"x": {"$ref": "#"}}}}}),
            json!({"dependentSchemas": {"x": {"additionalProperties": {"$ref": "#"}}}, "properties": {"x": {"$ref": "#"}}}),
            json!({"unevaluatedProperties": false, "anyOf": [{"properties": {"x": {"$ref": "#"}}}]}),
        ];
        for bomb in bombs.into_iter().chain(others) {
            in_time(|| {
                let schema = Schema::compile(&bomb).unwrap();
                let told = check(&schema, nested(100)).unwrap_err();
                assert!(told.contains("steps"), "{bomb}: {told}");
                // What people send is checked as ever.
                let told = check(&schema, nested(5));
                assert!(!told.is_err_and(|told| told.contains("steps")), "{bomb}");
            });
        }
    }

    #[test]
    fn schemas_that_fan_out_without_recursion_end_in_time() {
        let mut bomb = json!({"$defs": {"d0": {}}, "$ref": "#/$defs/d60"});
        for n in 1..=60 {
            let below = json!({"properties": {"x": {"$ref": format!("#/$defs/d{}", n - 1)}}});
            bomb["$defs"][format!("d{n}")] = json!({"allOf": [below, below]});
        }
        let told = in_time(|| check(&Schema::compile(&bomb).unwrap(), nested(60)).unwrap_err());
        assert!(told.contains("steps"), "{told}");
        // Many parts for many items.
        let parts: Vec<Value> = (0..5_000).map(|n| json!({"minimum": -n})).collect();
        let schema =
            Schema::compile(&json!({"properties": {"x": {"items": {"allOf": parts}}}})).unwrap();
        let many: Vec<Value> = (0..30_000).map(Value::from).collect();
        let told = in_time(|| check(&schema, json!({"x": many})).unwrap_err());
        assert!(told.contains("steps"), "{told}");
        assert!(check(&schema, json!({"x": [1, 2, 3]})).is_ok());
        // Lists of values to compare with, and long texts for long patterns.
        let values: Vec<Value> = (0..30_000).map(Value::from).collect();
        let schema =
            Schema::compile(&json!({"properties": {"x": {"items": {"enum": values}}}})).unwrap();
        let last = vec![json!(29_999); 10_000];
        assert!(in_time(|| check(&schema, json!({"x": last})).is_err()));
        let schema =
            Schema::compile(&json!({"properties": {"x": {"pattern": "^(a|b)*a(a|b){5000}$"}}}));
        let long = "ab".repeat(100_000);
        assert!(in_time(
            || schema.is_err() || check(&schema.unwrap(), json!({"x": long})).is_err()
        ));
    }

    #[test]
    fn long_chains_of_parts_are_refused() {
        let mut chain = json!({"$defs": {}, "$ref": "#/$defs/d60"});
        for n in 0..=60 {
            let mut part = json!({});
            if n > 0 {
                part = json!({"$ref": format!("#/$defs/d{}", n - 1)});
            }
            for _ in 0..30 {
                part = json!({"not": part});
            }
            chain["$defs"][format!("d{n}")] = part;
        }
        assert!(refused(chain).contains("lead to one another"));
    }

    #[test]
    fn many_references_compile_in_time() {
        // Every definition refers to every other.
        let refs: Vec<Value> = (0..30)
            .map(|n| json!({"$ref": format!("#/$defs/d{n}")}))
            .collect();
        let mut schema = json!({"$defs": {}, "$ref": "#/$defs/d0"});
        for n in 0..30 {
            let members: serde_json::Map<String, Value> = refs
                .iter()
                .enumerate()
                .map(|(m, to)| (format!("p{m}"), to.clone()))
                .collect();
            schema["$defs"][format!("d{n}")] = json!({"properties": members});
        }
        let schema = in_time(|| Schema::compile(&schema).unwrap());
        assert!(check(&schema, json!({"p1": {"p2": {"p3": {}}}})).is_ok());
    }

    #[test]
    fn ordinary_recursion_is_checked_whatever_its_depth() {
        let tree = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "x": {"$ref": "#"}, "rest": {"type": "array", "items": {"$ref": "#"}}},
            "additionalProperties": false,
        });
        let schema = Schema::compile(&tree).unwrap();
        assert!(check(&schema, nested(120)).is_ok());
        let wide: Vec<Value> = (0..10_000)
            .map(|n| json!({"name": n.to_string()}))
            .collect();
        assert!(check(&schema, json!({"rest": wide})).is_ok());
        assert!(
            check(&schema, json!({"rest": [{"name": 1}]}))
                .unwrap_err()
                .contains("/rest/0/name")
        );
    }
}
