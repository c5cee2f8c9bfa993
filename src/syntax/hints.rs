//! What to say about a token that does not fit, and what to type instead.
//!
//! Nothing here decides whether a text is refused: that has happened already.

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
    fn line(&mut self, at: usize) -> usize {
        if at < self.at {
            *self = Self::new(self.text);
        }
        let stretch = self.text.as_bytes().get(self.at..at).unwrap_or(&[]);
        self.line += stretch.iter().filter(|byte| **byte == b'\n').count();
        self.at = at;
        self.line
    }
}

/// The clause around the token that does not fit.
struct Clause<'t, 's> {
    source: SourceId,
    text: &'s str,
    tokens: &'t [Spanned<'s>],
    /// Which token it is.
    at: usize,
}

/// Why the token at `at` does not fit.
pub(super) fn unexpected(
    source: SourceId,
    text: &str,
    tokens: &[Spanned<'_>],
    at: usize,
    lines: &mut Lines<'_>,
) -> Problem {
    let clause = Clause {
        source,
        text,
        tokens,
        at,
    };
    let found = clause
        .bracket()
        .or_else(|| clause.borrowed_syntax())
        .or_else(|| clause.unclosed())
        .or_else(|| clause.missing_dot(lines))
        .or_else(|| clause.operator())
        .unwrap_or_else(|| clause.other());
    found
}

/// The last clause has no end dot.
pub(super) fn missing_end(source: SourceId, tokens: &[Spanned<'_>]) -> Problem {
    let span = tokens.last().map_or_else(Span::default, |last| {
        Span::new(source, offset(last.start), offset(last.end))
    });
    let swallowed = tokens.iter().rev().find_map(|spanned| match spanned.token {
        Token::Symbol(run) if run.starts_with('.') || run.ends_with('.') => Some((run, spanned)),
        _ => None,
    });
    let problem = Problem::new(Code::MissingEnd, span, "the last clause has no end dot");
    match swallowed {
        Some((run, spanned)) => problem
            .label(
                Span::new(source, offset(spanned.start), offset(spanned.end)),
                "this dot belongs to a longer run of symbol characters",
            )
            .help(if run.starts_with('.') {
                "put a blank or a new line behind the dot"
            } else {
                "put a blank before the dot"
            }),
        None => problem.help("write `.` at its end"),
    }
}

/// The variable's name as an atom: with a small first letter.
pub(super) fn lower_case(variable: &str) -> Option<String> {
    let mut characters = variable.trim_start_matches('_').chars();
    let first = characters.next().filter(|c| c.is_alphabetic())?;
    Some(first.to_lowercase().chain(characters).collect())
}

impl<'s> Clause<'_, 's> {
    fn get(&self, at: usize) -> Option<&Spanned<'s>> {
        self.tokens.get(at)
    }

    fn token(&self, back: usize) -> Option<&Token<'s>> {
        let at = self.at.checked_sub(back)?;
        self.get(at).map(|spanned| &spanned.token)
    }

    fn next(&self) -> Option<&Token<'s>> {
        self.get(self.at + 1).map(|spanned| &spanned.token)
    }

    /// The span from `back` tokens before to the token itself.
    fn span(&self, back: usize) -> Span {
        let end = self.get(self.at);
        let start = self.get(self.at.saturating_sub(back)).or(end);
        match (start, end) {
            (Some(start), Some(end)) => {
                Span::new(self.source, offset(start.start), offset(end.end))
            }
            _ => Span::new(self.source, 0, 0),
        }
    }

    /// What is written `back` tokens before.
    fn written(&self, back: usize) -> String {
        let written = self
            .at
            .checked_sub(back)
            .and_then(|at| self.get(at))
            .and_then(|spanned| self.text.get(spanned.start..spanned.end))
            .unwrap_or("");
        shown(written)
    }

    /// Whether no layout stands between the token and the one before.
    fn adjacent(&self) -> bool {
        self.joined(self.at)
    }

    fn joined(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.get(before));
        match (before, self.get(at)) {
            (Some(before), Some(this)) => before.end == this.start,
            _ => false,
        }
    }

    fn problem(&self, code: Code, message: impl Into<String>) -> Problem {
        Problem::new(code, self.span(0), message)
    }

    fn unexpected(&self) -> Problem {
        let message = match self.token(0) {
            Some(Token::End) => "the clause ends too early".to_owned(),
            _ => format!("unexpected `{}`", self.written(0)),
        };
        self.problem(Code::UnexpectedToken, message)
    }

    /// An opening bracket behind what takes none, or `p()`.
    fn bracket(&self) -> Option<Problem> {
        match (self.token(1)?, self.token(0)?) {
            (Token::Variable(name), Token::Open) if self.adjacent() => {
                let lower = lower_case(name)?;
                let problem = Problem::new(
                    Code::CapitalisedName,
                    self.span(1),
                    format!("`{name}` is a variable, not the name of a predicate"),
                );
                Some(problem.help(format!(
                    "write `{lower}(…)` with a small letter, or `'{name}'(…)`"
                )))
            }
            (Token::Name(_) | Token::Quoted(_), Token::Open) if !self.adjacent() => {
                let name = self.written(1);
                if name == "not" {
                    return None;
                }
                let problem = Problem::new(
                    Code::BlankBeforeBracket,
                    self.span(1),
                    format!("a blank between `{name}` and its bracket"),
                );
                Some(problem.help(format!("write `{name}(…)`")))
            }
            (Token::Open, Token::Close) => {
                let name = self.written(2);
                let named = self.at >= 2 && self.joined(self.at - 1);
                let problem = Problem::new(
                    Code::EmptyArguments,
                    self.span(if named { 2 } else { 1 }),
                    "nothing between the brackets",
                );
                Some(if named {
                    problem.help(format!("write `{name}` without brackets"))
                } else {
                    problem.help("take the brackets out")
                })
            }
            _ => None,
        }
    }

    /// What other languages write.
    fn borrowed_syntax(&self) -> Option<Problem> {
        let this = self.token(0)?;
        let adjacent_next = self.joined(self.at + 1);
        match (self.token(1), this) {
            (Some(Token::Cut), Token::Name(_) | Token::Quoted(_) | Token::Variable(_) | Token::Open) => {
                let goal = self.written(0);
                Some(self.unexpected().help(format!("`!` is the cut; write `\\+ {goal}…` for “not”")))
            }
            (_, Token::Cut) if adjacent_next => match self.next() {
                Some(Token::Symbol("=")) => Some(self.unknown("!=", "\\=")),
                Some(Token::Symbol("==")) => Some(self.unknown("!==", "\\==")),
                _ => None,
            },
            (Some(Token::Name("not")), _) if self.starts_operand(this) => Some(
                self.unexpected()
                    .help(format!("write `\\+ {0}…` or `not({0}…)`", self.written(0))),
            ),
            (_, Token::Bar) if self.next() == Some(&Token::Bar) => Some(self.unknown("||", ";")),
            (_, Token::Bar) => Some(
                self.unexpected()
                    .help("`|` stands before the tail of a list only; write `;` for “or”"),
            ),
            _ => None,
        }
    }

    fn unknown(&self, run: &str, instead: &str) -> Problem {
        self.problem(
            Code::UnknownOperator,
            format!("`{run}` is no operator of Prolog"),
        )
        .help(format!("write `{instead}`"))
    }

    fn starts_operand(&self, token: &Token<'_>) -> bool {
        matches!(
            token,
            Token::Name(_)
                | Token::Variable(_)
                | Token::Quoted(_)
                | Token::Text(_)
                | Token::Number(_)
                | Token::Open
                | Token::OpenList
                | Token::OpenBrace
                | Token::Cut
        )
    }

    /// The brackets that are open before the token: which token opened each.
    fn open_brackets(&self) -> Vec<usize> {
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

    /// A bracket that is not closed, or closes nothing.
    fn unclosed(&self) -> Option<Problem> {
        let token = self.token(0)?;
        if !matches!(token, Token::End | Token::Close | Token::CloseList | Token::CloseBrace) {
            return None;
        }
        let Some(opener) = self.open_brackets().last().and_then(|at| self.get(*at)) else {
            return match token {
                Token::End => None,
                _ => Some(
                    self.problem(
                        Code::UnexpectedToken,
                        format!("`{}` closes nothing", self.written(0)),
                    )
                    .help("take it out, or open the bracket before"),
                ),
            };
        };
        let closer = match opener.token {
            Token::OpenList => Token::CloseList,
            Token::OpenBrace => Token::CloseBrace,
            _ => Token::Close,
        };
        if *token == closer {
            return None;
        }
        let sign = match closer {
            Token::CloseList => "]",
            Token::CloseBrace => "}",
            _ => ")",
        };
        let message = match token {
            Token::End => format!("the clause ends before `{sign}`"),
            _ => format!("`{}` where `{sign}` is due", self.written(0)),
        };
        let span = Span::new(self.source, offset(opener.start), offset(opener.end));
        Some(
            self.problem(Code::UnexpectedToken, message)
                .label(span, "this bracket is open")
                .help(format!("close it with `{sign}`")),
        )
    }

    /// A clause that starts a line where the one before has not ended.
    fn missing_dot(&self, lines: &mut Lines<'_>) -> Option<Problem> {
        let before = self.at.checked_sub(1).and_then(|at| self.get(at))?;
        let this = self.get(self.at)?;
        let between = self.text.get(before.end..this.start)?;
        let operand_before = matches!(
            before.token,
            Token::Name(_)
                | Token::Variable(_)
                | Token::Quoted(_)
                | Token::Text(_)
                | Token::Number(_)
                | Token::Close
                | Token::CloseList
                | Token::CloseBrace
                | Token::Cut
        );
        let starts_clause = match this.token {
            Token::Symbol(":-" | "?-") => true,
            Token::Symbol(_) => false,
            _ => self.starts_operand(&this.token),
        };
        if !(between.contains('\n') && operand_before && starts_clause) {
            return None;
        }
        if !self.open_brackets().is_empty() {
            return None;
        }
        let line = lines.line(before.end);
        Some(
            self.unexpected()
                .help(format!("a dot may be missing at the end of line {line}")),
        )
    }

    /// An operator that is none, or stands where it cannot.
    fn operator(&self) -> Option<Problem> {
        let name = match self.token(0)? {
            Token::Symbol(run) => *run,
            Token::Name(name) => *name,
            _ => return None,
        };
        if name == "." {
            return Some(
                self.problem(Code::UnexpectedToken, "a dot that ends nothing")
                    .help("put a blank or a new line behind the dot that ends a clause"),
            );
        }
        let infix = operators::infix(name);
        let prefix = operators::prefix(name);
        let symbol = matches!(self.token(0), Some(Token::Symbol(_)));
        if infix.is_none() && prefix.is_none() {
            let instead = instead_of(name);
            if !symbol && instead.is_none() {
                return None;
            }
            let problem = self.problem(
                Code::UnknownOperator,
                format!("`{}` is no operator of Prolog", shown(name)),
            );
            let help = match instead {
                Some(instead) => Some(instead.to_owned()),
                None => self.split(name),
            };
            return Some(match help {
                Some(help) => problem.help(help),
                None => problem,
            });
        }
        let problem = self.unexpected();
        if let Some(Token::Symbol(before)) = self.token(1) {
            let joined = format!("{before}{name}");
            if operators::is_operator(&joined) {
                return Some(problem.help(format!("write `{joined}` without a blank")));
            }
        }
        let Some(infix) = infix else {
            return Some(problem.help(format!("put brackets around `{name} …`")));
        };
        Some(match (name, infix.priority) {
            ("=>", _) => problem.help("write `->` for if-then, `:-` for a rule, `>=` to compare"),
            (_, 1200) if self.open_brackets().is_empty() => {
                problem.help("end the clause before with a dot, or join goals with `,`")
            }
            (_, 1000..) => problem.help(format!("put brackets around the part with `{name}`")),
            (_, 700) => problem.help(format!(
                "`{name}` does not chain: write two goals, such as `X {name} Y, Y {name} Z`"
            )),
            _ => problem.help(format!("an operand of `{name}` is missing, or brackets are")),
        })
    }

    /// Where a blank makes operators of a run.
    fn split(&self, run: &str) -> Option<String> {
        let number = matches!(self.next(), Some(Token::Number(_)));
        run.char_indices().skip(1).find_map(|(at, _)| {
            let (left, right) = run.split_at_checked(at)?;
            let right_fits = operators::prefix(right).is_some() && (right != "-" || number || at > 0);
            (operators::infix(left).is_some() && right_fits)
                .then(|| format!("put a blank between them: `{left} {right}`"))
        })
    }

    fn other(&self) -> Problem {
        let problem = self.unexpected();
        match (self.token(1), self.token(0)) {
            (None, Some(Token::End)) => self
                .problem(Code::UnexpectedToken, "a dot without a clause")
                .help("take the dot out"),
            (Some(Token::Comma), _) => {
                problem.help("something is missing behind `,`, or the `,` is one too many")
            }
            (Some(Token::Symbol(_) | Token::Semicolon), Some(Token::End)) => {
                let name = self.written(1);
                problem.help(format!("something is missing behind `{name}`"))
            }
            (Some(_), Some(token)) if self.starts_operand(token) => {
                problem.help("a comma or an operator is missing before it")
            }
            _ => problem,
        }
    }
}

/// What Prolog writes for an operator of another language.
fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "<-" => "write `:-` for a rule, or `X < -1` with a blank to compare",
        "<=" => "write `=<`",
        "=>=" | "=>>" => "write `>=`",
        "<>" | "=/=" | "/=" | "~=" => "write `\\=`, or `=\\=` to compare numbers",
        "===" => "write `==`",
        "&&" | "&" | "and" => "write `,`",
        "or" => "write `;`",
        "not" | "~" => "write `\\+ goal`",
        "if" => "write `head :- body`",
        "then" => "write `( condition -> then ; else )`",
        "else" => "write `( condition -> then ; else )`",
        "in" => "write `member(X, [a, b])`",
        "::=" | ":=:" | "<--" | "<==" | "::-" | ":--" => "write `:-`",
        "=:" => "write `=:=`",
        _ => return None,
    })
}
