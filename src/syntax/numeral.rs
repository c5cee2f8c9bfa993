//! Numbers as SWI-Prolog writes them.
//!
//! Nothing here rounds an integer or lets a float overflow: what does not fit is refused.

use super::lexer::{Place, Problem};
use super::print::quoted_atom;
use super::quoted;
use crate::diagnostic::Code;
use crate::number::Integer;
use num_bigint::BigInt;

/// The most digits a number may have.
const MAX_DIGITS: usize = 4096;

/// The value of a number token, without a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Integer(Integer),
    /// `16'1F`, which SWI-Prolog does not read behind a sign.
    Based(Integer),
    Float(f64),
}

/// Reads the number that `text` starts with: its length and its value. What cannot stand behind a number
/// (`12abc`) is part of the length.
pub(super) fn scan(text: &str, place: Place) -> (usize, Result<Number, Problem>) {
    let mut length = 0;
    let value = value(text, &mut length, place);
    let junk: usize = text
        .get(length..)
        .unwrap_or("")
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .map(char::len_utf8)
        .sum();
    if junk == 0 || value.is_err() {
        return (length + junk, value);
    }
    let end = length + junk;
    let written = text.get(..end).unwrap_or("");
    let problem = place
        .problem(
            Code::BadNumber,
            0,
            end,
            format!("`{}` is neither a number nor a name", shown(written)),
        )
        .help(format!(
            "write `{}` for an atom",
            quoted_atom(&shown(written))
        ));
    (end, Err(problem))
}

fn value(text: &str, length: &mut usize, place: Place) -> Result<Number, Problem> {
    let bytes = text.as_bytes();
    let second = bytes.get(1).copied();
    if bytes.first() == Some(&b'0') {
        let radix = match second {
            Some(b'\'') => return character(text, length, place),
            Some(b'x') => Some(16),
            Some(b'o') => Some(8),
            Some(b'b') => Some(2),
            _ => None,
        };
        if let Some(radix) = radix {
            return digits_behind(text, 2, radix, length, place);
        }
    }
    let (end, grouped) = digits(text, 0, 10);
    *length = end;
    match bytes.get(end) {
        Some(b'\'') => radix(text, end, grouped, length, place),
        Some(b'r') if digit_at(bytes, end + 1) => {
            *length = end + 1 + count_digits(bytes, end + 1);
            Err(special(text, *length, place))
        }
        Some(b'.') if digit_at(bytes, end + 1) => {
            let whole = end + 1 + count_digits(bytes, end + 1);
            *length = exponent(bytes, whole);
            let rest = text.get(*length..).unwrap_or("");
            if rest.starts_with("Inf") || rest.starts_with("NaN") {
                *length += 3;
                return Err(special(text, *length, place));
            }
            float(text, grouped, length, place)
        }
        Some(b'e' | b'E') if exponent(bytes, end) > end => {
            *length = exponent(bytes, end);
            float(text, grouped, length, place)
        }
        _ => integer(text, 0, end, 10, place),
    }
}

/// The end of the digits from `start`, single `_` between them allowed, and whether there was one.
fn digits(text: &str, start: usize, radix: u32) -> (usize, bool) {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| char::from(*byte).is_digit(radix))
    };
    let mut at = start;
    let mut grouped = false;
    loop {
        while is_digit(at) {
            at += 1;
        }
        if at > start && bytes.get(at) == Some(&b'_') && is_digit(at + 1) {
            at += 1;
            grouped = true;
        } else {
            return (at, grouped);
        }
    }
}

fn digit_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

fn count_digits(bytes: &[u8], start: usize) -> usize {
    bytes
        .get(start..)
        .unwrap_or(&[])
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// The end of the exponent at `at`; `at` itself if there is none.
fn exponent(bytes: &[u8], at: usize) -> usize {
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return at;
    }
    let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    match count_digits(bytes, at + 1 + sign) {
        0 => at,
        count => at + 1 + sign + count,
    }
}

fn digits_behind(
    text: &str,
    start: usize,
    radix: u32,
    length: &mut usize,
    place: Place,
) -> Result<Number, Problem> {
    let (end, _) = digits(text, start, radix);
    *length = end;
    if end > start {
        return integer(text, start, end, radix, place);
    }
    let head = text.get(..start).unwrap_or("");
    Err(place.problem(
        Code::BadNumber,
        0,
        end,
        format!("no digits of base {radix} behind `{head}`"),
    ))
}

/// `16'1F`
fn radix(
    text: &str,
    quote: usize,
    grouped: bool,
    length: &mut usize,
    place: Place,
) -> Result<Number, Problem> {
    let written = text.get(..quote).unwrap_or("");
    let base = written
        .parse::<u32>()
        .ok()
        .filter(|_| !grouped && !written.starts_with('0'));
    match base {
        Some(base @ 2..=36) => match digits_behind(text, quote + 1, base, length, place)? {
            Number::Integer(value) => Ok(Number::Based(value)),
            other => Ok(other),
        },
        _ => {
            *length = quote + 1;
            Err(place
                .problem(
                    Code::BadNumber,
                    0,
                    quote + 1,
                    format!("`{}'` is no base of a number", shown(written)),
                )
                .help(
                    "bases go from 2 to 36; a quoted atom needs a comma or an operator before it",
                ))
        }
    }
}

fn integer(
    text: &str,
    start: usize,
    end: usize,
    radix: u32,
    place: Place,
) -> Result<Number, Problem> {
    let written = text.get(start..end).unwrap_or("");
    if written.len() > MAX_DIGITS {
        return Err(too_long(end, place));
    }
    let stripped;
    let digits = if written.contains('_') {
        stripped = written.replace('_', "");
        &stripped
    } else {
        written
    };
    let value = match i64::from_str_radix(digits, radix) {
        Ok(value) => Some(Integer::from(value)),
        Err(_) => BigInt::parse_bytes(digits.as_bytes(), radix).map(Integer::from),
    };
    value
        .map(Number::Integer)
        .ok_or_else(|| place.problem(Code::BadNumber, 0, end, "this is no number"))
}

fn float(text: &str, grouped: bool, length: &mut usize, place: Place) -> Result<Number, Problem> {
    let written = text.get(..*length).unwrap_or("");
    if written.len() > MAX_DIGITS {
        return Err(too_long(*length, place));
    }
    let bad = |message: String| place.problem(Code::BadNumber, 0, *length, message);
    if grouped {
        return Err(
            bad(format!("digit groups in the float `{}`", shown(written)))
                .help("write it without `_`"),
        );
    }
    let value: f64 = written
        .parse()
        .map_err(|_| bad("this is no number".to_owned()))?;
    let mantissa = written
        .bytes()
        .take_while(|byte| !matches!(byte, b'e' | b'E'))
        .any(|byte| matches!(byte, b'1'..=b'9'));
    if value.is_infinite() || (value == 0.0 && mantissa) {
        return Err(
            bad(format!("the float `{}` is out of range", shown(written)))
                .help("floats go from about 4.9e-324 to 1.8e308"),
        );
    }
    Ok(Number::Float(value))
}

/// `0'c`
fn character(text: &str, length: &mut usize, place: Place) -> Result<Number, Problem> {
    let rest = text.get(2..).unwrap_or("");
    let bad =
        |end: usize, message: &str| place.problem(Code::BadNumber, 0, end, message.to_owned());
    let c = match rest.chars().next() {
        Some('\\') => return escaped_character(rest, length, place),
        Some('\'') if rest.starts_with("''") => {
            *length = 4;
            '\''
        }
        Some('\'') => {
            *length = 3;
            return Err(bad(3, "the character code `0''` is not complete")
                .help("write `0'''` for the code of a quote"));
        }
        Some(c) if c == ' ' || !(c.is_control() || c.is_whitespace()) => {
            *length = 2 + c.len_utf8();
            if let Some(problem) = quoted::refused_character(c, 2, place, false) {
                return Err(problem);
            }
            c
        }
        _ => {
            *length = 2;
            return Err(bad(2, "no character behind `0'`"));
        }
    };
    Ok(Number::Integer(Integer::from(i64::from(u32::from(c)))))
}

/// `0'\n`
fn escaped_character(rest: &str, length: &mut usize, place: Place) -> Result<Number, Problem> {
    let (size, c) = quoted::escape(rest, 2, place).inspect_err(|_| *length = 3)?;
    *length = 2 + size;
    let bad = |message: &str| place.problem(Code::BadNumber, 0, 2 + size, message);
    // SWI-Prolog takes a closing backslash and a dot for one run of symbol characters.
    let closed = rest
        .get(size - 1..)
        .is_some_and(|end| end.starts_with("\\."));
    if size > 2 && closed {
        return Err(bad("a dot directly behind a backslash ends nothing")
            .help("put a blank before the dot"));
    }
    match c {
        Some(c) => Ok(Number::Integer(Integer::from(i64::from(u32::from(c))))),
        None => Err(bad("no character behind `0'`")),
    }
}

fn special(text: &str, end: usize, place: Place) -> Problem {
    let written = shown(text.get(..end).unwrap_or(""));
    place
        .problem(
            Code::SpecialNumber,
            0,
            end,
            format!("`{written}` is a rational number or a special float"),
        )
        .help("use an integer or a finite float")
}

fn too_long(end: usize, place: Place) -> Problem {
    place.problem(
        Code::TooLong,
        0,
        end,
        format!("this number has more than {MAX_DIGITS} digits"),
    )
}

/// At most 40 characters of user text, for a message.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    fn read(text: &str) -> Result<String, &'static str> {
        let place = Place {
            source: SourceId::default(),
            base: 0,
        };
        let (length, value) = scan(text, place);
        let rest = text.get(length..).unwrap();
        match value {
            Ok(Number::Integer(value) | Number::Based(value)) => Ok(format!("{value} {rest}")),
            Ok(Number::Float(value)) => Ok(format!("{value:?} {rest}")),
            Err(problem) => Err(problem.0.code.as_str()),
        }
    }

    #[test]
    fn numbers_as_swi_prolog_reads_them() {
        for (text, value) in [
            ("0", "0 "),
            ("007", "7 "),
            ("1.", "1 ."),
            ("1.a", "1 .a"),
            ("1_000_000,", "1000000 ,"),
            ("9223372036854775808", "9223372036854775808 "),
            ("0x1F", "31 "),
            ("0o17", "15 "),
            ("0b101", "5 "),
            ("16'1F)", "31 )"),
            ("36'Zz", "1295 "),
            ("0xff_ff", "65535 "),
            ("1.5e3", "1500.0 "),
            ("1e10", "10000000000.0 "),
            ("1E5", "100000.0 "),
            ("1.0e-2+", "0.01 +"),
            ("0'a", "97 "),
            ("0'''", "39 "),
            (r"0'\n", "10 "),
            (r"0'\\.", "92 ."),
            (r"0'\x41\)", "65 )"),
            ("0' ", "32 "),
            ("0'é", "233 "),
        ] {
            assert_eq!(read(text).as_deref(), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, code) in [
            ("1a", "HG0105"),
            ("1_a", "HG0105"),
            ("1__0", "HG0105"),
            ("1_ 000", "HG0105"),
            ("1_000.5", "HG0105"),
            ("1.0e", "HG0105"),
            ("1e400", "HG0105"),
            ("1e-400", "HG0105"),
            ("0x", "HG0105"),
            ("0b12", "HG0105"),
            ("0o8", "HG0105"),
            ("37'a", "HG0105"),
            ("1'1", "HG0105"),
            ("016'FF", "HG0105"),
            ("0''", "HG0105"),
            ("0'ab", "HG0105"),
            ("0'\t", "HG0105"),
            (r"0'\x41\.", "HG0105"),
            (r"0'\z", "HG0104"),
            ("0'\u{202e}", "HG0107"),
            ("1r3", "HG0312"),
            ("1.0Inf", "HG0312"),
            ("1.5NaN", "HG0312"),
        ] {
            assert_eq!(read(text), Err(code), "{text}");
        }
        let longest = "1".repeat(MAX_DIGITS);
        assert_eq!(read(&longest), Ok(format!("{longest} ")));
        assert_eq!(read(&format!("{longest}1")), Err("HG0109"));
    }
}
