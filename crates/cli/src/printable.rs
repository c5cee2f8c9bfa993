//! Text of others, made safe to show to people: what is invisible or moves the cursor is written as an escape.
//!
//! Nothing here is used for JSON, which has escapes of its own.

use std::fmt::{self, Write};

/// Shows a text with its control, invisible and bidirectional characters as `\u{202e}`.
///
/// Combining marks are left alone, as many scripts cannot be read without them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printable<'a>(pub(crate) &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                ' '..='~' => f.write_char(c)?,
                _ if is_hidden(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                _ => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// The text as [`Printable`] shows it.
pub(crate) fn printable(text: &str) -> String {
    Printable(text).to_string()
}

/// Whether a character shows nothing, or not what it is.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_is_visible_stays() {
        for text in ["U:Qa", "Zoë", "agent-1 [x]", "ผู้ใช้", "日本"] {
            assert_eq!(printable(text), text);
        }
    }

    #[test]
    fn what_is_hidden_shows() {
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(printable("\u{1b}[31m\n"), "\\u{1b}[31m\\n");
        assert_eq!(
            printable("x\u{200b}\u{a0}\u{e0041}"),
            "x\\u{200b}\\u{a0}\\u{e0041}"
        );
    }
}
