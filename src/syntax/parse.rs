//! The door of the reader: a source in, clauses and all diagnostics out.
//!
//! Nothing here stops at the first fault, and nothing of the parser generator is seen outside this file.

use super::ast::{Clause, ClauseKind, Term, TermKind};
use super::build::{Builder, Node};
use super::context::{Context, Lines};
use super::hints;
use super::lexer::{self, Problem, Spanned, Token};
use super::numeral::shown;
use super::tokens::{classify, offset};
use crate::budget::{Budget, MAX_DEPTH};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{MAX_SOURCE_BYTES, Source, SourceId, Span};
use lalrpop_util::ParseError;

#[expect(
    clippy::all,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes,
    reason = "generated"
)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/rules.rs"));
}

/// The most tokens of one clause.
const MAX_CLAUSE_TOKENS: usize = 1 << 22;

/// The most diagnostics of one source: what is no rule file at all need not be told character by character.
const MAX_DIAGNOSTICS: usize = 10_000;

/// What a source contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// The clauses that could be read, in order.
    pub clauses: Vec<Clause>,
    /// All that is wrong with the text, up to 10,000 findings, in the order of their places. A source with any error must
    /// not be loaded.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads all clauses of `source`.
///
/// After a directive `:- op(…)` the syntax errors that follow are left out: a later stage refuses the directive, and what
/// follows it may be written in another syntax.
///
/// ```
/// use horngate::{Source, Sources, syntax};
/// let mut sources = Sources::default();
/// let id = sources.push(Source::new("a.pl", "p(a). p(b). p(c"));
/// let parsed = syntax::parse(id, sources.get(id).unwrap());
/// assert_eq!(parsed.clauses.len(), 2);
/// assert_eq!(parsed.diagnostics[0].message, "the last clause has no end dot");
/// ```
#[must_use]
pub fn parse(id: SourceId, source: &Source) -> Parsed {
    parse_within(id, source, &Budget::default(), 0)
}

/// Reads the clauses of `source` within a budget of which so many clauses are spent.
pub(crate) fn parse_within(id: SourceId, source: &Source, budget: &Budget, spent: u64) -> Parsed {
    let mut reader = Reader::new(id, source);
    reader.depth = budget.nesting();
    reader.clauses = budget.clauses;
    reader.spent = spent;
    if let Some(problem) = unreadable(id, source) {
        reader.report(problem);
        return reader.parsed;
    }
    reader.clauses();
    let mut parsed = reader.parsed;
    parsed
        .diagnostics
        .sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    parsed
}

/// What [`next_clause`] found.
pub(crate) enum NextClause {
    /// A clause, and where the text goes on.
    Clause(Box<Clause>, usize),
    /// Only layout and comments.
    Nothing,
    /// No end of a clause: it may come with more text.
    Incomplete,
    /// Something that is not to be loaded.
    Refused,
}

/// Reads the clause that comes next at `at` in a text that stands at `base` in its source. `first` says that this is
/// the start of the source, `complete` that its end is the end of the text.
pub(crate) fn next_clause(
    id: SourceId,
    text: &str,
    at: usize,
    base: usize,
    first: bool,
    complete: bool,
    depth: usize,
) -> NextClause {
    let start = if first { lexer::preamble(text) } else { at };
    let mut tokens = Vec::new();
    for spanned in lexer::tokens_from(id, text, start) {
        let end = spanned.end;
        let ends = spanned.token == Token::End && (complete || end < text.len());
        tokens.push(spanned);
        if tokens.len() >= MAX_CLAUSE_TOKENS {
            return NextClause::Refused;
        }
        if !ends {
            continue;
        }
        let mut reader = Reader::over(id, text);
        reader.depth = depth;
        reader.clause(&tokens);
        return match (
            reader.parsed.clauses.pop(),
            reader.parsed.diagnostics.is_empty(),
        ) {
            (Some(mut clause), true) => {
                clause.shift(offset(base));
                NextClause::Clause(Box::new(clause), end)
            }
            _ => NextClause::Refused,
        };
    }
    match (complete, tokens.is_empty()) {
        (false, _) => NextClause::Incomplete,
        (true, true) => NextClause::Nothing,
        (true, false) => NextClause::Refused,
    }
}

/// Reads one goal, as given on a command line: the end dot and a `?-` before it may be missing.
///
/// # Errors
/// All that is wrong with the text.
///
/// ```
/// use horngate::{Source, Sources, syntax};
/// let mut sources = Sources::default();
/// let id = sources.push(Source::new("goal", "may(X,tool_repl)"));
/// let goal = syntax::parse_goal(id, sources.get(id).unwrap()).unwrap();
/// assert_eq!(goal.functor(), Some(("may", 2)));
/// ```
pub fn parse_goal(id: SourceId, source: &Source) -> Result<Term, Vec<Diagnostic>> {
    let mut reader = Reader::new(id, source);
    let term = match unreadable(id, source) {
        Some(problem) => {
            reader.report(problem);
            None
        }
        None => reader.goal(),
    };
    match term {
        Some(term) if reader.parsed.diagnostics.is_empty() => Ok(term),
        _ => Err(reader.parsed.diagnostics),
    }
}

/// Whether the source as a whole can be read.
pub(super) fn is_readable(source: &Source) -> bool {
    unreadable(SourceId::default(), source).is_none()
}

/// Why the source as a whole cannot be read, if it cannot.
fn unreadable(id: SourceId, source: &Source) -> Option<Problem> {
    if source.text().len() > MAX_SOURCE_BYTES {
        let problem = Problem::new(
            Code::TooLong,
            Span::new(id, 0, 0),
            format!("the source is longer than {MAX_SOURCE_BYTES} bytes"),
        );
        return Some(problem.help("split it into several files"));
    }
    let at = source.invalid_utf8()?;
    let problem = Problem::new(
        Code::NotUtf8,
        Span::new(id, at, at),
        "the text is not UTF-8 from here on",
    );
    Some(problem.help("save the file as UTF-8"))
}

struct Reader<'s> {
    id: SourceId,
    text: &'s str,
    lines: Lines<'s>,
    parser: grammar::ClauseParser,
    parsed: Parsed,
    /// How deeply brackets and terms may be nested.
    depth: usize,
    /// How many clauses there may be, and how many were read before this source.
    clauses: u64,
    spent: u64,
    /// Whether an `op/3` directive was read.
    operators_changed: bool,
}

impl<'s> Reader<'s> {
    fn new(id: SourceId, source: &'s Source) -> Self {
        Self::over(id, source.text())
    }

    fn over(id: SourceId, text: &'s str) -> Self {
        Self {
            id,
            text,
            lines: Lines::new(text),
            parser: grammar::ClauseParser::new(),
            parsed: Parsed::default(),
            depth: MAX_DEPTH,
            clauses: u64::MAX,
            spent: 0,
            operators_changed: false,
        }
    }

    /// Reads clause by clause.
    fn clauses(&mut self) {
        let mut tokens = Vec::new();
        let mut bad = 0;
        for spanned in lexer::tokens(self.id, self.text) {
            let ends = spanned.token == Token::End;
            let end = spanned.end;
            bad += usize::from(matches!(spanned.token, Token::Bad(_)));
            tokens.push(spanned);
            if ends {
                let read = u64::try_from(self.parsed.clauses.len()).unwrap_or(u64::MAX);
                if self.spent.saturating_add(read) >= self.clauses {
                    let problem = out_of_clauses(self.cover(&tokens), self.clauses);
                    self.parsed.diagnostics.push(problem);
                    return;
                }
                self.clause(&tokens);
                tokens.clear();
            }
            let full = tokens.len() >= MAX_CLAUSE_TOKENS;
            if full || bad.max(self.parsed.diagnostics.len()) >= MAX_DIAGNOSTICS {
                self.give_up(&tokens, end, full);
                return;
            }
        }
        if !tokens.is_empty() {
            self.unfinished(&tokens);
        }
    }

    /// Leaves the rest of the source unread: it is refused anyway.
    fn give_up(&mut self, tokens: &[Spanned<'_>], end: usize, full: bool) {
        self.report_bad(tokens);
        let message = if full {
            format!("a clause of more than {MAX_CLAUSE_TOKENS} tokens")
        } else {
            format!("more than {MAX_DIAGNOSTICS} errors")
        };
        let span = Span::new(self.id, offset(end), offset(end));
        let problem = Problem::new(Code::TooLong, span, message);
        self.report(problem.help("the rest of the source was not read"));
    }

    fn report(&mut self, problem: Problem) {
        if self.operators_changed && problem.0.code.kind() == "syntax" {
            return;
        }
        self.parsed.diagnostics.push(*problem.0);
    }

    /// Reports the tokens that are none; whether there were any.
    fn report_bad(&mut self, tokens: &[Spanned<'_>]) -> bool {
        let before = self.parsed.diagnostics.len();
        for spanned in tokens {
            if let Token::Bad(problem) = &spanned.token {
                self.parsed.diagnostics.push(*problem.0.clone());
            }
        }
        self.parsed.diagnostics.len() > before
    }

    /// Reads the clause that the tokens, the last of which is its end, make up.
    fn clause(&mut self, tokens: &[Spanned<'_>]) {
        let Some(term) = self.term(tokens) else {
            return;
        };
        let span = self.cover(tokens);
        let kind = clause_kind(term);
        if let Some(problem) = refused_clause(&kind) {
            self.report(problem);
            return;
        }
        self.operators_changed |=
            matches!(&kind, ClauseKind::Directive(goal) if goal.functor() == Some(("op", 3)));
        self.parsed.clauses.push(Clause { kind, span });
    }

    fn term(&mut self, tokens: &[Spanned<'_>]) -> Option<Term> {
        if self.report_bad(tokens) {
            return None;
        }
        match self.read(tokens) {
            Ok(node) => Some(node.term),
            Err(problem) => {
                self.report(problem);
                None
            }
        }
    }

    fn read(&mut self, tokens: &[Spanned<'_>]) -> Result<Node, Problem> {
        let classified = classify(self.id, tokens, self.depth)?;
        let mut builder = Builder::new(self.id, self.depth);
        let result = self.parser.parse(
            &mut builder,
            classified
                .into_iter()
                .map(Ok::<_, std::convert::Infallible>),
        );
        let at = match result {
            Ok(node) => {
                return match builder.into_problem() {
                    Some(problem) => Err(problem),
                    None => Ok(node),
                };
            }
            Err(
                ParseError::UnrecognizedToken {
                    token: (start, ..), ..
                }
                | ParseError::ExtraToken {
                    token: (start, ..), ..
                },
            ) => tokens.partition_point(|spanned| offset(spanned.start) < start),
            Err(
                ParseError::UnrecognizedEof { .. }
                | ParseError::InvalidToken { .. }
                | ParseError::User { .. },
            ) => tokens.len().saturating_sub(1),
        };
        let context = Context {
            source: self.id,
            text: self.text,
            tokens,
            at,
        };
        Err(hints::unexpected(&context, &mut self.lines))
    }

    /// Reports that the last clause has no end.
    fn unfinished(&mut self, tokens: &[Spanned<'_>]) {
        if !self.report_bad(tokens) {
            let problem = hints::missing_end(self.id, tokens);
            self.report(problem);
        }
    }

    fn goal(&mut self) -> Option<Term> {
        let mut tokens: Vec<_> = lexer::tokens(self.id, self.text).collect();
        if tokens.last().is_none_or(|last| last.token != Token::End) {
            tokens.push(Spanned {
                token: Token::End,
                start: self.text.len(),
                end: self.text.len(),
            });
        }
        let ends = |spanned: &Spanned<'_>| spanned.token == Token::End;
        let first = tokens.iter().position(ends).map_or(0, |at| at + 1);
        if let Some(more) = tokens.get(first) {
            let span = Span::new(self.id, offset(more.start), offset(more.end));
            let problem = Problem::new(Code::UnexpectedToken, span, "more than one goal");
            self.report(problem.help("join goals with `,`"));
            return None;
        }
        let term = self.term(&tokens)?;
        let goal = match clause_kind(term) {
            ClauseKind::Fact(term) | ClauseKind::Query(term) => term,
            ClauseKind::Rule(head, _)
            | ClauseKind::Grammar(head, _)
            | ClauseKind::SingleSided(head, _)
            | ClauseKind::Directive(head) => {
                let problem = Problem::new(
                    Code::UnexpectedToken,
                    head.span,
                    "this is a clause, not a goal",
                );
                self.report(problem);
                return None;
            }
        };
        if let Some(problem) = not_a_goal(&goal) {
            self.report(problem);
        }
        Some(goal)
    }

    fn cover(&self, tokens: &[Spanned<'_>]) -> Span {
        let start = tokens.first().map_or(0, |first| first.start);
        let end = tokens.last().map_or(0, |last| last.end);
        Span::new(self.id, offset(start), offset(end))
    }
}

/// The error that one clause more than there may be stands at `span`.
pub(crate) fn out_of_clauses(span: Span, limit: u64) -> Diagnostic {
    let reached = limit.saturating_add(1);
    let message = format!("the budget of {limit} clauses ran out at {reached}");
    Diagnostic::new(Code::Budget, span, message)
        .help("if there are to be more, raise `--max-clauses`")
}

fn clause_kind(mut term: Term) -> ClauseKind {
    let TermKind::Compound(name, args) = &mut term.kind else {
        return ClauseKind::Fact(term);
    };
    let known = match (&**name, args.len()) {
        (":-" | "?-", 1) | (":-" | "-->" | "=>", 2) => args.pop(),
        _ => None,
    };
    let Some(last) = known else {
        return ClauseKind::Fact(term);
    };
    match (&**name, args.pop()) {
        (":-", Some(head)) => ClauseKind::Rule(head, last),
        ("-->", Some(head)) => ClauseKind::Grammar(head, last),
        (_, Some(head)) => ClauseKind::SingleSided(head, last),
        (":-", None) => ClauseKind::Directive(last),
        (_, None) => ClauseKind::Query(last),
    }
}

/// Why this is no clause, if it is none.
fn refused_clause(kind: &ClauseKind) -> Option<Problem> {
    match kind {
        ClauseKind::Fact(head) => not_a_head(head),
        ClauseKind::Rule(head, body) => not_a_head(head).or_else(|| not_a_goal(body)),
        ClauseKind::Grammar(head, _) | ClauseKind::SingleSided(head, _) => not_a_head(head),
        ClauseKind::Directive(goal) | ClauseKind::Query(goal) => not_a_goal(goal),
    }
}

fn not_a_head(head: &Term) -> Option<Problem> {
    let problem = |message: String| Problem::new(Code::NotAClause, head.span, message);
    match &head.kind {
        TermKind::Variable(name) => {
            let help = match hints::lower_case(name) {
                Some(lower) => format!("write `{lower}` with a small letter, or `'{name}'`"),
                None => "a clause starts with the name of a predicate".to_owned(),
            };
            Some(
                problem(format!(
                    "the variable `{name}` where a clause's head is meant"
                ))
                .help(help),
            )
        }
        TermKind::Integer(_) | TermKind::Float(_) => Some(
            problem("a number where a clause's head is meant".to_owned())
                .help("a clause starts with the name of a predicate"),
        ),
        TermKind::String(text) => Some(
            problem(format!(
                "the string `\"{}\"` where a clause's head is meant",
                shown(text)
            ))
            .help("a clause starts with the name of a predicate"),
        ),
        TermKind::List(..) | TermKind::Nil => Some(
            problem("a list where a clause's head is meant".to_owned())
                .help("state each item with a predicate of its own, such as `item(a).`"),
        ),
        TermKind::Compound(name, args) if &**name == ":=" && args.len() == 2 => {
            Some(problem("`:=` where `:-` is meant".to_owned()).help("write `head :- body`"))
        }
        _ => None,
    }
}

/// The first number or string that stands where a goal is meant.
fn not_a_goal(goal: &Term) -> Option<Problem> {
    match &goal.kind {
        TermKind::Integer(_) | TermKind::Float(_) | TermKind::String(_) => Some(
            Problem::new(
                Code::NotAGoal,
                goal.span,
                "a number or string where a goal is meant",
            )
            .help("a goal is an atom or a compound such as `role(X, dev)`"),
        ),
        TermKind::Conjunction(goals) | TermKind::Disjunction(goals) => {
            goals.iter().find_map(not_a_goal)
        }
        TermKind::Compound(name, args)
            if matches!((&**name, args.len()), ("\\+", 1) | ("->" | "*->", 2)) =>
        {
            args.iter().find_map(not_a_goal)
        }
        _ => None,
    }
}
