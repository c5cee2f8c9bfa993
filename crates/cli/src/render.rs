//! Diagnostics for people: annotated source on standard error.
//!
//! Nothing here decides what is an error.

use crate::excerpt::excerpts;
use crate::printable::printable;
use crate::problem::has_place;
use annotate_snippets::{Group, Level, Renderer};
use anstream::{AutoStream, ColorChoice};
use horngate::{Code, Diagnostic, Severity, Sources};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, StderrLock, Write};

/// How many diagnostics of one severity and code are shown; machines get them all.
const MAX_OF_A_KIND: usize = 50;

/// Standard error, which loses colour unless it is a terminal that wants it.
fn stderr() -> BufWriter<AutoStream<StderrLock<'static>>> {
    let raw = io::stderr();
    let choice = if raw.is_terminal() {
        ColorChoice::Auto
    } else {
        ColorChoice::Never
    };
    BufWriter::new(AutoStream::new(raw.lock(), choice))
}

/// Tells people one line on standard error. If that is gone there is nobody to tell.
pub(crate) fn tell(line: &str) {
    let mut out = stderr();
    let _ = writeln!(out, "{}", printable(line)).and_then(|()| out.flush());
}

/// Tells people each diagnostic with its source, on standard error; of one kind only so many as one may read.
pub(crate) fn tell_diagnostics(sources: &Sources, found: &[Diagnostic]) {
    let (renderer, mut out) = (Renderer::styled(), stderr());
    let mut told: BTreeMap<(Severity, Code), usize> = BTreeMap::new();
    let mut written = Ok(());
    for diagnostic in found {
        let count = told
            .entry((diagnostic.severity, diagnostic.code))
            .or_default();
        *count += 1;
        if *count <= MAX_OF_A_KIND && written.is_ok() {
            let group = group(sources, diagnostic);
            written = writeln!(out, "{}\n", renderer.render(&[group]));
        }
    }
    for ((severity, code), count) in told {
        if let Some(more @ 1..) = count.checked_sub(MAX_OF_A_KIND) {
            let _ = writeln!(
                out,
                "{severity}[{code}]: {more} more of the kind {}",
                code.kind()
            );
        }
    }
    let _ = written.and_then(|()| out.flush());
}

fn group<'s>(sources: &'s Sources, found: &Diagnostic) -> Group<'s> {
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(printable(&found.message))
        .id(found.code.as_str());
    let mut group = Group::with_title(title);
    if has_place(found) {
        for excerpt in excerpts(sources, found) {
            group = excerpt.add_to(group);
        }
    }
    match &found.help {
        Some(help) => group.element(Level::HELP.message(printable(help))),
        None => group,
    }
}
