//! The lines around clauses: what stands before and behind them, and how they end.
//!
//! Nothing here knows what a clause says.

/// What may stand in a line besides clauses and comments.
pub(super) const BLANK: [char; 5] = [' ', '\t', '\r', '\u{b}', '\u{c}'];

/// What stands before a place in its line, if it is blank.
pub(super) fn indent(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let start = match before.rfind('\n') {
        Some(end) => end + 1,
        // A byte order mark stands before the first line.
        None => before.len() - before.trim_start_matches('\u{feff}').len(),
    };
    let line = before.get(start..)?;
    line.trim_matches(BLANK).is_empty().then_some(line)
}

/// Where the next line starts, or the text ends, if nothing but comments stands before that.
pub(super) fn rest_of_line(text: &str, at: usize) -> Option<usize> {
    let mut rest = text.get(at..)?;
    loop {
        rest = rest.trim_start_matches(BLANK);
        if rest.is_empty() || rest.starts_with(['%', '\n']) {
            let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
            return Some(text.len() - rest.len() + length);
        }
        let (comment, behind) = rest.strip_prefix("/*")?.split_once("*/")?;
        if comment.contains('\n') {
            return None;
        }
        rest = behind;
    }
}

/// How the line ends that ends at a place.
pub(super) fn line_end(text: &str, at: usize) -> &'static str {
    match text.get(..at) {
        Some(before) if before.ends_with("\r\n") => "\r\n",
        _ => "\n",
    }
}

/// How lines end: as the first one does.
pub(super) fn line_ends(text: &str) -> &'static str {
    text.find('\n').map_or("\n", |end| line_end(text, end + 1))
}

/// How many characters a text has.
pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}

/// The line in which a place is, from 1.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.matches('\n').count() + 1
}
