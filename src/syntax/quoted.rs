//! Quoted atoms, strings and escape sequences.
//!
//! Nothing here reads past the closing quote, and no escape is guessed: what SWI-Prolog does not read in
//! one way only is refused.

use super::lexer::{Place, Problem};
use super::numeral::shown;
use crate::diagnostic::Code;
use std::borrow::Cow;

/// What a quoted item was: its length in bytes with both quotes, and its unescaped text.
pub(super) struct Quoted<'s> {
    pub(super) length: usize,
    pub(super) text: Result<Cow<'s, str>, Problem>,
}

/// Reads the quoted item that `text` starts with.
pub(super) fn scan<'s>(text: &'s str, quote: char, place: Place) -> Quoted<'s> {
    let mut scanner = Scanner {
        text,
        at: quote.len_utf8(),
        plain: quote.len_utf8(),
        owned: None,
        problem: None,
        place,
    };
    let closed = scanner.run(quote);
    let result = if closed {
        match scanner.problem.take() {
            Some(problem) => Err(problem),
            None => Ok(scanner.finish()),
        }
    } else {
        // A bad escape sequence may be why the end was not seen.
        let escape = scanner.problem.take();
        Err(escape
            .filter(|problem| problem.0.code == Code::BadEscape)
            .unwrap_or_else(|| unterminated(quote, place)))
    };
    Quoted {
        length: scanner.at,
        text: result,
    }
}

fn unterminated(quote: char, place: Place) -> Problem {
    let what = match quote {
        '"' => "string",
        '`' => "back-quoted text",
        _ => "quoted atom",
    };
    place
        .problem(
            Code::UnterminatedQuote,
            0,
            1,
            format!("this {what} never ends"),
        )
        .help(format!(
            "close it with `{quote}`; inside it a quote is written twice"
        ))
}

struct Scanner<'s> {
    text: &'s str,
    /// The byte that is read next.
    at: usize,
    /// Where the stretch of plain text begins that is not yet in `owned`.
    plain: usize,
    /// The unescaped text so far, once it differs from the source.
    owned: Option<String>,
    /// The first problem.
    problem: Option<Problem>,
    place: Place,
}

impl<'s> Scanner<'s> {
    /// Reads up to and including the closing quote; false if there is none.
    fn run(&mut self, quote: char) -> bool {
        loop {
            self.skip_plain();
            let Some(c) = self.char_at(self.at) else {
                return false;
            };
            if c == quote {
                let after = self.at + 1;
                if self.char_at(after) == Some(quote) {
                    self.replace(after + 1, Some(quote));
                    continue;
                }
                if self.owned.is_some() {
                    self.flush();
                }
                self.at = after;
                return true;
            }
            match c {
                '\\' => self.escape(),
                '\n' | '\t' => self.at += 1,
                _ => {
                    if let Some(problem) = refused_character(c, self.at, self.place, true) {
                        self.problem.get_or_insert(problem);
                    }
                    self.at += c.len_utf8();
                }
            }
        }
    }

    /// Goes on to the next character that needs a look.
    fn skip_plain(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        let plain =
            |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'\'' | b'"' | b'`' | b'\\');
        self.at += rest.iter().take_while(|byte| plain(byte)).count();
    }

    fn escape(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or("");
        match escape(rest, self.at, self.place) {
            Ok((length, c)) => self.replace(self.at + length, c),
            Err(problem) => {
                self.problem.get_or_insert(problem);
                // Behind the backslash and what it escapes, lest a quote there end the item.
                let next = self.char_at(self.at + 1);
                self.at += 1 + next.map_or(0, char::len_utf8);
                if next == Some('x') {
                    self.skip_digits();
                }
            }
        }
    }

    /// Behind what looks like the rest of `\xHH\`.
    fn skip_digits(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        let digits = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        self.at += digits + usize::from(rest.get(digits) == Some(&b'\\'));
    }

    /// Takes `c` for the text from here to `end`.
    fn replace(&mut self, end: usize, c: Option<char>) {
        self.flush();
        if let Some(owned) = &mut self.owned {
            owned.extend(c);
        }
        self.at = end;
        self.plain = end;
    }

    fn flush(&mut self) {
        let stretch = self.text.get(self.plain..self.at).unwrap_or("");
        self.owned.get_or_insert_default().push_str(stretch);
        self.plain = self.at;
    }

    /// The text between the quotes, both of which are one byte long.
    fn finish(&mut self) -> Cow<'s, str> {
        match self.owned.take() {
            Some(owned) => Cow::Owned(owned),
            None => Cow::Borrowed(self.text.get(1..self.at - 1).unwrap_or("")),
        }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.chars().next()
    }
}

/// Reads the escape sequence that `text` starts with, which stands at `at` of the token: its length and
/// the character it means; none for a continuation line.
pub(super) fn escape(
    text: &str,
    at: usize,
    place: Place,
) -> Result<(usize, Option<char>), Problem> {
    let bad =
        |length: usize, message: String| place.problem(Code::BadEscape, at, at + length, message);
    let Some(c) = text.chars().nth(1) else {
        return Err(bad(1, "this escape sequence never ends".to_owned()));
    };
    let simple = match c {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' => '\u{1b}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        's' => ' ',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '`' => c,
        '\n' | '\r' => return continuation(text, at, place),
        'x' => return closed(text, 2, 16, at, place),
        '0'..='7' => return closed(text, 1, 8, at, place),
        'u' => return fixed(text, 4, at, place),
        'U' => return fixed(text, 8, at, place),
        _ => {
            return Err(bad(
                1 + c.len_utf8(),
                format!("`\\{}` is no escape sequence", c.escape_debug()),
            )
            .help("write `\\\\` for a backslash"));
        }
    };
    Ok((2, Some(simple)))
}

/// A backslash at the end of a line: adds nothing. SWI-Prolog drops blanks at the start of the next line, where ISO keeps
/// them, and misreads a quote or backslash there, so those are refused.
fn continuation(text: &str, at: usize, place: Place) -> Result<(usize, Option<char>), Problem> {
    let length = if text.starts_with("\\\r\n") { 3 } else { 2 };
    let carriage = length == 2 && text.starts_with("\\\r");
    let next = text.get(length..).and_then(|rest| rest.chars().next());
    let misread = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '\\');
    if carriage || next.is_some_and(misread) {
        return Err(place
            .problem(
                Code::BadEscape,
                at,
                at + 1,
                "a blank, quote or backslash behind a line that ends in a backslash",
            )
            .help("systems differ on these: start the next line with another character, or write `\\n` on one line"));
    }
    Ok((length, None))
}

/// `\xHH..\` and `\NNN\`: digits up to a closing backslash.
fn closed(
    text: &str,
    start: usize,
    radix: u32,
    at: usize,
    place: Place,
) -> Result<(usize, Option<char>), Problem> {
    let digits = text
        .get(start..)
        .unwrap_or("")
        .bytes()
        .take_while(|byte| char::from(*byte).is_digit(radix))
        .count();
    let end = start + digits;
    if digits == 0 {
        return Err(place
            .problem(
                Code::BadEscape,
                at,
                at + end,
                "no hexadecimal digits behind `\\x`",
            )
            .help("write `\\xHH\\`, closed by a backslash"));
    }
    let written = text.get(..end).unwrap_or("");
    if text.as_bytes().get(end) != Some(&b'\\') {
        return Err(place
            .problem(
                Code::BadEscape,
                at,
                at + end,
                format!(
                    "the escape sequence `{}` is not closed by a backslash",
                    shown(written)
                ),
            )
            .help(format!("write `{}\\`", shown(written))));
    }
    let code = u32::from_str_radix(text.get(start..end).unwrap_or(""), radix).ok();
    character(code, written, at, place).map(|c| (end + 1, Some(c)))
}

/// `\uXXXX` and `\UXXXXXXXX`.
fn fixed(
    text: &str,
    digits: usize,
    at: usize,
    place: Place,
) -> Result<(usize, Option<char>), Problem> {
    let end = 2 + digits;
    match text.get(2..end) {
        Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            let written = text.get(..end).unwrap_or("");
            character(u32::from_str_radix(hex, 16).ok(), written, at, place).map(|c| (end, Some(c)))
        }
        _ => {
            let head = text.get(..2).unwrap_or("");
            Err(place
                .problem(
                    Code::BadEscape,
                    at,
                    at + 2,
                    format!("`{head}` needs {digits} hexadecimal digits"),
                )
                .help("write `\\uXXXX`, `\\UXXXXXXXX` or `\\xHH\\`"))
        }
    }
}

fn character(code: Option<u32>, written: &str, at: usize, place: Place) -> Result<char, Problem> {
    let problem = |message: String| place.problem(Code::BadEscape, at, at + written.len(), message);
    let c = code.and_then(char::from_u32).ok_or_else(|| {
        problem(format!("`{}` names no character", shown(written)))
            .help("characters go up to 10FFFF, but for D800 to DFFF")
    })?;
    if is_bidirectional(c) {
        return Err(place.problem(
            Code::BidirectionalControl,
            at,
            at + written.len(),
            format!(
                "`{written}` is the bidirectional control character U+{:04X}",
                u32::from(c)
            ),
        ));
    }
    Ok(c)
}

/// Why `c`, at byte `at` of a token, is refused wherever it stands, if it is.
pub(super) fn refused_character(c: char, at: usize, place: Place, quoted: bool) -> Option<Problem> {
    let end = at + c.len_utf8();
    if is_bidirectional(c) {
        return Some(
            place
                .problem(
                    Code::BidirectionalControl,
                    at,
                    end,
                    format!("bidirectional control character U+{:04X}", u32::from(c)),
                )
                .help("remove it: it makes the text read otherwise than it is"),
        );
    }
    if c.is_control() {
        let problem = place.problem(
            Code::BadCharacter,
            at,
            end,
            format!("control character U+{:04X}", u32::from(c)),
        );
        return Some(match (c, quoted) {
            ('\r', true) => problem.help("write `\\n` or `\\r\\n` for a line end inside quotes"),
            (_, true) => problem.help(format!("write it as `\\x{:x}\\`", u32::from(c))),
            ('\r', false) => problem.help("end lines with LF or CR LF"),
            (_, false) => problem.help("remove it"),
        });
    }
    None
}

/// The characters that reorder the text around them on the screen.
pub(super) fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn read(text: &str) -> Result<String, (&'static str, u32)> {
        let place = Place {
            source: SourceId::default(),
            base: 0,
        };
        let item = scan(text, '\'', place);
        assert!(item.length <= text.len());
        item.text
            .map(Cow::into_owned)
            .map_err(|problem| (problem.0.code.as_str(), problem.0.span.start))
    }

    #[test]
    fn text_as_swi_prolog_reads_it() {
        for (text, value) in [
            ("'' ", ""),
            ("'a'b'", "a"),
            ("'don''t'", "don't"),
            (r"'\a\b\f\n\r\t\v\e\s'", "\u{7}\u{8}\u{c}\n\r\t\u{b}\u{1b} "),
            (r#"'\\\'\"\`'"#, "\\'\"`"),
            (r"'\101\\x41\\0\'", "AA\0"),
            (r"'\u00e9\U0001F512x'", "é🔒x"),
            ("'a\nb\tc'", "a\nb\tc"),
            ("'a\\\nb'", "ab"),
            ("'a\\\r\nb'", "ab"),
            ("'% /* . '", "% /* . "),
        ] {
            assert_eq!(read(text).as_deref(), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, code, at) in [
            ("'a", "HG0101", 0),
            ("'a''", "HG0101", 0),
            ("'a).\r\nb.", "HG0101", 0),
            (r"'a\'", "HG0101", 0),
            (r"'\x41'", "HG0104", 1),
            (r"'\x41b'", "HG0104", 1),
            (r"'a\xZZ\'", "HG0104", 2),
            (r"'\101'", "HG0104", 1),
            (r"'\8'", "HG0104", 1),
            (r"'\u12'", "HG0104", 1),
            (r"'\uD800'", "HG0104", 1),
            (r"'\U00110000'", "HG0104", 1),
            (r"'\x110000\'", "HG0104", 1),
            (r"'\z\q'", "HG0104", 1),
            (r"'\c'", "HG0104", 1),
            ("'a\\\n b'", "HG0104", 2),
            ("'a\\\n''b'", "HG0104", 2),
            ("'a\r\nb'", "HG0106", 2),
            ("'a\0b'", "HG0106", 2),
            ("'a\u{85}b'", "HG0106", 2),
            ("'\u{202e}'", "HG0107", 1),
            (r"'\u202e'", "HG0107", 1),
        ] {
            assert_eq!(read(text), Err((code, at)), "{text}");
        }
    }
}
