//! The reader and printer as a whole.

mod mistakes;
mod print;
mod properties;
mod reading;

use super::{ClauseKind, Parsed, Term, TermKind, parse};
use crate::source::{Source, SourceId};

fn parse_text(text: &str) -> Parsed {
    parse(SourceId::default(), &Source::new("test.pl", text))
}

/// The term that `text`, an operand of a fact, is read as.
#[track_caller]
fn read(text: &str) -> Term {
    let wrapped = format!("f(({text} )).");
    let parsed = parse_text(&wrapped);
    assert_eq!(parsed.diagnostics, [], "{wrapped}");
    match parsed.clauses.into_iter().next().map(|clause| clause.kind) {
        Some(ClauseKind::Fact(Term {
            kind: TermKind::Compound(_, args),
            ..
        })) => args.into_iter().next().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// The codes and lines of the diagnostics.
fn findings(text: &str) -> Vec<(&'static str, usize)> {
    let line = |at: u32| {
        text.as_bytes()[..at as usize]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1
    };
    parse_text(text)
        .diagnostics
        .iter()
        .map(|found| (found.code.as_str(), line(found.span.start)))
        .collect()
}
