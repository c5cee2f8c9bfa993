//! The grammar's tokens: what a name means where it stands.
//!
//! Nothing here builds terms of several operands, and little fails (nesting, dicts, a signed `16'FF`): what cannot stand
//! where it does becomes [`Tok::Stray`], which the grammar does not know.

use super::ast::TermKind;
use super::build::{Node, too_deep};
use super::lexer::{Problem, Spanned, Token};
use super::numeral::Number;
use super::operators;
use crate::diagnostic::Code;
use crate::number::Integer;
use crate::source::{SourceId, Span};

/// A terminal of the grammar.
#[derive(Clone, Debug)]
pub(super) enum Tok<'s> {
    /// An atomic term.
    Operand(Node),
    /// An atomic term that is all there is between two brackets or commas.
    Alone(Node),
    /// A name with the bracket that directly follows it.
    Functor(&'s str),
    Prefix1200(&'s str),
    Prefix1150(&'s str),
    Prefix900(&'s str),
    Prefix200(&'s str),
    Infix1200(&'s str),
    Infix1050(&'s str),
    Infix800(&'s str),
    Infix700(&'s str),
    Infix600(&'s str),
    Infix500(&'s str),
    Infix400(&'s str),
    Infix200(&'s str),
    Caret(&'s str),
    Comma,
    Semicolon,
    Bar,
    Open,
    Close,
    OpenList,
    CloseList,
    OpenBrace,
    CloseBrace,
    End,
    /// What cannot stand where it does.
    Stray,
}

/// A bracket that is open.
#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    Arguments,
    Round,
    Square,
    Curly,
}

/// What the token before was, as far as it matters.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// The start, or an infix operator of another priority than 700: an operand must follow.
    Operator,
    /// An infix operator of priority 700: likewise.
    Comparison,
    /// A prefix operator: likewise.
    Prefix,
    /// An opening bracket, a comma or a bar: likewise.
    Delimiter,
    /// The end of an operand: an infix operator must follow.
    Operand,
}

/// The tokens of one clause, its end included, as the grammar wants them; brackets nested at most `depth` levels.
pub(super) fn classify<'s>(
    source: SourceId,
    tokens: &'s [Spanned<'s>],
    depth: usize,
) -> Result<Vec<(u32, Tok<'s>, u32)>, Problem> {
    let mut classifier = Classifier {
        source,
        tokens,
        depth,
        at: 0,
        before: Before::Operator,
        brackets: Vec::new(),
    };
    let mut out = Vec::with_capacity(tokens.len());
    while let Some(spanned) = tokens.get(classifier.at) {
        let (tok, taken) = classifier.next(spanned)?;
        classifier.at += taken;
        let last = tokens.get(classifier.at - 1).unwrap_or(spanned);
        out.push((offset(spanned.start), tok, offset(last.end)));
    }
    Ok(out)
}

/// A position in a source; sources are shorter than 4 GiB.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

struct Classifier<'s> {
    source: SourceId,
    tokens: &'s [Spanned<'s>],
    /// How deeply brackets may be nested.
    depth: usize,
    at: usize,
    before: Before,
    brackets: Vec<Bracket>,
}

impl<'s> Classifier<'s> {
    /// The terminal that starts at `spanned`, and how many tokens it takes.
    fn next(&mut self, spanned: &'s Spanned<'s>) -> Result<(Tok<'s>, usize), Problem> {
        self.refuse_dict(spanned)?;
        let operator_follows = self.before == Before::Operand;
        Ok(match &spanned.token {
            Token::Open => (self.open(Tok::Open, Bracket::Round, spanned)?, 1),
            Token::OpenList => match self.peek() {
                Some(Token::CloseList) => (self.nil(), 2),
                _ => (self.open(Tok::OpenList, Bracket::Square, spanned)?, 1),
            },
            Token::OpenBrace => match self.peek() {
                Some(Token::CloseBrace) if self.adjacent_open(2) => self.braces_functor(spanned)?,
                Some(Token::CloseBrace) => (self.atomic(TermKind::Atom("{}".into()), 2), 2),
                _ => (self.open(Tok::OpenBrace, Bracket::Curly, spanned)?, 1),
            },
            Token::Close => (self.close(Tok::Close), 1),
            Token::CloseList => (self.close(Tok::CloseList), 1),
            Token::CloseBrace => (self.close(Tok::CloseBrace), 1),
            Token::Comma => (self.then(Tok::Comma, Before::Delimiter), 1),
            Token::Bar => (self.then(Tok::Bar, Before::Delimiter), 1),
            Token::End => (self.then(Tok::End, Before::Operator), 1),
            Token::Bad(_) => (self.then(Tok::Stray, Before::Operand), 1),
            Token::Variable(name) => (self.atomic(TermKind::Variable((*name).into()), 1), 1),
            Token::Text(text) => (self.atomic(TermKind::String(text.as_ref().into()), 1), 1),
            Token::Number(number) => (self.atomic(number_kind(number, false), 1), 1),
            Token::Quoted(name) => self.quoted(name, spanned)?,
            Token::Semicolon if operator_follows => {
                (self.then(Tok::Semicolon, Before::Operator), 1)
            }
            Token::Semicolon => self.name(";", spanned)?,
            Token::Cut => self.plain("!", spanned)?,
            Token::Name(name) | Token::Symbol(name) if operator_follows => (self.infix(name), 1),
            Token::Name(name) => self.name(name, spanned)?,
            Token::Symbol(name) => match self.negative(name, spanned)? {
                Some(number) => (self.atomic(number, 2), 2),
                None => self.name(name, spanned)?,
            },
        })
    }

    fn peek(&self) -> Option<&'s Token<'s>> {
        self.tokens.get(self.at + 1).map(|next| &next.token)
    }

    /// Whether an opening bracket directly follows the `count` tokens from here.
    fn adjacent_open(&self, count: usize) -> bool {
        self.tokens
            .get(self.at + count)
            .is_some_and(|next| matches!(next.token, Token::Open) && self.adjacent(count))
    }

    /// Whether no layout stands between the `count` tokens from here and the next.
    fn adjacent(&self, count: usize) -> bool {
        match (
            self.tokens.get(self.at + count - 1),
            self.tokens.get(self.at + count),
        ) {
            (Some(last), Some(next)) => last.end == next.start,
            _ => false,
        }
    }

    fn then(&mut self, tok: Tok<'s>, before: Before) -> Tok<'s> {
        self.before = before;
        tok
    }

    fn open(
        &mut self,
        tok: Tok<'s>,
        bracket: Bracket,
        spanned: &Spanned<'_>,
    ) -> Result<Tok<'s>, Problem> {
        if self.brackets.len() >= self.depth {
            let depth = self.brackets.len() + 1;
            return Err(too_deep(self.span(spanned), depth, self.depth));
        }
        self.brackets.push(bracket);
        Ok(self.then(tok, Before::Delimiter))
    }

    fn close(&mut self, tok: Tok<'s>) -> Tok<'s> {
        self.brackets.pop();
        self.then(tok, Before::Operand)
    }

    /// `[]`; with a bracket behind it SWI-Prolog makes it a functor that is no atom, which has no place here.
    fn nil(&mut self) -> Tok<'s> {
        if self.adjacent_open(2) {
            return self.then(Tok::Stray, Before::Operand);
        }
        self.atomic(TermKind::Nil, 2)
    }

    fn braces_functor(&mut self, spanned: &Spanned<'_>) -> Result<(Tok<'s>, usize), Problem> {
        let tok = self.open(Tok::Functor("{}"), Bracket::Arguments, spanned)?;
        Ok((tok, 3))
    }

    /// An atomic term of `count` tokens.
    fn atomic(&mut self, kind: TermKind, count: usize) -> Tok<'s> {
        let alone = self.before == Before::Delimiter && self.delimited(count);
        let end = self.tokens.get(self.at + count - 1);
        let start = self.tokens.get(self.at);
        let span = match (start, end) {
            (Some(start), Some(end)) => {
                Span::new(self.source, offset(start.start), offset(end.end))
            }
            _ => Span::default(),
        };
        self.before = Before::Operand;
        let node = Node::atomic(kind, span);
        if alone {
            Tok::Alone(node)
        } else {
            Tok::Operand(node)
        }
    }

    /// Whether a closing bracket, a comma or a bar follows the `count` tokens from here.
    fn delimited(&self, count: usize) -> bool {
        self.tokens.get(self.at + count).is_some_and(|next| {
            matches!(
                next.token,
                Token::Comma | Token::Bar | Token::Close | Token::CloseList | Token::CloseBrace
            )
        })
    }

    /// A name that is no operator.
    fn plain(&mut self, name: &'s str, spanned: &Spanned<'_>) -> Result<(Tok<'s>, usize), Problem> {
        if self.adjacent_open(1) {
            let tok = self.open(Tok::Functor(name), Bracket::Arguments, spanned)?;
            return Ok((tok, 2));
        }
        Ok((self.atomic(TermKind::Atom(name.into()), 1), 1))
    }

    /// Quotes make a name no operator, but for the comma and the bar behind a prefix operator.
    fn quoted(
        &mut self,
        name: &'s str,
        spanned: &Spanned<'_>,
    ) -> Result<(Tok<'s>, usize), Problem> {
        if self.adjacent_open(1) {
            if name == "." {
                return Err(self.dict(spanned));
            }
        } else if self.before == Before::Prefix && matches!(name, "," | "|") {
            return Ok((self.then(Tok::Stray, Before::Operand), 1));
        }
        self.plain(name, spanned)
    }

    /// A name where an operand is expected.
    fn name(&mut self, name: &'s str, spanned: &Spanned<'_>) -> Result<(Tok<'s>, usize), Problem> {
        if name == "." {
            return Ok((self.then(Tok::Stray, Before::Operand), 1));
        }
        if self.adjacent_open(1) || !operators::is_operator(name) || self.is_atom(name) {
            return self.plain(name, spanned);
        }
        Ok((self.prefix(name), 1))
    }

    /// Whether the operator `name`, where an operand is expected, is an atom: nothing follows that it could apply to.
    fn is_atom(&self, name: &str) -> bool {
        let prefix = operators::prefix(name);
        let in_items = matches!(
            self.brackets.last(),
            Some(Bracket::Arguments | Bracket::Square)
        );
        // SWI-Prolog makes an atom of a prefix operator before an infix one only if that binds less tightly.
        let before_infix = prefix.is_none_or(|prefix| prefix.priority < 1000);
        match (self.before, self.peek()) {
            (_, Some(Token::Close | Token::CloseList | Token::CloseBrace)) => {
                prefix.is_some() || self.stands_alone()
            }
            (_, Some(Token::Comma | Token::Bar)) if in_items => {
                prefix.is_some() || self.stands_alone()
            }
            (Before::Delimiter | Before::Comparison, Some(Token::Comma)) => before_infix,
            // `;(` makes the semicolon a functor, to which the prefix operator applies.
            (Before::Comparison, Some(Token::Semicolon)) => before_infix && !self.adjacent_open(2),
            (Before::Comparison, Some(Token::End)) => true,
            _ => false,
        }
    }

    fn stands_alone(&self) -> bool {
        matches!(self.before, Before::Delimiter | Before::Comparison)
    }

    fn prefix(&mut self, name: &'s str) -> Tok<'s> {
        let tok = match operators::prefix(name).map(|operator| operator.priority) {
            Some(1200) => Tok::Prefix1200(name),
            Some(1150) => Tok::Prefix1150(name),
            Some(900) => Tok::Prefix900(name),
            Some(200) => Tok::Prefix200(name),
            _ => return self.then(Tok::Stray, Before::Operand),
        };
        self.then(tok, Before::Prefix)
    }

    /// A name where an infix operator is expected.
    fn infix(&mut self, name: &'s str) -> Tok<'s> {
        let (tok, before) = match operators::infix(name).map(|operator| operator.priority) {
            Some(1200) => (Tok::Infix1200(name), Before::Operator),
            Some(1050) => (Tok::Infix1050(name), Before::Operator),
            Some(800) => (Tok::Infix800(name), Before::Operator),
            Some(700) => (Tok::Infix700(name), Before::Comparison),
            Some(600) => (Tok::Infix600(name), Before::Operator),
            Some(500) => (Tok::Infix500(name), Before::Operator),
            Some(400) => (Tok::Infix400(name), Before::Operator),
            Some(200) if name == "^" => (Tok::Caret(name), Before::Operator),
            Some(200) => (Tok::Infix200(name), Before::Operator),
            _ => (Tok::Stray, Before::Operand),
        };
        self.then(tok, before)
    }

    /// `-` directly before a number, where an operand is expected.
    fn negative(&self, name: &str, spanned: &Spanned<'_>) -> Result<Option<TermKind>, Problem> {
        match self.peek() {
            Some(Token::Number(number)) if name == "-" && self.adjacent(1) => {
                if matches!(number, Number::Based(_)) {
                    return Err(Problem::new(
                        Code::BadNumber,
                        self.span(spanned),
                        "a sign before a number with a base",
                    )
                    .help("write the number in decimal, or as `-0x…`"));
                }
                Ok(Some(number_kind(number, true)))
            }
            _ => Ok(None),
        }
    }

    fn refuse_dict(&self, spanned: &Spanned<'_>) -> Result<(), Problem> {
        let tag = matches!(
            spanned.token,
            Token::Variable(_) | Token::Name(_) | Token::Quoted(_) | Token::Symbol(_)
        );
        let brace = self.adjacent(1) && matches!(self.peek(), Some(Token::OpenBrace));
        if tag && brace && self.before != Before::Operand {
            return Err(Problem::new(
                Code::Dict,
                self.span(spanned),
                "a brace directly behind a name makes a dict",
            )
            .help("put a blank before the brace, or use a compound such as `point(1, 2)`"));
        }
        let named = matches!(self.peek(), Some(Token::Name(_) | Token::Variable(_)));
        let behind = self.before == Before::Operand
            && self
                .at
                .checked_sub(1)
                .and_then(|before| self.tokens.get(before))
                .is_some_and(|before| before.end == spanned.start);
        if matches!(spanned.token, Token::Symbol(".")) && named && behind && self.adjacent(1) {
            return Err(self.dict(spanned));
        }
        Ok(())
    }

    /// A dot between an operand and a name: after a variable or a brace a dict is meant, elsewhere most likely the
    /// end of a clause.
    fn dict(&self, spanned: &Spanned<'_>) -> Problem {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        let (code, message) = match before.map(|before| &before.token) {
            Some(Token::Variable(_) | Token::CloseBrace) => (
                Code::Dict,
                "a dot directly before a name takes a value out of a dict",
            ),
            _ => (
                Code::UnexpectedToken,
                "a dot directly before a name ends no clause",
            ),
        };
        Problem::new(code, self.span(spanned), message)
            .help("if a clause ends here, put a blank or a new line behind the dot")
    }

    fn span(&self, spanned: &Spanned<'_>) -> Span {
        Span::new(self.source, offset(spanned.start), offset(spanned.end))
    }
}

fn number_kind(number: &Number, negative: bool) -> TermKind {
    match number {
        Number::Integer(value) | Number::Based(value) if negative => {
            TermKind::Integer(Integer::negated(value))
        }
        Number::Integer(value) | Number::Based(value) => TermKind::Integer(value.clone()),
        Number::Float(value) if negative => TermKind::Float(-value),
        Number::Float(value) => TermKind::Float(*value),
    }
}
