//! A clause as a row of words: what each is where it stands, and the comments and line ends before it.
//!
//! Nothing here is laid out, and no word is changed but for quotes that a name does not need.

use super::super::lexer::{Problem, Spanned, Token};
use super::super::operators;
use super::super::tokens::{Tok, classify};
use crate::budget::MAX_DEPTH;
use crate::source::SourceId;
use std::borrow::Cow;

/// What a word is where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An atomic term, or what cannot be told from one.
    Operand,
    /// A name with the bracket that directly follows it.
    Functor,
    /// `(` that is no functor's
    Group,
    OpenList,
    OpenBrace,
    Close,
    Comma,
    Bar,
    /// A prefix operator, and its priority.
    Prefix(u16),
    /// An infix operator, and its priority.
    Infix(u16),
    End,
}

impl Role {
    pub(super) fn opens(self) -> bool {
        matches!(
            self,
            Self::Functor | Self::Group | Self::OpenList | Self::OpenBrace
        )
    }

    /// Whether it parts the goals of a group: `;`, `->` or `*->`.
    pub(super) fn parts(self) -> bool {
        matches!(self, Self::Infix(1050 | 1100))
    }
}

/// A comment as written, line ends aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comment<'s> {
    pub(super) text: &'s str,
    /// How many line ends stand between it and what is before it.
    pub(super) newlines: usize,
}

impl Comment<'_> {
    /// Whether it goes on to the end of its line.
    pub(super) fn is_line(&self) -> bool {
        self.text.starts_with('%')
    }
}

/// What stands between two words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap<'s> {
    pub(super) comments: Vec<Comment<'s>>,
    /// How many line ends stand behind the last comment.
    pub(super) newlines: usize,
}

impl<'s> Gap<'s> {
    /// Reads layout and comments.
    pub(super) fn read(text: &'s str) -> Self {
        let mut gap = Self::default();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = match c {
                '%' => rest.find('\n').unwrap_or(rest.len()),
                '/' => rest.find("*/").map_or(rest.len(), |at| at + 2),
                _ => {
                    gap.newlines += usize::from(c == '\n');
                    rest = rest.get(c.len_utf8()..).unwrap_or("");
                    continue;
                }
            };
            let (comment, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            gap.comments.push(Comment {
                text: comment.trim_end(),
                newlines: std::mem::take(&mut gap.newlines),
            });
            rest = behind;
        }
        gap
    }

    /// Whether a line ends in it.
    pub(super) fn breaks(&self) -> bool {
        self.newlines > 0 || self.comments.iter().any(|comment| comment.newlines > 0)
    }

    /// Whether it cannot be written within a line.
    pub(super) fn needs_lines(&self) -> bool {
        self.comments
            .iter()
            .any(|comment| comment.is_line() || comment.newlines > 0 || comment.text.contains('\n'))
    }

    /// Whether an empty line is in it.
    pub(super) fn has_empty_line(&self) -> bool {
        self.newlines > 1 || self.comments.iter().any(|comment| comment.newlines > 1)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Word<'s> {
    pub(super) text: Cow<'s, str>,
    pub(super) role: Role,
    /// What stands before it.
    pub(super) gap: Gap<'s>,
}

/// The words of one clause, its end included; `before` is where the text goes on behind the clause before it.
pub(super) fn words<'s>(
    text: &'s str,
    before: usize,
    tokens: &[Spanned<'s>],
) -> Result<Vec<Word<'s>>, Problem> {
    let classified = classify(SourceId::default(), tokens, MAX_DEPTH)?;
    let mut words = Vec::with_capacity(classified.len());
    let (mut behind, mut rest) = (before, tokens);
    for (start, tok, end) in classified {
        let (start, end) = (start as usize, end as usize);
        let count = rest.iter().take_while(|token| token.end <= end).count();
        let (own, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        rest = others;
        let written = text.get(start..end).unwrap_or("");
        words.push(Word {
            text: shown(written, own),
            role: role(&tok, written),
            gap: Gap::read(text.get(behind..start).unwrap_or("")),
        });
        behind = end;
    }
    Ok(words)
}

fn role(tok: &Tok<'_>, written: &str) -> Role {
    match tok {
        Tok::Operand(_) | Tok::Alone(_) | Tok::Stray => Role::Operand,
        Tok::Functor(_) => Role::Functor,
        Tok::Open => Role::Group,
        Tok::OpenList => Role::OpenList,
        Tok::OpenBrace => Role::OpenBrace,
        Tok::Close | Tok::CloseList | Tok::CloseBrace => Role::Close,
        Tok::Comma => Role::Comma,
        Tok::Bar => Role::Bar,
        Tok::End => Role::End,
        Tok::Prefix1200(_) | Tok::Prefix1150(_) | Tok::Prefix900(_) | Tok::Prefix200(_) => {
            Role::Prefix(operators::prefix(written).map_or(0, |operator| operator.priority))
        }
        _ => Role::Infix(operators::infix(written).map_or(0, |operator| operator.priority)),
    }
}

/// What is written for a word that consists of `tokens`.
fn shown<'s>(written: &'s str, tokens: &[Spanned<'s>]) -> Cow<'s, str> {
    match tokens {
        [
            Spanned {
                token: Token::Quoted(name),
                ..
            },
        ] if needs_no_quotes(name) => name.clone(),
        [
            Spanned {
                token: Token::Quoted(name),
                ..
            },
            _,
        ] if needs_no_quotes(name) => Cow::Owned(format!("{name}(")),
        // `[ ]` and `{ }`, unless a comment stands between.
        [open, close, ..] if matches!(open.token, Token::OpenList | Token::OpenBrace) => {
            if written.contains(['%', '/']) {
                return Cow::Borrowed(written);
            }
            let bracket = if tokens.len() > 2 { "(" } else { "" };
            match close.token {
                Token::CloseList => Cow::Owned(format!("[]{bracket}")),
                _ => Cow::Owned(format!("{{}}{bracket}")),
            }
        }
        _ => Cow::Borrowed(written),
    }
}

/// Whether a name is the same atom without quotes, wherever it stands. Quotes make an operator no operator.
fn needs_no_quotes(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !operators::is_operator(name)
}
