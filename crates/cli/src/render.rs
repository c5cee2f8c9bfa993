//! Diagnostics for people: annotated source on standard error.
//!
//! Nothing here decides what is an error.

use crate::printable::printable;
use crate::problem::has_place;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use anstream::{AutoStream, ColorChoice};
use horngate::{Diagnostic, Severity, Source, Sources, Span};
use std::io::{self, BufWriter, IsTerminal, StderrLock, Write};
use std::ops::Range;

/// Labels further away than this many lines get an excerpt of their own.
const NEARBY_LINES: usize = 40;

/// Longer excerpts are not shown: the place alone says more.
const MAX_EXCERPT_BYTES: usize = 8 << 10;

/// Standard error, which loses colour unless it is a terminal that wants it.
pub(crate) fn stderr() -> BufWriter<AutoStream<StderrLock<'static>>> {
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

/// Writes each diagnostic with its source, in colour.
pub(crate) fn diagnostics<'d>(
    out: &mut impl Write,
    sources: &Sources,
    found: impl IntoIterator<Item = &'d Diagnostic>,
) -> io::Result<()> {
    let renderer = Renderer::styled();
    for diagnostic in found {
        let group = group(sources, diagnostic);
        writeln!(out, "{}\n", renderer.render(&[group]))?;
    }
    Ok(())
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

/// A stretch of one source with marks in it.
struct Excerpt<'s> {
    sources: &'s Sources,
    source: &'s Source,
    marks: Vec<Mark>,
}

struct Mark {
    kind: AnnotationKind,
    span: Span,
    label: Option<String>,
}

fn excerpts<'s>(sources: &'s Sources, found: &Diagnostic) -> Vec<Excerpt<'s>> {
    let mut list: Vec<Excerpt<'s>> = Vec::new();
    let mark = |kind, span, label: &str| Mark {
        kind,
        span,
        label: (!label.is_empty()).then(|| printable(label)),
    };
    let primary = mark(AnnotationKind::Primary, found.span, "");
    let labels = found
        .labels
        .iter()
        .map(|label| mark(AnnotationKind::Context, label.span, &label.message));
    for mark in std::iter::once(primary).chain(labels) {
        let Some(source) = sources.get(mark.span.source) else {
            continue;
        };
        let line = sources.start(mark.span).line;
        let near = list.iter_mut().find(|excerpt| {
            excerpt.marks.first().is_some_and(|first| {
                first.span.source == mark.span.source
                    && sources.start(first.span).line.abs_diff(line) <= NEARBY_LINES
            })
        });
        match near {
            Some(excerpt) => excerpt.marks.push(mark),
            None => list.push(Excerpt {
                sources,
                source,
                marks: vec![mark],
            }),
        }
    }
    list
}

impl<'s> Excerpt<'s> {
    fn add_to(self, group: Group<'s>) -> Group<'s> {
        let text = self.source.text();
        let ranges: Vec<Range<usize>> = self
            .marks
            .iter()
            .map(|mark| clamp(text, mark.span))
            .collect();
        let start = ranges.iter().map(|range| range.start).min().unwrap_or(0);
        let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
        let first = text
            .get(..start)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        let last = text
            .get(end..)
            .and_then(|after| after.find('\n'))
            .map_or(text.len(), |at| end + at);
        let first = match text.get(first..last) {
            Some(window) if window.starts_with('\u{feff}') && start > first => {
                first + '\u{feff}'.len_utf8()
            }
            _ => first,
        };
        let path = printable(self.source.name());
        let place = self.marks.first().map(|mark| self.sources.start(mark.span));
        let line = place.map_or(1, |place| place.line);
        let window = match text.get(first..last) {
            Some(window) if window.len() <= MAX_EXCERPT_BYTES => window,
            _ => {
                let column = place.map_or(1, |place| place.column);
                return group.element(Origin::path(path).line(line).char_column(column));
            }
        };
        let before = text
            .get(first..ranges.first().map_or(first, |range| range.start))
            .map_or(0, |before| before.matches('\n').count());
        let annotations = self.marks.into_iter().zip(ranges).map(|(mark, range)| {
            let annotation: Annotation<'s> = mark
                .kind
                .span(range.start.saturating_sub(first)..range.end.saturating_sub(first));
            match mark.label {
                Some(label) => annotation.label(label),
                None => annotation,
            }
        });
        group.element(
            Snippet::source(window)
                .path(path)
                .line_start(line.saturating_sub(before).max(1))
                .annotations(annotations),
        )
    }
}

/// The span as bytes of the text, within it and between characters; one over many lines ends with its first.
fn clamp(text: &str, span: Span) -> Range<usize> {
    let within = |at: u32| {
        let mut at = (at as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (within(span.start), within(span.end).max(within(span.start)));
    let covered = text.get(start..end).unwrap_or("");
    match covered.lines().nth(NEARBY_LINES).and(covered.find('\n')) {
        Some(line) => start..start + line,
        None => start..end,
    }
}
