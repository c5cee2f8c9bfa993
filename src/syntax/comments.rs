//! Where comments stand, for those who read them.
//!
//! Nothing here changes how a text reads: to the reader of clauses comments are layout.

use super::lexer;
use crate::source::{SourceId, Span};

/// The line comments of a text, from the `%` to the end of the line.
pub(crate) fn line_comments(id: SourceId, text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut at = lexer::preamble(text);
    for token in lexer::tokens(id, text) {
        between(id, text, at, token.start, &mut found);
        at = token.end;
    }
    between(id, text, at, text.len(), &mut found);
    found
}

/// The comments between two tokens, where there is nothing but layout beside them.
fn between(id: SourceId, text: &str, start: usize, end: usize, found: &mut Vec<Span>) {
    let mut at = start;
    while let Some(rest) = text.get(at..end) {
        let Some(next) = rest.find(['%', '/']) else {
            return;
        };
        let rest = rest.get(next..).unwrap_or("");
        let length = if rest.starts_with('%') {
            let length = rest.find('\n').unwrap_or(rest.len());
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let (start, end) = (at + next, at + next + length);
            found.push(Span::new(id, offset(start), offset(end)));
            length
        } else {
            rest.find("*/").map_or(rest.len(), |close| close + 2)
        };
        at += next + length.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_line_comment_counts() {
        let text = "#!x % no\n% one\np('% no', \"% no\", 0'%). % two\r\n/* % no */ q(a /* x */ % three\n). /* % no\n*/";
        let found = line_comments(SourceId::default(), text);
        let texts: Vec<&str> = found
            .iter()
            .filter_map(|span| text.get(span.range()))
            .collect();
        assert_eq!(texts, ["% one", "% two\r", "% three"]);
    }
}
