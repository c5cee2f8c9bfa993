//! Terms as SWI-Prolog's `writeq/1` writes them.
//!
//! Nothing here looks at places, and no variable is renamed. One thing is written otherwise: `'$VAR'(1)` stays what it is,
//! where `writeq/1` makes it look like a variable.

use super::ast::{Term, TermKind};
use super::operators::{self, Kind, Operator};
use super::shape;
use std::fmt::{self, Write};

/// An atom as `writeq/1` writes it: in quotes where it needs them.
///
/// ```
/// use horngate::syntax::QuotedAtom;
/// assert_eq!(QuotedAtom("U:Qa").to_string(), "'U:Qa'");
/// assert_eq!(QuotedAtom("tool_repl").to_string(), "tool_repl");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct QuotedAtom<'a>(pub &'a str);

impl fmt::Display for QuotedAtom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if shape::needs_no_quotes(self.0) {
            return f.write_str(self.0);
        }
        write_quoted(f, self.0, '\'')
    }
}

/// The atom `name` as `writeq/1` writes it.
///
/// ```
/// use horngate::syntax::quoted_atom;
/// assert_eq!(quoted_atom("don't"), r"'don\'t'");
/// ```
#[must_use]
pub fn quoted_atom(name: &str) -> String {
    QuotedAtom(name).to_string()
}

/// As `writeq/1` writes it; variables by their names.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer {
            out: f,
            last: None,
            after: After::Token,
        };
        printer.term(self, 1200, Role::Whole)
    }
}

/// What was written last, where it matters beyond its last character.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Token,
    /// A prefix operator: a bracket behind it would make it a functor.
    Prefix,
    /// The prefix operator `-`: a digit behind it would make it a sign.
    Minus,
    Infix,
}

/// Whether a term is an operand, where an operator's name needs brackets.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Whole,
    Operand,
}

struct Printer<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    last: Option<char>,
    after: After,
}

impl Printer<'_, '_> {
    fn term(&mut self, term: &Term, limit: u16, role: Role) -> fmt::Result {
        match &term.kind {
            TermKind::Variable(name) => self.token(name).map(drop),
            TermKind::Nil => self.token("[]").map(drop),
            TermKind::Integer(value) => self.token(&value.to_string()).map(drop),
            TermKind::Float(value) => self.token(&float(*value)).map(drop),
            TermKind::String(text) => {
                self.after = After::Token;
                self.last = Some('"');
                write_quoted(self.out, text, '"')
            }
            TermKind::Atom(name) if role == Role::Operand && operators::is_operator(name) => {
                self.open_bracket()?;
                self.atom(name)?;
                self.put(')')
            }
            TermKind::Atom(name) => self.atom(name).map(drop),
            TermKind::List(items, tail) => self.list(items, tail.as_deref()),
            TermKind::Conjunction(items) => self.row(items, ",", limit),
            TermKind::Disjunction(items) => self.row(items, ";", limit),
            TermKind::Compound(name, args) => match (&**name, args.as_slice()) {
                ("{}", [inner]) => {
                    self.token("{")?;
                    self.term(inner, 1200, Role::Whole)?;
                    self.put('}')
                }
                (name, [operand]) => match operators::prefix(name) {
                    Some(operator) => self.prefix(name, operator, operand, limit),
                    None => self.plain(name, args),
                },
                (name, [left, right]) => match operators::infix(name) {
                    Some(operator) => self.infix(name, operator, left, right, limit),
                    None => self.plain(name, args),
                },
                (name, _) => self.plain(name, args),
            },
        }
    }

    fn prefix(
        &mut self,
        name: &str,
        operator: Operator,
        operand: &Term,
        limit: u16,
    ) -> fmt::Result {
        let embrace = operator.priority > limit;
        if embrace {
            self.open_bracket()?;
        }
        self.atom(name)?;
        self.after = if name == "-" {
            After::Minus
        } else {
            After::Prefix
        };
        self.term(operand, operator.right(), Role::Operand)?;
        if embrace {
            self.put(')')?;
        }
        Ok(())
    }

    fn infix(
        &mut self,
        name: &str,
        operator: Operator,
        left: &Term,
        right: &Term,
        limit: u16,
    ) -> fmt::Result {
        let embrace = operator.priority > limit;
        if embrace {
            self.open_bracket()?;
        }
        self.term(left, operator.left(), Role::Operand)?;
        self.infix_name(name)?;
        self.term(right, operator.right(), Role::Operand)?;
        if embrace {
            self.put(')')?;
        }
        Ok(())
    }

    /// A conjunction or disjunction.
    fn row(&mut self, items: &[Term], name: &str, limit: u16) -> fmt::Result {
        let operator = operators::infix(name).unwrap_or(Operator {
            priority: 0,
            kind: Kind::Xfy,
        });
        let embrace = operator.priority > limit;
        if embrace {
            self.open_bracket()?;
        }
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.infix_name(name)?;
            }
            let last = at + 1 == items.len();
            let limit = if last {
                operator.right()
            } else {
                operator.left()
            };
            self.term(item, limit, Role::Operand)?;
        }
        if embrace {
            self.put(')')?;
        }
        Ok(())
    }

    fn infix_name(&mut self, name: &str) -> fmt::Result {
        match name {
            "," | "|" => name.chars().try_for_each(|c| self.put(c))?,
            "." => drop(self.token(name)?),
            _ => {
                if self.atom(name)? {
                    self.put(' ')?;
                }
            }
        }
        self.after = After::Infix;
        Ok(())
    }

    fn plain(&mut self, name: &str, args: &[Term]) -> fmt::Result {
        self.atom(name)?;
        self.put('(')?;
        self.items(args)?;
        self.put(')')
    }

    fn list(&mut self, items: &[Term], tail: Option<&Term>) -> fmt::Result {
        self.put('[')?;
        self.items(items)?;
        if let Some(tail) = tail {
            self.put('|')?;
            self.term(tail, 999, Role::Whole)?;
        }
        self.put(']')
    }

    fn items(&mut self, items: &[Term]) -> fmt::Result {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.put(',')?;
            }
            self.term(item, 999, Role::Whole)?;
        }
        Ok(())
    }

    /// Whether a blank was put before it.
    fn atom(&mut self, name: &str) -> Result<bool, fmt::Error> {
        if shape::needs_no_quotes(name) {
            return self.token(name);
        }
        let blank = self.separate('\'')?;
        write_quoted(self.out, name, '\'')?;
        self.last = Some('\'');
        Ok(blank)
    }

    /// Whether a blank was put before it.
    fn token(&mut self, token: &str) -> Result<bool, fmt::Error> {
        let mut characters = token.chars();
        let Some(first) = characters.next() else {
            return Ok(false);
        };
        let blank = self.separate(first)?;
        self.out.write_str(token)?;
        self.last = characters.next_back().or(Some(first));
        Ok(blank)
    }

    fn open_bracket(&mut self) -> fmt::Result {
        self.separate('(')?;
        self.put('(')
    }

    fn put(&mut self, c: char) -> fmt::Result {
        self.after = After::Token;
        self.last = Some(c);
        self.out.write_char(c)
    }

    /// Puts a blank if the next token, which starts with `next`, would run into what was written last.
    fn separate(&mut self, next: char) -> Result<bool, fmt::Error> {
        let after = std::mem::replace(&mut self.after, After::Token);
        let Some(last) = self.last else {
            return Ok(false);
        };
        let bracket = matches!(next, '(' | '{');
        let blank = match after {
            After::Minus if next.is_ascii_digit() || shape::is_symbol(next) || bracket => true,
            After::Prefix if bracket => true,
            After::Infix if next == '(' => false,
            _ => {
                (shape::continues_name(last) && shape::continues_name(next))
                    || (shape::is_symbol(last) && shape::is_symbol(next))
                    || (next == '(' && !is_punctuation(last))
                    || (next == '\'' && (last.is_ascii_digit() || last == '\''))
            }
        };
        if blank {
            self.out.write_char(' ')?;
        }
        Ok(blank)
    }
}

fn is_punctuation(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',' | '|')
}

fn write_quoted(out: &mut fmt::Formatter<'_>, text: &str, quote: char) -> fmt::Result {
    out.write_char(quote)?;
    for c in text.chars() {
        let letter = match c {
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\r' => 'r',
            '\u{c}' => 'f',
            '\\' => '\\',
            _ if c == quote => quote,
            _ if c == ' ' || shape::is_visible(c) => {
                out.write_char(c)?;
                continue;
            }
            _ => {
                write!(out, "\\x{:X}\\", u32::from(c))?;
                continue;
            }
        };
        out.write_char('\\')?;
        out.write_char(letter)?;
    }
    out.write_char(quote)
}

/// The fewest digits that read back as the same float; of two such numbers equally near, the one with the even last digit.
fn shortest(value: f64) -> String {
    let scientific = format!("{value:e}");
    let mantissa = scientific
        .split_once('e')
        .map_or("", |(mantissa, _)| mantissa);
    let exact = format!("{value:.0$e}", mantissa.len().saturating_sub(2));
    if exact.parse() == Ok(value) {
        exact
    } else {
        scientific
    }
}

/// The shortest digits that read back as the same float; an exponent from 1e15 up and below 1e-4.
fn float(value: f64) -> String {
    let scientific = shortest(value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    match exponent {
        ..=-5 => format!("{sign}{mantissa}{point}e{exponent}"),
        -4..=-1 => format!("{sign}0.{}{digits}", zeros(-1 - exponent)),
        15.. if count <= exponent + 1 => format!("{sign}{mantissa}{point}e+{exponent}"),
        _ if count <= exponent + 1 => format!("{sign}{digits}{}.0", zeros(exponent + 1 - count)),
        _ => {
            let (whole, fraction) = usize::try_from(exponent + 1)
                .ok()
                .and_then(|at| digits.split_at_checked(at))
                .unwrap_or((&digits, "0"));
            format!("{sign}{whole}.{fraction}")
        }
    }
}
