//! Which characters make up a plain name, which a name of symbols, and which can be shown at all, as SWI-Prolog 9.0.4 has
//! it: it knows Unicode 14.
//!
//! Nothing here says what is read: the lexer accepts fewer names without quotes than are written without them.

use logos::Logos;

/// A stretch of characters of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
enum Shape {
    /// A name that needs no quotes.
    #[regex(
        r"[\p{ID_Start}&&\p{Age:14.0}--\p{Uppercase}][\p{ID_Continue}&&\p{Age:14.0}--[\u{b7}\u{200c}\u{200d}\u{30fb}\u{ff65}]]*",
        priority = 3
    )]
    Plain,
    /// A run of symbol characters.
    #[regex(
        r"[+\-*/\\\^<>=~:.?@#&$[[\p{S}\p{P}]&&\p{Age:14.0}--\p{ASCII}]]+",
        priority = 2
    )]
    Symbols,
}

/// A character of one kind. Every character has all the kinds whose class holds it, so one lexer cannot tell them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
enum Visible {
    /// Assigned, and neither a blank nor a control character.
    #[regex(r"[[\p{L}\p{M}\p{N}\p{S}\p{P}]&&\p{Age:14.0}--\u{2e2f}]")]
    Visible,
}

/// A character that can stand in a name behind its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Logos)]
enum Continues {
    #[regex(r"[\p{ID_Continue}&&\p{Age:14.0}--[\u{b7}\u{200c}\u{200d}\u{30fb}\u{ff65}]]")]
    Continues,
}

/// Whether SWI-Prolog writes the atom `name` without quotes.
pub(super) fn needs_no_quotes(name: &str) -> bool {
    match name {
        "[]" => false,
        "!" | ";" | "{}" | "\u{b2}" | "\u{b3}" | "\u{b9}" | "\u{bc}" | "\u{bd}" | "\u{be}" => true,
        "." => false,
        _ if name.starts_with("/*") => false,
        _ => {
            let mut shapes = Shape::lexer(name);
            matches!(shapes.next(), Some(Ok(_))) && shapes.span().len() == name.len()
        }
    }
}

/// Whether `c` is a symbol character.
pub(super) fn is_symbol(c: char) -> bool {
    Shape::lexer(c.encode_utf8(&mut [0; 4])).next() == Some(Ok(Shape::Symbols))
}

/// Whether `c` can stand in a plain name behind its first character.
pub(super) fn continues_name(c: char) -> bool {
    match c {
        ..'\u{80}' => c.is_ascii_alphanumeric() || c == '_',
        _ => matches!(
            Continues::lexer(c.encode_utf8(&mut [0; 4])).next(),
            Some(Ok(_))
        ),
    }
}

/// Whether `c` is written as it is inside quotes, blanks aside.
pub(super) fn is_visible(c: char) -> bool {
    match c {
        ..'\u{80}' => c.is_ascii_graphic(),
        _ => matches!(
            Visible::lexer(c.encode_utf8(&mut [0; 4])).next(),
            Some(Ok(_))
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts come from asking SWI-Prolog 9.0.4 how it writes each code point alone, behind `a`, behind `+` and in
    /// quotes. It has 4 more symbols, which start names too; it counts the soft hyphen as one that needs no quotes.
    #[test]
    fn characters_as_swi_prolog_writes_them() {
        let count = |holds: fn(char) -> bool| ('\0'..=char::MAX).filter(|c| holds(*c)).count();
        assert_eq!(count(is_symbol), 8_545 - 4);
        assert_eq!(count(continues_name), 135_071);
        assert_eq!(count(is_visible), 144_513 + 1);
        let plain = |c: char| needs_no_quotes(c.encode_utf8(&mut [0; 4]));
        assert_eq!(count(plain), 138_699 - 1);
    }
}
