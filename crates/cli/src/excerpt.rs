//! The stretches of source that a diagnostic shows, with its marks in them.
//!
//! Nothing here shows more than a screen of text, however long a line or a span is.

use crate::printable::{is_hidden, printable};
use annotate_snippets::{Annotation, AnnotationKind, Group, Origin, Snippet};
use horngate::{Diagnostic, Source, Sources, Span};
use std::borrow::Cow;
use std::ops::Range;

/// Labels further away than this many lines get an excerpt of their own.
const NEARBY_LINES: usize = 40;

/// Longer excerpts are not shown: the place alone says more.
const MAX_BYTES: usize = 8 << 10;

/// A stretch of one source with at least one mark in it.
pub(crate) struct Excerpt<'s> {
    source: &'s Source,
    marks: Vec<Mark>,
}

struct Mark {
    kind: AnnotationKind,
    /// In bytes of the source.
    range: Range<usize>,
    line: usize,
    column: usize,
    label: Option<String>,
}

/// The excerpts for the place and the labels of a diagnostic; those that lie near each other share one.
pub(crate) fn excerpts<'s>(sources: &'s Sources, found: &Diagnostic) -> Vec<Excerpt<'s>> {
    let mut list: Vec<Excerpt<'s>> = Vec::new();
    let place = (AnnotationKind::Primary, found.span, "");
    let labels = found
        .labels
        .iter()
        .map(|label| (AnnotationKind::Context, label.span, &*label.message));
    for (kind, span, label) in std::iter::once(place).chain(labels) {
        let Some(source) = sources.get(span.source) else {
            continue;
        };
        let start = sources.start(span);
        let mark = Mark {
            kind,
            range: clamp(source.text(), span),
            line: start.line,
            column: start.column,
            label: (!label.is_empty()).then(|| printable(label)),
        };
        match list
            .iter_mut()
            .find(|excerpt| excerpt.is_near(source, &mark))
        {
            Some(excerpt) => excerpt.marks.push(mark),
            None => list.push(Excerpt {
                source,
                marks: vec![mark],
            }),
        }
    }
    list
}

impl<'s> Excerpt<'s> {
    fn is_near(&self, source: &Source, mark: &Mark) -> bool {
        std::ptr::eq(self.source, source)
            && self
                .marks
                .iter()
                .all(|other| other.line.abs_diff(mark.line) <= NEARBY_LINES)
    }

    /// Adds the excerpt to what is rendered.
    pub(crate) fn add_to(self, group: Group<'s>) -> Group<'s> {
        let path = printable(self.source.name());
        let Range { start, end } = self.lines();
        let text = match self.source.text().get(start..end) {
            Some(text) if text.len() <= MAX_BYTES => visible(text),
            _ => {
                let origin = Origin::path(path);
                return group.element(match self.marks.first() {
                    Some(mark) => origin.line(mark.line).char_column(mark.column),
                    None => origin,
                });
            }
        };
        let first_line = self.marks.iter().map(|mark| mark.line).min();
        let length = text.len();
        let annotations = self.marks.into_iter().map(|mark| {
            let within = |at: usize| at.saturating_sub(start).min(length);
            let range = within(mark.range.start)..within(mark.range.end);
            let annotation: Annotation<'s> = mark.kind.span(range);
            match mark.label {
                Some(label) => annotation.label(label),
                None => annotation,
            }
        });
        group.element(
            Snippet::source(text)
                .path(path)
                .line_start(first_line.unwrap_or(1))
                .annotations(annotations),
        )
    }

    /// The bytes of the lines that have a mark, and of those between.
    fn lines(&self) -> Range<usize> {
        let text = self.source.text();
        let ranges = || self.marks.iter().map(|mark| &mark.range);
        let start = ranges().map(|range| range.start).min().unwrap_or(0);
        let end = ranges().map(|range| range.end).max().unwrap_or(0);
        let before = text.get(..start).unwrap_or("");
        let first = match before.rfind('\n') {
            Some(at) => at + 1,
            // The columns do not count a byte order mark.
            None if before.starts_with('\u{feff}') => '\u{feff}'.len_utf8(),
            None => 0,
        };
        let after = text.get(end..).unwrap_or("");
        first..after.find('\n').map_or(text.len(), |at| end + at)
    }
}

/// The text without a carriage return at its end, and with a stand-in as long for each hidden character.
fn visible(text: &str) -> Cow<'_, str> {
    let text = text.strip_suffix('\r').unwrap_or(text);
    // ASCII is the renderer's own concern.
    let hides = |c: char| !c.is_ascii() && is_hidden(c);
    if !text.contains(hides) {
        return Cow::Borrowed(text);
    }
    let stand_in = |c| match char::len_utf8(c) {
        _ if !hides(c) => c,
        2 => '\u{b7}',
        3 => '\u{fffd}',
        _ => '\u{1f6ab}',
    };
    Cow::Owned(text.chars().map(stand_in).collect())
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
    let start = within(span.start);
    let end = within(span.end).max(start);
    let covered = text.get(start..end).unwrap_or("");
    match covered.lines().nth(NEARBY_LINES).and(covered.find('\n')) {
        Some(line) => start..start + line,
        None => start..end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use horngate::SourceId;

    #[test]
    fn what_is_hidden_gets_a_stand_in_as_long() {
        let text = "a\u{ad}b\u{200b}c\u{e0041}d\u{301}\r";
        let shown = visible(text);
        assert_eq!(shown, "a\u{b7}b\u{fffd}c\u{1f6ab}d\u{301}");
        assert_eq!(shown.len() + 1, text.len());
    }

    #[test]
    fn a_span_is_cut_to_the_text_and_to_its_first_line() {
        let at = |text: &str, start, end| clamp(text, Span::new(SourceId::default(), start, end));
        assert_eq!(at("p(é).", 2, 3), 2..2);
        assert_eq!(at("p.", 1, 99), 1..2);
        assert_eq!(at("p.", 7, 3), 2..2);
        assert_eq!(at("p\nq.", 0, 4), 0..4);
        assert_eq!(at(&"p\n".repeat(100), 0, 200), 0..1);
    }
}
