//! The fast path: plain ground facts, read from bytes without tokens or terms.
//!
//! Nothing here reports anything: whatever is not plainly a fact of names, small integers and simple quoted text is
//! left to the full reader, from the clause's first character.

/// How many arguments a fact on the fast path may have.
pub(crate) const MAX_ARGUMENTS: usize = 4;
/// How many digits an integer on the fast path may have; every such number fits 64 bits.
const MAX_DIGITS: usize = 18;

/// An argument of a plain fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Argument<'t> {
    Atom(&'t str),
    String(&'t str),
    Integer(i64),
}

/// A plain fact, without its arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fact<'t> {
    pub(crate) name: &'t str,
    /// How many arguments it has.
    pub(crate) arity: usize,
    /// Its first byte.
    pub(crate) start: usize,
    /// One past its dot.
    pub(crate) end: usize,
}

/// The plain fact that comes next at or after `at`, behind layout and line comments; its arguments are added to
/// `arguments`, which keeps several facts' together. `complete` says that the text ends with the file: otherwise a dot
/// needs a byte behind it to be an end.
#[inline]
pub(crate) fn scan<'t>(
    text: &'t str,
    at: usize,
    complete: bool,
    arguments: &mut Vec<Argument<'t>>,
) -> Option<Fact<'t>> {
    let before = arguments.len();
    let fact = scan_into(text, at, complete, arguments);
    if fact.is_none() {
        arguments.truncate(before);
    }
    fact
}

fn scan_into<'t>(
    text: &'t str,
    at: usize,
    complete: bool,
    arguments: &mut Vec<Argument<'t>>,
) -> Option<Fact<'t>> {
    let bytes = text.as_bytes();
    let mut scanner = Scanner { text, bytes, at };
    scanner.skip_layout()?;
    let start = scanner.at;
    let name = scanner.name()?;
    scanner.expect(b'(')?;
    let mut arity = 0;
    loop {
        scanner.skip_blanks();
        if arity == MAX_ARGUMENTS {
            return None;
        }
        arguments.push(scanner.argument()?);
        arity += 1;
        scanner.skip_blanks();
        match scanner.next()? {
            b',' => {}
            b')' => break,
            _ => return None,
        }
    }
    scanner.expect(b'.')?;
    match bytes.get(scanner.at) {
        Some(b' ' | b'\n' | b'\t' | b'%') => {}
        // A carriage return is layout before a line feed only.
        Some(b'\r') if bytes.get(scanner.at + 1) == Some(&b'\n') => {}
        None if complete => {}
        _ => return None,
    }
    Some(Fact {
        name,
        arity,
        start,
        end: scanner.at,
    })
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

/// What a byte may be: [`IN_NAME`], [`IN_QUOTES`].
#[expect(
    clippy::indexing_slicing,
    reason = "evaluated when it is compiled, where a wrong index is an error"
)]
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            kinds[byte as usize] |= IN_NAME;
        }
        if byte != b'\\' && byte != b'\'' && byte != b'"' {
            kinds[byte as usize] |= IN_QUOTES;
        }
        byte += 1;
    }
    kinds
};
/// Goes on with a name.
const IN_NAME: u8 = 1;
/// Stands for itself in quotes of either kind.
const IN_QUOTES: u8 = 2;

fn is(byte: u8, kind: u8) -> bool {
    KINDS
        .get(usize::from(byte))
        .is_some_and(|of| of & kind != 0)
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        (self.next()? == wanted).then_some(())
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips layout and line comments of printable ASCII; `None` for what needs a closer look.
    fn skip_layout(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                b' ' | b'\n' | b'\t' => self.at += 1,
                b'\r' if self.bytes.get(self.at + 1) == Some(&b'\n') => self.at += 2,
                b'%' => {
                    let rest = self.bytes.get(self.at..)?;
                    let length = rest.iter().position(|byte| *byte == b'\n')?;
                    let comment = rest.get(..length)?;
                    let plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t');
                    comment.iter().all(plain).then_some(())?;
                    self.at += length;
                }
                _ => return Some(()),
            }
        }
    }

    fn slice(&self, start: usize) -> Option<&'t str> {
        self.text.get(start..self.at)
    }

    /// An unquoted name of ASCII letters.
    fn name(&mut self) -> Option<&'t str> {
        let start = self.at;
        self.peek()?.is_ascii_lowercase().then_some(())?;
        while is(self.peek()?, IN_NAME) {
            self.at += 1;
        }
        // A letter beyond ASCII would go on with the name.
        (self.peek()? < 0x80).then_some(())?;
        self.slice(start)
    }

    fn argument(&mut self) -> Option<Argument<'t>> {
        match self.peek()? {
            b'a'..=b'z' => self.name().map(Argument::Atom),
            quote @ (b'\'' | b'"') => {
                self.at += 1;
                let start = self.at;
                loop {
                    let byte = self.peek()?;
                    if !is(byte, IN_QUOTES) {
                        if byte == quote {
                            break;
                        }
                        // The other quote; what is escaped or not ASCII is left alone.
                        matches!(byte, b'\'' | b'"').then_some(())?;
                    }
                    self.at += 1;
                }
                let text = self.slice(start)?;
                self.at += 1;
                // Doubled quotes stand for one.
                (self.peek()? != quote).then_some(())?;
                Some(match quote {
                    b'\'' => Argument::Atom(text),
                    _ => Argument::String(text),
                })
            }
            b'-' => {
                self.at += 1;
                self.integer().map(|value| Argument::Integer(-value))
            }
            b'0'..=b'9' => self.integer().map(Argument::Integer),
            _ => None,
        }
    }

    fn integer(&mut self) -> Option<i64> {
        let start = self.at;
        let mut value = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            (self.at - start < MAX_DIGITS).then_some(())?;
            value = value * 10 + i64::from(digit - b'0');
            self.at += 1;
        }
        // Anything but the end of the argument may go on with the number.
        let ends = matches!(self.peek()?, b',' | b')' | b' ');
        (ends && self.at > start).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_facts_are_read_and_others_left_alone() {
        let mut arguments = vec![Argument::Integer(7)];
        let text = " % c\n\tp('U:Qa', tool_x,-3 , \"s t\").\nq.";
        let fact = scan(text, 0, false, &mut arguments).unwrap();
        assert_eq!((fact.name, fact.arity), ("p", 4));
        assert_eq!((fact.start, fact.end), (6, 35));
        let expected = [
            Argument::Integer(7),
            Argument::Atom("U:Qa"),
            Argument::Atom("tool_x"),
            Argument::Integer(-3),
            Argument::String("s t"),
        ];
        assert_eq!(arguments, expected);
        let others = [
            "p.",
            "p(X).",
            "p(_).",
            "p(a)",
            "p(a).q",
            "p(a)./* */",
            "p(f(a)).",
            "p([]).",
            "p('a''b').",
            "p('a\\nb').",
            "p(1.5).",
            "p(0x1).",
            "p(0'a).",
            "p(1_0).",
            "p(1 2).",
            "p(a) :- q.",
            "p (a).",
            "p(é).",
            "p(aé).",
            "'P'(a).",
            "p(a,).",
            "p().",
            "p(- 1).",
            "p(a)--> b.",
            "/* */ p(a).",
            "% \u{202e}\np(a).",
            "p('\u{202e}').",
            "p(12345678901234567890).",
            "p(a;b).",
            "p(a,b,c,d,e).",
            "p('a'(b)).",
            "p(a).\r",
            "% end",
        ];
        for text in others {
            assert_eq!(scan(text, 0, true, &mut arguments), None, "{text}");
        }
        assert!(scan("p(a).", 0, false, &mut arguments).is_none());
        assert_eq!(arguments, expected);
        assert!(scan("p(a).", 0, true, &mut arguments).is_some());
    }
}
