//! A clause around the token that does not fit: what stands where.
//!
//! Nothing here words a diagnostic.

use super::lexer::{Problem, Spanned, Token};
use super::numeral::shown;
use super::operators;
use super::tokens::offset;
use crate::diagnostic::Code;
use crate::source::{SourceId, Span};

/// Counts lines, each once: asked for increasing positions it takes linear time in all.
pub(super) struct Lines<'s> {
    text: &'s str,
    at: usize,
    line: usize,
}

impl<'s> Lines<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
        }
    }

    /// The line, from 1, of the byte at `at`.
    pub(super) fn line(&mut self, at: usize) -> usize {
        if at < self.at {
            *self = Self::new(self.text);
        }
        let stretch = self.text.as_bytes().get(self.at..at).unwrap_or(&[]);
        self.line += stretch.iter().filter(|byte| **byte == b'\n').count();
        self.at = at;
        self.line
    }
}

/// One clause, its end included, and the token that does not fit.
pub(super) struct Context<'t, 's> {
    pub(super) source: SourceId,
    pub(super) text: &'t str,
    pub(super) tokens: &'t [Spanned<'s>],
    /// Which token does not fit.
    pub(super) at: usize,
}

impl<'s> Context<'_, 's> {
    pub(super) fn get(&self, at: usize) -> Option<&Spanned<'s>> {
        self.tokens.get(at)
    }

    /// The token `back` places before the one that does not fit.
    pub(super) fn before(&self, back: usize) -> Option<&Spanned<'s>> {
        self.get(self.at.checked_sub(back)?)
    }

    pub(super) fn token(&self, back: usize) -> Option<&Token<'s>> {
        self.before(back).map(|spanned| &spanned.token)
    }

    pub(super) fn next(&self) -> Option<&Token<'s>> {
        self.get(self.at + 1).map(|spanned| &spanned.token)
    }

    /// From `back` places before to the token itself.
    pub(super) fn span(&self, back: usize) -> Span {
        match (self.before(back), self.get(self.at)) {
            (Some(start), Some(end)) => {
                Span::new(self.source, offset(start.start), offset(end.end))
            }
            _ => Span::new(self.source, 0, 0),
        }
    }

    /// The span of one token.
    pub(super) fn span_of(&self, spanned: &Spanned<'_>) -> Span {
        Span::new(self.source, offset(spanned.start), offset(spanned.end))
    }

    /// What is written `back` places before.
    pub(super) fn written(&self, back: usize) -> String {
        let written = self
            .before(back)
            .and_then(|spanned| self.text.get(spanned.start..spanned.end));
        shown(written.unwrap_or(""))
    }

    /// Whether no layout stands between the token at `at` and the one before it.
    pub(super) fn joined(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.get(before));
        match (before, self.get(at)) {
            (Some(before), Some(this)) => before.end == this.start,
            _ => false,
        }
    }

    /// Whether the token at `at` is the first on its line; the clause's first token is not.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.get(before));
        match (before, self.get(at)) {
            (Some(before), Some(this)) => self
                .text
                .get(before.end..this.start)
                .is_some_and(|between| between.contains('\n')),
            _ => false,
        }
    }

    /// Whether an operand ends before the token, so that an operator could follow.
    pub(super) fn behind_operand(&self) -> bool {
        match self.token(1) {
            Some(Token::Name(name) | Token::Symbol(name)) => !operators::is_operator(name),
            Some(
                Token::Variable(_)
                | Token::Quoted(_)
                | Token::Text(_)
                | Token::Number(_)
                | Token::Cut
                | Token::Close
                | Token::CloseList
                | Token::CloseBrace,
            ) => true,
            _ => false,
        }
    }

    /// Whether the token stands in a rule's body.
    pub(super) fn behind_neck(&self) -> bool {
        let mut before = self.tokens.iter().take(self.at);
        before.any(|spanned| matches!(spanned.token, Token::Symbol(":-")))
    }

    /// The brackets that are open before the token: which token opened each.
    pub(super) fn open_brackets(&self) -> Vec<usize> {
        let mut open = Vec::new();
        for (at, spanned) in self.tokens.iter().enumerate().take(self.at) {
            match spanned.token {
                Token::Open | Token::OpenList | Token::OpenBrace => open.push(at),
                Token::Close | Token::CloseList | Token::CloseBrace => {
                    open.pop();
                }
                _ => {}
            }
        }
        open
    }

    pub(super) fn problem(&self, code: Code, message: impl Into<String>) -> Problem {
        Problem::new(code, self.span(0), message)
    }

    pub(super) fn unexpected(&self) -> Problem {
        let message = match self.token(0) {
            Some(Token::End) => "the clause ends too early".to_owned(),
            _ => format!("unexpected `{}`", self.written(0)),
        };
        self.problem(Code::UnexpectedToken, message)
    }
}

/// Whether an operand can start with the token.
pub(super) fn starts_operand(token: &Token<'_>) -> bool {
    matches!(
        token,
        Token::Name(_)
            | Token::Variable(_)
            | Token::Quoted(_)
            | Token::Text(_)
            | Token::Number(_)
            | Token::Cut
            | Token::Open
            | Token::OpenList
            | Token::OpenBrace
    )
}
