//! Source texts and positions in them.
//!
//! Nothing here reads files: the caller brings the text and the name to show for it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The longest source accepted, in bytes: positions are 32-bit.
pub const MAX_SOURCE_BYTES: usize = 1 << 31;

/// Names one source of a [`Sources`] set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub(crate) u32);

impl SourceId {
    /// The position of the source in its set, counted from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A range of bytes in one source.
///
/// ```
/// use horngate::{Program, Source};
/// let program = Program::parse([Source::new("a.pl", "p(a).\n")]);
/// let span = program.clauses().next().unwrap().span;
/// assert_eq!(program.sources().text(span), "p(a).");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The source that the range lies in.
    pub source: SourceId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `source`.
    #[must_use]
    pub fn new(source: SourceId, start: u32, end: u32) -> Self {
        Self { source, start, end }
    }

    /// The smallest range that covers both; `other` must lie in the same source.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(
            self.source,
            self.start.min(other.start),
            self.end.max(other.end),
        )
    }

    /// Moves the range, as if `by` bytes stood before it.
    pub(crate) fn shift(&mut self, by: u32) {
        self.start = self.start.saturating_add(by);
        self.end = self.end.saturating_add(by);
    }

    /// The range as indices into the source's text.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A rule text with the name that diagnostics show for it.
///
/// ```
/// let source = horngate::Source::new("governance.pl", "may_execute_tool('U:Qa', tool_repl).\n");
/// assert_eq!(source.name(), "governance.pl");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    digest: Option<[u8; 32]>,
    invalid_utf8: Option<u32>,
    /// The text was kept.
    kept: bool,
}

impl Source {
    /// A source from text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            name: name.into(),
            digest: Some(sha256(text.as_bytes())),
            text,
            invalid_utf8: None,
            kept: true,
        }
    }

    /// A source from bytes as read from a file. Bytes that are not UTF-8 are kept as a fault of the
    /// source: parsing it gives the diagnostic `HG0108`, so a set that contains it is never loaded.
    ///
    /// ```
    /// use horngate::{Program, Source};
    /// let program = Program::parse([Source::from_bytes("latin1.pl", b"p('\xe9').".to_vec())]);
    /// assert_eq!(program.diagnostics()[0].code.as_str(), "HG0108");
    /// ```
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        let digest = sha256(&bytes);
        let (text, invalid_utf8) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let at = u32::try_from(error.utf8_error().valid_up_to()).unwrap_or(u32::MAX);
                (
                    String::from_utf8_lossy(error.as_bytes()).into_owned(),
                    Some(at),
                )
            }
        };
        Self {
            name: name.into(),
            text,
            digest: Some(digest),
            invalid_utf8,
            kept: true,
        }
    }

    /// A source whose text was read and not kept.
    pub(crate) fn without_text(name: String, digest: Option<[u8; 32]>) -> Self {
        Self {
            name,
            text: String::new(),
            digest,
            invalid_utf8: None,
            kept: false,
        }
    }

    /// Whether it had a text that was not kept.
    pub(crate) fn text_is_missing(&self) -> bool {
        !self.kept && self.digest != Some(sha256(b""))
    }

    /// The name to show.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text was kept; it is not when rules are loaded piece by piece ([`crate::Loader`]).
    #[must_use]
    pub fn has_text(&self) -> bool {
        self.kept
    }

    /// The SHA-256 digest of the source's bytes; `None` if it was loaded without one
    /// ([`crate::Loader::without_digests`]).
    #[must_use]
    pub fn digest(&self) -> Option<[u8; 32]> {
        self.digest
    }

    /// Whether both are known to have the same bytes.
    pub(crate) fn is_same_text(&self, other: &Self) -> bool {
        self.digest.is_some() && self.digest == other.digest
    }

    /// Where the first byte stands that is not UTF-8, if there is one.
    #[must_use]
    pub(crate) fn invalid_utf8(&self) -> Option<u32> {
        self.invalid_utf8
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).into()
}

/// A place for people: both count from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The sources of one rulebase, in the order given.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Shared, since errors carry their sources and texts may be long.
    list: Vec<Arc<Source>>,
    /// For each source the byte at which each line starts.
    lines: Vec<Arc<[u32]>>,
}

impl Sources {
    /// The set of the sources given.
    pub fn new(sources: impl IntoIterator<Item = Source>) -> Self {
        let mut set = Self::default();
        for source in sources {
            set.push(source);
        }
        set
    }

    /// Adds a source and names it.
    pub fn push(&mut self, source: Source) -> SourceId {
        let id = SourceId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        let starts = std::iter::once(0)
            .chain(
                source
                    .text
                    .bytes()
                    .enumerate()
                    .filter(|(_, byte)| *byte == b'\n')
                    .map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)),
            )
            .collect();
        self.lines.push(starts);
        self.list.push(Arc::new(source));
        id
    }

    /// The source that `id` names, if it is of this set.
    #[must_use]
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.list.get(id.index()).map(|source| &**source)
    }

    /// All sources, in order.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        let list = self.list.iter().map(|source| &**source);
        (0..).map(SourceId).zip(list)
    }

    /// The name of the source that `span` lies in; empty if it is not of this set.
    #[must_use]
    pub fn name(&self, span: Span) -> &str {
        self.get(span.source).map_or("", Source::name)
    }

    /// The text that `span` covers; empty if it is not of this set.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.get(span.source)
            .and_then(|source| source.text.get(span.range()))
            .unwrap_or("")
    }

    /// Whether `span` starts a line.
    pub(crate) fn starts_line(&self, span: Span) -> bool {
        self.lines
            .get(span.source.index())
            .is_some_and(|starts| starts.binary_search(&span.start).is_ok())
    }

    /// The line and column at which `span` starts.
    #[must_use]
    pub fn start(&self, span: Span) -> LineColumn {
        self.position(span.source, span.start)
    }

    /// The line and column just behind the last character of `span`.
    #[must_use]
    pub fn end(&self, span: Span) -> LineColumn {
        self.position(span.source, span.end)
    }

    /// The places at which spans start, in one sweep: many of them may lie in one long line.
    pub(crate) fn starts(&self, spans: &[Span]) -> Vec<LineColumn> {
        let mut order: Vec<(Span, usize)> = spans.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut places = vec![LineColumn { line: 1, column: 1 }; spans.len()];
        let mut last: Option<(Span, LineColumn)> = None;
        for (span, at) in order {
            let text = self.get(span.source).map_or("", Source::text);
            let between = last
                .filter(|(before, _)| before.source == span.source)
                .and_then(|(before, place)| {
                    Some((place, text.get(before.start as usize..span.start as usize)?))
                })
                .filter(|(_, between)| !between.contains('\n'));
            let place = match between {
                Some((place, between)) => LineColumn {
                    column: place.column + columns(between),
                    ..place
                },
                None => self.start(span),
            };
            if let Some(slot) = places.get_mut(at) {
                *slot = place;
            }
            last = Some((span, place));
        }
        places
    }

    fn position(&self, id: SourceId, at: u32) -> LineColumn {
        let starts = self.lines.get(id.index()).map_or(&[][..], |lines| lines);
        let line = starts.partition_point(|start| *start <= at).max(1);
        let start = starts.get(line - 1).copied().unwrap_or(0);
        let column = self
            .get(id)
            .and_then(|source| source.text.get(start as usize..at as usize))
            .map_or(0, columns);
        LineColumn {
            line,
            column: column + 1,
        }
    }
}

/// How many columns a text takes; a byte order mark takes none.
fn columns(text: &str) -> usize {
    text.chars().filter(|c| *c != '\u{feff}').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_over_spans_finds_the_places_that_single_looks_find() {
        let sources = Sources::new([
            Source::new("a", "\u{feff}é(b). é(c). d.\r\nq('x').   r."),
            Source::new("b", ""),
        ]);
        let mut spans = Vec::new();
        for source in [0, 1, 2] {
            for start in [30, 0, 1, 3, 4, 9, 10, 17, 18, 20, 21, 22, 32, 99] {
                spans.push(Span::new(SourceId(source), start, start + 1));
            }
        }
        let single: Vec<LineColumn> = spans.iter().map(|span| sources.start(*span)).collect();
        let boundary = |span: &Span| {
            let text = sources.get(span.source).map_or("", Source::text);
            text.is_char_boundary(span.start as usize)
        };
        for ((span, swept), single) in spans.iter().zip(sources.starts(&spans)).zip(single) {
            if boundary(span) {
                assert_eq!(swept, single, "{span:?}");
            }
        }
    }

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let sources = Sources::new([Source::new("a", "é(b).\r\nq('x').")]);
        let id = SourceId(0);
        let at = |start, end| {
            (
                sources.start(Span::new(id, start, end)).to_string(),
                sources.end(Span::new(id, start, end)).to_string(),
            )
        };
        assert_eq!(at(0, 2), ("1:1".into(), "1:2".into()));
        assert_eq!(at(3, 4), ("1:3".into(), "1:4".into()));
        assert_eq!(at(8, 9), ("2:1".into(), "2:2".into()));
        assert_eq!(at(100, 100).0, "2:1");
    }
}
