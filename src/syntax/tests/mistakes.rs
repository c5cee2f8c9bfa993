//! What the diagnostics say.

use super::parse_text;
use crate::source::{Source, Sources};
use std::fmt::Write;

/// One source a line, `\n` written so.
const SOURCES: &str = include_str!("mistakes.txt");

#[test]
fn every_mistake_is_told_with_what_to_type() {
    let mut out = String::new();
    for line in SOURCES.lines() {
        let text = line.replace("\\n", "\n");
        let places = Sources::new([Source::new("mistake.pl", text.as_str())]);
        writeln!(out, "{line}").unwrap();
        let found = parse_text(&text).diagnostics;
        assert!(!found.is_empty(), "{line} is accepted");
        for found in found {
            let (start, end) = (places.start(found.span), places.end(found.span));
            writeln!(out, "  {start}-{end} {} {}", found.code, found.message).unwrap();
            for label in found.labels {
                writeln!(out, "    {} {}", places.start(label.span), label.message).unwrap();
            }
            let help = found.help.unwrap_or_else(|| panic!("no help for {line}"));
            writeln!(out, "    help: {help}").unwrap();
            for text in [found.message, help] {
                assert!(
                    !text.ends_with('.') && !text.starts_with(char::is_uppercase),
                    "{text}"
                );
            }
        }
    }
    insta::assert_snapshot!(out);
}
