//! The canonical text of a value (RFC 8785).
//!
//! Nothing here fails: a value that was read has only numbers that can be written.

use serde_json::{Map, Number, Value};
use std::fmt::Write as _;

/// Appends the canonical text of a value.
pub(crate) fn write(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => write_number(text, number),
        Value::String(string) => write_string(text, string),
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
        Value::Object(map) => write_object(text, map),
    }
}

fn write_object(text: &mut String, map: &Map<String, Value>) {
    write_members(text, map.iter());
}

fn write_members<'v>(
    text: &mut String,
    members: impl Iterator<Item = (&'v String, &'v Value)> + Clone,
) {
    // A map is in the order of code points, which differs from that of UTF-16 only beyond U+D7FF; but where another crate
    // turns on `preserve_order` of serde_json, it is in that of the text.
    let keys = members.clone().map(|(key, _)| key);
    let as_they_are = keys.clone().all(|key| key.is_ascii()) && keys.is_sorted();
    let mut entries: Vec<(&String, &Value)> = Vec::new();
    if !as_they_are {
        entries = members.clone().collect();
        entries.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    }
    text.push('{');
    let mut first = true;
    let mut member = |key: &String, value: &Value| {
        if !std::mem::take(&mut first) {
            text.push(',');
        }
        write_string(text, key);
        text.push(':');
        write(text, value);
    };
    match as_they_are {
        true => members.for_each(|(key, value)| member(key, value)),
        false => entries
            .into_iter()
            .for_each(|(key, value)| member(key, value)),
    }
    text.push('}');
}

fn write_number(text: &mut String, number: &Number) {
    if let Some(whole) = number.as_u64() {
        write_whole(text, whole);
    } else if let (None, Some(float)) = (number.as_i64(), number.as_f64()) {
        let mut buffer = ryu_js::Buffer::new();
        text.push_str(buffer.format(float));
    } else {
        let _ = write!(text, "{number}");
    }
}

/// Appends a whole number, in a fraction of the time that formatting takes.
pub(crate) fn write_whole(text: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut used = 0;
    for slot in digits.iter_mut().rev() {
        *slot = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        used += 1;
        if number == 0 {
            break;
        }
    }
    let shown = digits.get(digits.len() - used..).unwrap_or_default();
    text.push_str(std::str::from_utf8(shown).unwrap_or_default());
}

fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Appends a string in quotes.
pub(crate) fn write_string(text: &mut String, string: &str) {
    text.push('"');
    let mut rest = string;
    // Most strings are plain; to look at all bytes is faster than to stop at the first that is not.
    let plain = !rest.bytes().fold(false, |any, byte| any | is_escaped(byte));
    if plain {
        text.push_str(string);
        text.push('"');
        return;
    }
    // Only ASCII is escaped, so that every cut is between characters.
    while let Some((plain, escaped, after)) = rest.bytes().position(is_escaped).and_then(|at| {
        let byte = rest.as_bytes().get(at)?;
        Some((rest.get(..at)?, *byte, rest.get(at + 1..)?))
    }) {
        text.push_str(plain);
        match escaped {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            0x08 => text.push_str("\\b"),
            b'\t' => text.push_str("\\t"),
            b'\n' => text.push_str("\\n"),
            0x0c => text.push_str("\\f"),
            b'\r' => text.push_str("\\r"),
            control => {
                let _ = write!(text, "\\u{control:04x}");
            }
        }
        rest = after;
    }
    text.push_str(rest);
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = Value> {
        prop_oneof![
            any::<i64>().prop_map(|n| Value::from(n % (1 << 53))),
            (-1e300_f64..1e300).prop_map(Value::from),
            (-1e-3_f64..1e-3).prop_map(Value::from),
            any::<f32>()
                .prop_filter("finite", |n| n.is_finite())
                .prop_map(Value::from),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            number(),
            any::<String>().prop_map(Value::from),
            "[\\x00-\\x7f]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let key = prop_oneof![
                any::<String>(),
                "[a-z\\\\\"\n]{0,3}",
                "[\u{d000}-\u{10ffff}]{0,3}"
            ];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Another implementation writes the same, and what is read back from the text is what it stands for.
        #[test]
        fn the_text_is_that_of_others_and_reads_back(value in value()) {
            let object = serde_json::json!({"v": value});
            let ours = Arguments::parse(&object.to_string());
            let theirs = serde_json_canonicalizer::to_string(&object).unwrap();
            // Whole numbers that readers round are refused.
            if let Ok(ours) = ours {
                prop_assert_eq!(ours.canonical(), &theirs);
                let back: Value = serde_json::from_str(ours.canonical()).unwrap();
                prop_assert_eq!(ours.value(), &back);
            }
        }
    }

    #[test]
    fn members_are_sorted_whatever_order_the_map_keeps() {
        let members: Vec<(String, Value)> = ["b", "\u{e000}", "a", "\u{10000}", "aa"]
            .into_iter()
            .map(|key| (key.to_owned(), Value::Null))
            .collect();
        let mut text = String::new();
        write_members(&mut text, members.iter().map(|(key, value)| (key, value)));
        let sorted = "{\"a\":null,\"aa\":null,\"b\":null,\"\u{10000}\":null,\"\u{e000}\":null}";
        assert_eq!(text, sorted);
    }

    #[test]
    fn whole_numbers_are_written_as_ever() {
        for number in [
            0,
            1,
            9,
            10,
            99,
            100,
            1_767_225_600_000,
            u64::MAX - 1,
            u64::MAX,
        ] {
            let mut text = String::new();
            write_whole(&mut text, number);
            assert_eq!(text, number.to_string());
        }
    }

    #[test]
    fn most_numbers_are_not_refused() {
        for n in [
            0.5,
            -0.0,
            1e-7,
            1e-6,
            123_456.789,
            f64::MIN_POSITIVE,
            9_007_199_254_740_991.0,
        ] {
            let text = format!("{{\"n\":{n:?}}}");
            let ours = Arguments::parse(&text).unwrap();
            let theirs = serde_json_canonicalizer::to_string(&serde_json::json!({"n": n})).unwrap();
            assert_eq!(ours.canonical(), theirs);
            let back: Value = serde_json::from_str(ours.canonical()).unwrap();
            assert_eq!(ours.value(), &back, "{n}");
        }
    }
}
