//! Text to tokens: a total lexer.
//!
//! Nothing here fails: what is no token of Prolog becomes [`Token::Bad`] with its diagnostic, and reading goes on
//! behind it. No token depends on the tokens before it; what a name means where it stands is decided later.

use super::numeral::{self, Number};
use super::quoted;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{SourceId, Span};
use logos::{Filter, Lexer, Logos};
use std::borrow::Cow;

/// What is wrong with a stretch of text. A diagnostic that is cheap to hand on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem(pub(super) Box<Diagnostic>);

impl Problem {
    pub(super) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self(Box::new(Diagnostic::new(code, span, message)))
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    pub(super) fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.0.labels.push(crate::diagnostic::Label {
            span,
            message: message.into(),
        });
        self
    }
}

/// Where a token starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) source: SourceId,
    pub(super) base: usize,
}

impl Place {
    /// A problem with the bytes `start..end` of the token.
    pub(super) fn problem(
        self,
        code: Code,
        start: usize,
        end: usize,
        message: impl Into<String>,
    ) -> Problem {
        Problem::new(code, self.span(start, end), message)
    }

    fn span(self, start: usize, end: usize) -> Span {
        let offset = |at: usize| u32::try_from(self.base + at).unwrap_or(u32::MAX);
        Span::new(self.source, offset(start), offset(end))
    }
}

/// A token as written. The callbacks of `End` emit the variant that they find.
#[derive(Clone, Debug, PartialEq, Logos)]
#[logos(extras = SourceId)]
#[logos(skip r"[ \t\n\x0c]+|\r\n")]
#[logos(subpattern continue = r"[\p{XID_Continue}&&\p{Age:14.0}--[\p{S}\p{P}\u{200c}\u{200d}]]|_")]
#[logos(subpattern symbol = r"[+\-*/\\\^<>=~:.?@#&$]")]
#[logos(subpattern not_slash = r"[+\-*\\\^<>=~:.?@#&$]")]
#[logos(subpattern not_star = r"[+\-/\\\^<>=~:.?@#&$]")]
pub(super) enum Token<'s> {
    /// A name that needs no quotes: `ann`.
    #[regex(r"[\p{XID_Start}&&\p{Age:14.0}--[\p{Uppercase}\u{2118}\u{212e}]](?&continue)*")]
    Name(&'s str),
    /// `X`, `_x`, `_`.
    #[regex(r"[_[\p{XID_Start}&&\p{Uppercase}&&\p{Age:14.0}]](?&continue)*")]
    Variable(&'s str),
    /// A run of symbol characters that neither ends the clause nor starts a comment.
    Symbol(&'s str),
    /// `'an atom'`, unescaped.
    Quoted(Cow<'s, str>),
    /// `"a string"`, unescaped.
    Text(Cow<'s, str>),
    /// A number without a sign.
    Number(Number),
    /// The dot behind a clause.
    #[regex(r"(?&not_slash)(?&symbol)*|/((?&not_star)(?&symbol)*)?", symbol)]
    #[token("'", |lex| quoted_item(lex, '\''))]
    #[token("\"", |lex| quoted_item(lex, '"'))]
    #[token("`", |lex| quoted_item(lex, '`'))]
    #[regex(r"[0-9]", number)]
    #[token("/*", block_comment)]
    #[token("%", line_comment)]
    #[regex(r"(?s).", bad_character, priority = 0)]
    End,
    #[token("!")]
    Cut,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token("|")]
    Bar,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenList,
    #[token("]")]
    CloseList,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    /// What is no token, and why.
    Bad(Problem),
}

/// A token with the bytes it covers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spanned<'s> {
    pub(super) token: Token<'s>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tokens of a text; comments and layout are skipped, and so are a byte order mark and a `#!` line at its start.
pub(super) fn tokens(source: SourceId, text: &str) -> impl Iterator<Item = Spanned<'_>> {
    tokens_from(source, text, preamble(text))
}

/// The tokens from a place between two clauses on.
pub(super) fn tokens_from(
    source: SourceId,
    text: &str,
    at: usize,
) -> impl Iterator<Item = Spanned<'_>> {
    let mut lexer = Token::lexer_with_extras(text, source);
    lexer.bump(at);
    std::iter::from_fn(move || {
        let token = lexer.next()?.unwrap_or_else(|()| bad_character(&mut lexer));
        let span = lexer.span();
        Some(Spanned {
            token,
            start: span.start,
            end: span.end,
        })
    })
}

pub(super) fn preamble(text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let rest = text.get(mark..).unwrap_or("");
    if !rest.starts_with("#!") {
        return mark;
    }
    mark + rest.find('\n').unwrap_or(rest.len())
}

fn place<'s>(lexer: &Lexer<'s, Token<'s>>) -> Place {
    Place {
        source: lexer.extras,
        base: lexer.span().start,
    }
}

/// The text from the token's start to the end of the source.
fn from_start<'s>(lexer: &Lexer<'s, Token<'s>>) -> &'s str {
    lexer.source().get(lexer.span().start..).unwrap_or("")
}

fn symbol<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Token<'s> {
    let run = lexer.slice();
    if run == "." {
        let next = lexer.remainder().chars().next();
        if next.is_none_or(|c| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '%')) {
            return Token::End;
        }
    }
    Token::Symbol(run)
}

fn quoted_item<'s>(lexer: &mut Lexer<'s, Token<'s>>, quote: char) -> Token<'s> {
    let place = place(lexer);
    let item = quoted::scan(from_start(lexer), quote, place);
    lexer.bump(item.length.saturating_sub(1));
    match item.text {
        Err(problem) => Token::Bad(problem),
        Ok(text) => match quote {
            '\'' => Token::Quoted(text),
            '"' => Token::Text(text),
            _ => Token::Bad(
                place
                    .problem(Code::BackQuoted, 0, item.length, "back-quoted text")
                    .help("write an atom in `'…'` or a string in `\"…\"`"),
            ),
        },
    }
}

fn number<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Token<'s> {
    let (length, value) = numeral::scan(from_start(lexer), place(lexer));
    lexer.bump(length.saturating_sub(1));
    value.map_or_else(Token::Bad, Token::Number)
}

fn line_comment<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Filter<Token<'s>> {
    let text = from_start(lexer);
    let comment = text
        .get(..text.find('\n').unwrap_or(text.len()))
        .unwrap_or("");
    lexer.bump(comment.len() - 1);
    match refused_in_comment(comment, place(lexer)) {
        Some(problem) => Filter::Emit(Token::Bad(problem)),
        None => Filter::Skip,
    }
}

fn block_comment<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Filter<Token<'s>> {
    let place = place(lexer);
    let text = from_start(lexer);
    let Some(length) = text
        .get(2..)
        .and_then(|rest| rest.find("*/"))
        .map(|at| at + 4)
    else {
        lexer.bump(text.len() - 2);
        return Filter::Emit(Token::Bad(
            place
                .problem(Code::UnterminatedComment, 0, 2, "this comment never ends")
                .help("close it with `*/`"),
        ));
    };
    let comment = text.get(..length).unwrap_or("");
    lexer.bump(length - 2);
    let problem = match comment
        .get(2..length - 1)
        .and_then(|inner| inner.find("/*"))
    {
        Some(at) => Some(
            place
                .problem(Code::NestedComment, 0, 2, "a comment inside a comment")
                .label(place.span(at + 2, at + 4), "the inner one starts here")
                .help("take one of the two out: systems differ on where this comment ends"),
        ),
        None => refused_in_comment(comment, place),
    };
    problem.map_or(Filter::Skip, |problem| Filter::Emit(Token::Bad(problem)))
}

/// The first character of a comment that is refused even there.
fn refused_in_comment(comment: &str, place: Place) -> Option<Problem> {
    let harmless = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\x0c');
    if comment.bytes().all(harmless) {
        return None;
    }
    let mut characters = comment.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let ends_line = c == '\r' && next.is_none_or(|next| next == '\n');
        if matches!(c, '\t' | '\n' | '\x0c') || ends_line {
            continue;
        }
        if let Some(problem) = quoted::refused_character(c, at, place, false) {
            return Some(problem);
        }
    }
    None
}

fn bad_character<'s>(lexer: &mut Lexer<'s, Token<'s>>) -> Token<'s> {
    let place = place(lexer);
    let c = lexer.slice().chars().next().unwrap_or('\0');
    let problem = quoted::refused_character(c, 0, place, false).unwrap_or_else(|| {
        let code = format!("U+{:04X}", u32::from(c));
        place
            .problem(
                Code::BadCharacter,
                0,
                lexer.slice().len(),
                if c.is_whitespace() {
                    format!("the blank {code} is not an ordinary one")
                } else {
                    format!("the character `{}` ({code}) needs quotes", c.escape_debug())
                },
            )
            .help(if c.is_whitespace() {
                "write an ordinary blank, or put the name in single quotes"
            } else {
                "put the name that contains it in single quotes: `'…'`"
            })
    });
    Token::Bad(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let words = tokens(SourceId::default(), text).map(|spanned| match spanned.token {
            Token::Symbol(run) | Token::Name(run) | Token::Variable(run) => run.to_owned(),
            Token::Bad(problem) => problem.0.code.to_string(),
            other => format!("{other:?}"),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn runs_of_symbol_characters_are_one_token() {
        assert_eq!(shown("p:-\\+q."), "p :-\\+ q End");
        assert_eq!(shown("a./* c */"), "a ./* c */");
        assert_eq!(shown("X=..Y.%c"), "X =.. Y End");
        assert_eq!(shown("a/**/b /* c *//d"), "a b / d");
        assert_eq!(shown("a-/*b*/c"), "a -/* b */ c");
        assert_eq!(shown("a.b. c."), "a . b End c End");
        assert_eq!(shown("a =. b"), "a =. b");
        assert_eq!(shown("p(a)."), "p Open a Close End");
    }

    #[test]
    fn comments_and_layout() {
        assert_eq!(shown("% a\r\n/***/a/*/*/b"), "a HG0103 b");
        assert_eq!(shown("a /* b"), "a HG0102");
        assert_eq!(shown("a % \0\nb"), "a HG0106 b");
        assert_eq!(shown("a\rb\r\nc"), "a HG0106 b c");
        assert_eq!(shown("% a\rb"), "HG0106");
        assert_eq!(shown("/* \u{2067} */"), "HG0107");
        assert_eq!(shown("a\u{a0}\u{b}"), "a HG0106 HG0106");
    }

    #[test]
    fn what_is_skipped_takes_no_stack() {
        for skipped in ["%\n", "/**/", "\r\n", "% a\r\n \t/* b */\n"] {
            assert_eq!(shown(&skipped.repeat(200_000)), "", "{skipped:?}");
        }
    }

    /// SWI-Prolog 9.0.4 knows Unicode 14. Asked how it reads each code point, it starts variables with the same ones, and
    /// atoms and the rest of a name with these and some more, mostly marks and odd digits, which are refused here.
    #[test]
    fn characters_of_names() {
        let (mut names, mut variables, mut inside) = (0, 0, 0);
        let mut text = String::new();
        for c in '\0'..=char::MAX {
            text.clear();
            text.push(c);
            match tokens(SourceId::default(), &text).next() {
                Some(Spanned {
                    token: Token::Name(_),
                    ..
                }) => names += 1,
                Some(Spanned {
                    token: Token::Variable(_),
                    ..
                }) => variables += 1,
                _ => {}
            }
            text.insert(0, 'a');
            let first = tokens(SourceId::default(), &text).next();
            inside += usize::from(first.is_some_and(|first| first.end == text.len()));
        }
        assert_eq!((names, variables, inside), (130_125, 1_848, 135_040));
    }
}
