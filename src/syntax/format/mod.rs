//! Canonical layout: text in, the same clauses and comments out, laid out in one way.
//!
//! Nothing here changes what a text means: what is written is read again, and compared with what was read, before it is
//! given back. Numbers, strings and escapes stay as they are written; only quotes that a name does not need are dropped.

mod clause;
mod page;
mod words;

use super::lexer::{self, Spanned, Token};
use super::parse::is_readable;
use super::{Clause as ReadClause, ClauseKind, NextClause, Term, TermKind};
use super::{next_clause, parse, scan_fact};
use crate::budget::MAX_DEPTH;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Source, SourceId, Span};
use clause::{Clause, chars};
use page::{Page, joined, trailing};
use words::{Comment, Gap, words};

/// Cells wider than this are not padded to, and do not widen their column.
const MAX_CELL: usize = 40;
/// Facts wider than this do not move the comments behind the others.
const MAX_ROW: usize = 100;

/// The text of a source in canonical layout: a head and each goal of its body on a line of its own, blocks of facts
/// aligned, comments where they are. Lines end in LF, and a byte order mark is dropped.
///
/// The result is read as the same clauses, and formatting it again changes nothing.
///
/// # Errors
/// All that is wrong with the text: what does not parse is not formatted, and neither is a text that changes the
/// operators.
///
/// ```
/// use horngate::{Source, syntax};
/// let text = "role('ann',dev). % a comment\nrole(robert,ops).\nmay(U,T):-role(U,R),\\+blocked(U),gives(R,T).";
/// assert_eq!(
///     syntax::format(&Source::new("a.pl", text)).unwrap(),
///     "role(ann,    dev).  % a comment
/// role(robert, ops).
/// may(U, T) :-
///     role(U, R),
///     \\+ blocked(U),
///     gives(R, T).
/// "
/// );
/// assert!(syntax::format(&Source::new("a.pl", "p(a")).is_err());
/// ```
pub fn format(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let refused = || match parse(SourceId::default(), source).diagnostics {
        found if found.is_empty() => vec![unformatted(Span::default())],
        found => found,
    };
    if !is_readable(source) {
        return Err(refused());
    }
    let text = source.text().replace("\r\n", "\n");
    // Without a layout only the reason is wanted.
    let formatted = layout(&text).unwrap_or_default();
    match same_clauses(source.text(), &formatted) {
        Ok(true) if comments(&formatted) == comments(&text) => Ok(formatted),
        Ok(_) => Err(refused()),
        Err(operators) => Err(vec![operators]),
    }
}

/// Whether both texts are read as the same clauses, and whole.
///
/// # Errors
/// A directive after which a text may be written with other operators.
fn same_clauses(old: &str, new: &str) -> Result<bool, Diagnostic> {
    let (mut old_at, mut new_at) = (0, 0);
    let (mut old_arguments, mut new_arguments) = (Vec::new(), Vec::new());
    loop {
        old_arguments.clear();
        new_arguments.clear();
        if old_at > 0
            && let Some(a) = scan_fact(old, old_at, true, &mut old_arguments)
            && let Some(b) = scan_fact(new, new_at, true, &mut new_arguments)
        {
            if a.name != b.name || old_arguments != new_arguments {
                return Ok(false);
            }
            (old_at, new_at) = (a.end, b.end);
            continue;
        }
        let next =
            |text, at| next_clause(SourceId::default(), text, at, 0, at == 0, true, MAX_DEPTH);
        let (a, b) = (next(old, old_at), next(new, new_at));
        if let NextClause::Clause(clause, _) = &a
            && let Some(operators) = changes_operators(clause)
        {
            return Err(operators);
        }
        match (a, b) {
            (NextClause::Nothing, NextClause::Nothing) => return Ok(true),
            (NextClause::Clause(a, a_end), NextClause::Clause(b, b_end)) => {
                if a.kind != b.kind {
                    return Ok(false);
                }
                (old_at, new_at) = (a_end, b_end);
            }
            _ => return Ok(false),
        }
    }
}

fn unformatted(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnexpectedToken,
        span,
        "this text cannot be formatted without changing it; please report it",
    )
}

/// What is wrong with a directive after which the text may be written with other operators.
fn changes_operators(clause: &ReadClause) -> Option<Diagnostic> {
    match &clause.kind {
        ClauseKind::Directive(goal) if has_op(goal) => {
            let message = "a text that changes the operators cannot be formatted";
            let help =
                "remove the directive: rules that change the operators are not loaded either";
            Some(Diagnostic::new(Code::ChangesSyntax, clause.span, message).help(help))
        }
        _ => None,
    }
}

/// Whether `op/3` occurs in a term, whose depth is bounded by the reader.
fn has_op(term: &Term) -> bool {
    match &term.kind {
        TermKind::Compound(name, args) => {
            (&**name == "op" && args.len() == 3) || args.iter().any(has_op)
        }
        TermKind::Conjunction(parts) | TermKind::Disjunction(parts) => parts.iter().any(has_op),
        TermKind::List(items, tail) => items.iter().chain(tail.as_deref()).any(has_op),
        _ => false,
    }
}

/// The comments of a text in their order.
fn comments(text: &str) -> Vec<String> {
    let mut behind = lexer::preamble(text);
    let mut found = Vec::new();
    let mut read = |text: &str| {
        let gap = Gap::read(text);
        found.extend(gap.comments.iter().map(|comment| comment.text.to_owned()));
    };
    for token in lexer::tokens(SourceId::default(), text) {
        read(text.get(behind..token.start).unwrap_or(""));
        behind = token.end;
    }
    read(text.get(behind..).unwrap_or(""));
    found
}

/// The text in canonical layout; `None` for some that do not parse.
fn layout(text: &str) -> Option<String> {
    let mut writer = Writer::default();
    let start = lexer::preamble(text);
    let first = text.get(..start).unwrap_or("");
    writer.page.put(first.trim_start_matches('\u{feff}'));
    let (mut behind, mut tokens): (usize, Vec<Spanned<'_>>) = (start, Vec::new());
    for token in lexer::tokens_from(SourceId::default(), text, start) {
        let (ends, end) = (token.token == Token::End, token.end);
        tokens.push(token);
        if ends {
            let words = words(text, behind, &tokens).ok()?;
            writer.push(Clause::new(words));
            tokens.clear();
            behind = end;
        }
    }
    Some(writer.finish(Gap::read(text.get(behind..).unwrap_or(""))))
}

/// A clause that waits for the end of its block.
struct Row<'s> {
    clause: Clause<'s>,
    /// The comments before it, on lines of their own, and the line ends behind them.
    before: Vec<Comment<'s>>,
    newlines: usize,
    /// The comments behind it, in its last line.
    behind: Vec<Comment<'s>>,
}

/// Clauses on their way to the page.
#[derive(Default)]
struct Writer<'s> {
    page: Page,
    /// Facts of one predicate without an empty line between, or one other clause.
    block: Vec<Row<'s>>,
    /// The comments before the last clause's end, which belong behind it.
    carried: Vec<Comment<'s>>,
}

impl<'s> Writer<'s> {
    fn push(&mut self, clause: Clause<'s>) {
        let gap = clause.before().clone();
        let empty_line = gap.has_empty_line();
        let (before, newlines) = self.split(gap);
        let kin = |row: &Row<'s>| match (row.clause.cells(), clause.cells()) {
            (Some((name, cells)), Some((other, others))) => {
                name == other && cells.len() == others.len()
            }
            _ => false,
        };
        if empty_line || !self.block.last().is_some_and(kin) {
            self.flush();
        }
        self.carried = clause.before_end().to_vec();
        self.block.push(Row {
            clause,
            before,
            newlines,
            behind: Vec::new(),
        });
    }

    /// Gives the comments behind the last clause to it; what is left stands before the next.
    fn split(&mut self, gap: Gap<'s>) -> (Vec<Comment<'s>>, usize) {
        let mut comments = std::mem::take(&mut self.carried);
        comments.extend(gap.comments);
        let Some(last) = self.block.last_mut() else {
            return (comments, gap.newlines);
        };
        let count = trailing(&comments, gap.newlines);
        last.behind.extend(comments.drain(..count));
        (comments, gap.newlines)
    }

    /// Writes the block.
    fn flush(&mut self) {
        let block = std::mem::take(&mut self.block);
        let widths = widths(&block);
        let texts: Vec<String> = block
            .iter()
            .map(|row| match row.clause.cells() {
                Some((_, cells)) => page::row(&row.clause, &cells, &widths),
                None => page::layout(&row.clause),
            })
            .collect();
        let lines = texts.iter().map(|text| chars(text));
        let widest = lines.filter(|width| *width <= MAX_ROW).max().unwrap_or(0);
        for (row, text) in block.iter().zip(&texts) {
            self.lead(&row.before, row.newlines);
            self.page.put(text);
            if !row.behind.is_empty() {
                let pad = match block.len() {
                    1 => 0,
                    _ => widest.saturating_sub(chars(text)),
                };
                self.page.put(&" ".repeat(pad + 2));
                self.page.put(&joined(&row.behind));
            }
        }
    }

    /// Starts a line, but for the first of the text, behind the comments before it.
    fn lead(&mut self, comments: &[Comment<'s>], newlines: usize) {
        if !self.page.text.is_empty() {
            return self.page.lead(comments, newlines, 0, true);
        }
        let mut page = Page::default();
        page.lead(comments, newlines, 0, true);
        self.page.put(page.text.trim_start_matches('\n'));
    }

    fn finish(mut self, rest: Gap<'s>) -> String {
        let newlines = rest.newlines.max(1);
        let (comments, newlines) = self.split(Gap { newlines, ..rest });
        self.flush();
        if !comments.is_empty() {
            self.lead(&comments, newlines.min(1));
        }
        let mut text = self.page.text;
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}

/// The width of each column of a block.
fn widths(block: &[Row<'_>]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in block {
        let cells = row.clause.cells().map_or(Vec::new(), |(_, cells)| cells);
        widths.resize(widths.len().max(cells.len()), 0);
        for (cell, widest) in cells.into_iter().zip(&mut widths) {
            let width = row.clause.cell_width(cell);
            if width <= MAX_CELL {
                *widest = width.max(*widest);
            }
        }
    }
    widths
}
