//! Text for people, in which nothing hides.
//!
//! Nothing here is left out or shortened.

use std::fmt::Write as _;

/// The text with every character that does not show, or changes how others show, as an escape.
///
/// ```
/// assert_eq!(horngate_gate::visible("rm\u{202e}txt\u{200b}"), "rm\\u{202e}txt\\u{200b}");
/// assert_eq!(horngate_gate::visible("zwölf €"), "zwölf €");
/// ```
#[must_use]
pub fn visible(text: &str) -> String {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Controls, spaces other than U+0020, what is invisible or turns the direction of text, private use and unassigned
/// planes.
fn hides(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(u32::from(c),
            0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
            | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x2800 | 0x3164
            | 0xe000..=0xf8ff | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
            | 0x13430..=0x1345f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..)
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_hides() {
        for c in [
            '\n',
            '\r',
            '\t',
            '\u{1b}',
            '\u{7f}',
            '\u{a0}',
            '\u{ad}',
            '\u{200d}',
            '\u{2066}',
            '\u{3000}',
            '\u{feff}',
            '\u{e0041}',
            '\u{fe0f}',
            '\u{115f}',
        ] {
            assert!(visible(&c.to_string()).starts_with("\\u{"), "{c:?}");
        }
    }
}
