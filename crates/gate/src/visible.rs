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

/// The beginning of a text, for where the whole of it would be more than anybody reads.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A line in pieces that fit a screen. Those after the first begin with a mark, so that none looks like a line of its own.
pub(crate) fn folded(line: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = line.chars().collect();
    let (first, rest) = characters.split_at(WIDTH.min(characters.len()));
    let first: String = first.iter().collect();
    let rest: Vec<String> = rest
        .chunks(WIDTH - CONTINUED.len())
        .map(|piece| {
            std::iter::once(CONTINUED)
                .chain([&*piece.iter().collect::<String>()])
                .collect()
        })
        .collect();
    std::iter::once(first).chain(rest)
}

/// The characters of a line.
const WIDTH: usize = 76;
const CONTINUED: &str = "    | ";

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
    use super::{folded, shortened, visible};

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

    #[test]
    fn folded_lines_are_whole_and_marked() {
        for length in [0, 1, 75, 76, 77, 146, 147, 1000] {
            let line: String = ('a'..='z').cycle().take(length).collect();
            let pieces: Vec<String> = folded(&line).collect();
            assert!(pieces.iter().all(|piece| piece.len() <= 76), "{pieces:?}");
            let rest = pieces[1..]
                .iter()
                .map(|piece| piece.strip_prefix("    | ").unwrap());
            let whole: String = std::iter::once(&*pieces[0]).chain(rest).collect();
            assert_eq!(whole, line);
        }
    }

    #[test]
    fn shortened_texts_are_cut_between_characters() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöü", 2), "äö…");
    }
}
