//! A clause in canonical layout.
//!
//! Nothing here changes a word or the order of words and comments; a body that is a bare disjunction gets the brackets that
//! its layout wants. Recursion is bounded: what is nested deeply stays on one line.

use super::clause::{BROKEN_WIDTH, Clause, chars};
use super::words::{Comment, Gap, Role};
use crate::syntax::shape;

/// How far goals and items are indented.
const STEP: usize = 4;
/// How wide a line with a group of goals or a list of declarations may be.
const WIDTH: usize = 80;
/// How many goals a group on one line may have.
const FLAT_GOALS: usize = 3;

/// The fact whose cells are given, each padded to its column's width.
pub(super) fn row(clause: &Clause<'_>, cells: &[(usize, usize)], widths: &[usize]) -> String {
    let mut page = Page::default();
    page.put(clause.word(0));
    for (column, (start, end)) in cells.iter().enumerate() {
        page.flat(clause, *start, *end);
        if column + 1 < cells.len() {
            let own = clause.width(*start, *end);
            let width = widths.get(column).copied().unwrap_or(own);
            page.put(",");
            page.put(&" ".repeat(width.saturating_sub(own) + 1));
        }
    }
    page.put(").");
    page.text
}

/// The clause, without what stands before it and behind its end.
pub(super) fn layout(clause: &Clause<'_>) -> String {
    let mut page = Page::default();
    let end = clause.end();
    let neck = clause
        .level(0, end)
        .find(|at| clause.role(*at) == Role::Infix(1200));
    match (clause.role(0), neck) {
        (Role::Prefix(1200), None) => page.directive(clause, end),
        (_, Some(neck)) => {
            page.term(clause, 0, neck, 0);
            page.put(" ");
            page.put(clause.word(neck));
            let gaps = [clause.gap(neck), clause.gap(neck + 1)].concat();
            page.gap(&gaps, STEP, false);
            page.body(clause, neck + 1, end, STEP);
        }
        _ => page.term(clause, 0, end, 0),
    }
    if page.text.ends_with(shape::is_symbol) {
        page.put(" ");
    }
    page.put(".");
    page.text
}

/// How many of the comments behind a word, `newlines` line ends before the next, stand behind it in its line.
pub(super) fn trailing(comments: &[Comment<'_>], newlines: usize) -> usize {
    for (at, comment) in comments.iter().enumerate() {
        if comment.newlines > 0 {
            return at;
        }
        if comment.is_line() {
            return at + 1;
        }
    }
    // What is followed by a word in the same line belongs to that word.
    if newlines > 0 { comments.len() } else { 0 }
}

/// Comments in one line.
pub(super) fn joined(comments: &[Comment<'_>]) -> String {
    let texts: Vec<&str> = comments.iter().map(|comment| comment.text).collect();
    texts.join(" ")
}

/// Text that is being laid out.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) text: String,
    /// The indentation of the current line.
    indent: usize,
    /// How wide the current line is.
    column: usize,
}

impl Page {
    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => chars(last),
            None => self.column + chars(text),
        };
    }

    pub(super) fn line(&mut self, indent: usize) {
        self.text.push('\n');
        self.column = 0;
        self.put(&" ".repeat(indent));
        self.indent = indent;
    }

    pub(super) fn empty_line(&mut self) {
        self.text.push('\n');
    }

    /// What stands in gaps between two words of which the second starts a line; between two gaps is the comma or neck that
    /// is written already.
    fn gap(&mut self, gaps: &[Gap<'_>], indent: usize, empty_lines: bool) {
        let newlines = gaps.last().map_or(0, |gap| gap.newlines);
        let comments: Vec<Comment<'_>> = gaps
            .iter()
            .flat_map(|gap| gap.comments.iter().copied())
            .collect();
        let own = match gaps {
            [first, _] => trailing(&first.comments, 1),
            _ => 0,
        };
        let behind = trailing(&comments, newlines).max(own);
        let before = self.behind(&comments, behind);
        self.lead(before, newlines, indent, empty_lines);
    }

    /// What stands in the gap before a word that closes or parts: comments, indented by themselves, and a line's start.
    fn gap_before(&mut self, gap: &[Gap<'_>], comment_indent: usize, indent: usize) {
        let comments: &[Comment<'_>] = gap.first().map_or(&[], |gap| &gap.comments);
        let before = self.behind(comments, trailing(comments, 1));
        if let Some((last, others)) = before.split_last() {
            self.lead(others, last.newlines.max(1), comment_indent, false);
            self.put(last.text);
        }
        self.line(indent);
    }

    /// Writes the first comments behind a word; gives the others.
    fn behind<'c, 's>(&mut self, comments: &'c [Comment<'s>], count: usize) -> &'c [Comment<'s>] {
        let (behind, before) = comments.split_at_checked(count).unwrap_or((comments, &[]));
        if !behind.is_empty() {
            self.put("  ");
            self.put(&joined(behind));
        }
        before
    }

    /// Starts a line, behind lines for the comments that stand before it.
    pub(super) fn lead(
        &mut self,
        comments: &[Comment<'_>],
        newlines: usize,
        indent: usize,
        empty_lines: bool,
    ) {
        let mut inline = false;
        for (at, comment) in comments.iter().enumerate() {
            if inline {
                self.put(" ");
            } else {
                if empty_lines && comment.newlines > 1 {
                    self.empty_line();
                }
                self.line(indent);
            }
            self.put(comment.text);
            let next = comments.get(at + 1).map_or(newlines, |next| next.newlines);
            inline = !comment.is_line() && next == 0;
        }
        if inline {
            return self.put(" ");
        }
        if empty_lines && newlines > 1 {
            self.empty_line();
        }
        self.line(indent);
    }

    /// Words on one line.
    fn flat(&mut self, clause: &Clause<'_>, start: usize, end: usize) {
        for at in start..end {
            if at > start {
                self.between(clause, at, self.indent + STEP);
            }
            self.put(clause.word(at));
        }
    }

    /// The blank and the comments before a word that does not start a line.
    fn between(&mut self, clause: &Clause<'_>, at: usize, indent: usize) {
        let comments = clause.gap(at).iter().flat_map(|gap| &gap.comments);
        let mut commented = false;
        for comment in comments {
            if !self.text.ends_with([' ', '(', '[', '{']) {
                self.put(" ");
            }
            self.put(comment.text);
            commented = true;
            if comment.is_line() {
                self.line(indent);
            }
        }
        let touches = matches!(clause.role(at), Role::Close | Role::Comma | Role::End);
        let blank = clause.has_blank(at) || (commented && !touches);
        if blank && !self.text.ends_with(' ') {
            self.put(" ");
        }
    }

    /// A term: on one line, but for brackets that are broken.
    fn term(&mut self, clause: &Clause<'_>, start: usize, end: usize, indent: usize) {
        let mut at = start;
        while at < end {
            if at > start {
                self.between(clause, at, indent + STEP);
            }
            self.put(clause.word(at));
            if clause.may_break(at) {
                let close = clause.closes(at).min(end);
                self.bracket(clause, at, close);
                at = close;
            }
            at += 1;
        }
    }

    /// What is in a bracket that was just opened, and what closes it.
    fn bracket(&mut self, clause: &Clause<'_>, open: usize, close: usize) {
        let own_level = clause.level(open + 1, close);
        let lines = own_level.chain([close]).any(|at| {
            let gap = clause.gap(at).first();
            gap.is_some_and(|gap| {
                gap.needs_lines() || (at == open + 1 && at < close && gap.breaks())
            })
        });
        // What breaks an inner bracket does not break this one.
        let wide = self.column + clause.width(open + 1, close + 1) > BROKEN_WIDTH
            && clause
                .level(open + 1, close)
                .chain([close])
                .any(|at| clause.gap(at).iter().any(Gap::breaks));
        if !lines && !wide {
            let mut from = open + 1;
            for at in clause.level(open + 1, close) {
                if matches!(clause.role(at), Role::Comma | Role::Bar) {
                    self.part(clause, from, at);
                    self.between(clause, at, self.indent + STEP);
                    self.put(clause.word(at));
                    from = at + 1;
                }
            }
            self.part(clause, from, close);
            self.between(clause, close, self.indent + STEP);
            self.put(clause.word(close));
            return;
        }
        let indent = self.indent;
        let mut from = open + 1;
        self.gap(clause.gap(from), indent + STEP, false);
        for at in clause.level(open + 1, close) {
            if !matches!(clause.role(at), Role::Comma | Role::Bar) {
                continue;
            }
            self.term(clause, from, at, indent + STEP);
            from = at + 1;
            if clause.role(at) == Role::Bar {
                self.gap_before(clause.gap(at), indent + STEP, indent);
                self.put("|");
                self.put(&" ".repeat(STEP - 1));
                self.between(clause, from, indent + STEP);
            } else {
                self.put(",");
                let gaps = [clause.gap(at), clause.gap(from)].concat();
                self.gap(&gaps, indent + STEP, true);
            }
        }
        self.term(clause, from, close, indent + STEP);
        self.gap_before(clause.gap(close), indent + STEP, indent);
        self.put(clause.word(close));
    }

    /// One item of a bracket on one line.
    fn part(&mut self, clause: &Clause<'_>, start: usize, end: usize) {
        self.between(clause, start, self.indent + STEP);
        self.term(clause, start, end, self.indent);
    }

    fn directive(&mut self, clause: &Clause<'_>, end: usize) {
        self.put(clause.word(0));
        let declares = matches!(clause.role(1), Role::Prefix(1150));
        let start = if declares { 2 } else { 1 };
        let commas = clause
            .level(start, end)
            .any(|at| clause.role(at) == Role::Comma);
        let lines = clause.level(1, end).any(|at| {
            let gap = clause.gap(at).first();
            gap.is_some_and(|gap| gap.needs_lines() || (declares && at == start && gap.breaks()))
        });
        if !commas || (!lines && clause.width(0, end) < WIDTH) {
            self.between(clause, 1, STEP);
            return self.term(clause, 1, end, 0);
        }
        if declares {
            self.between(clause, 1, STEP);
            self.put(clause.word(1));
        }
        self.gap(clause.gap(start), STEP, false);
        self.goals(clause, start, end, STEP);
    }

    /// The body of a rule.
    fn body(&mut self, clause: &Clause<'_>, start: usize, end: usize, indent: usize) {
        if clause.level(start, end).any(|at| clause.role(at).parts()) {
            self.group(clause, (start, end), false, indent);
        } else {
            self.goals(clause, start, end, indent);
        }
    }

    /// Goals that commas part, one a line.
    fn goals(&mut self, clause: &Clause<'_>, start: usize, end: usize, indent: usize) {
        let mut from = start;
        for at in clause.level(start, end) {
            if clause.role(at) == Role::Comma {
                self.goal(clause, from, at, indent);
                self.put(",");
                from = at + 1;
                let gaps = [clause.gap(at), clause.gap(from)].concat();
                self.gap(&gaps, indent, true);
            }
        }
        self.goal(clause, from, end, indent);
    }

    fn goal(&mut self, clause: &Clause<'_>, start: usize, end: usize, indent: usize) {
        let mut at = start;
        while at + 1 < end && clause.role(at) == Role::Prefix(900) {
            if at > start {
                self.between(clause, at, indent + STEP);
            }
            self.put(clause.word(at));
            at += 1;
        }
        if at > start {
            self.between(clause, at, indent + STEP);
        }
        let control = |at: usize| clause.role(at) == Role::Comma || clause.role(at).parts();
        let group = clause.role(at) == Role::Group
            && clause.may_break(at)
            && clause.closes(at) + 1 == end
            && clause.level(at + 1, end - 1).any(control);
        if group {
            self.group(clause, (at + 1, end - 1), at > start, indent);
        } else {
            self.term(clause, at, end, indent);
        }
    }

    /// A group of goals in brackets, also if it has none: on one line if it is small, else each goal on its own.
    fn group(
        &mut self,
        clause: &Clause<'_>,
        (start, end): (usize, usize),
        prefixed: bool,
        indent: usize,
    ) {
        let parts = |at: &usize| clause.role(*at) == Role::Comma || clause.role(*at).parts();
        let goals = clause.level(start, end).filter(parts).count() + 1;
        let nested = |at: usize| {
            clause.role(at) == Role::Group
                && clause.level(at + 1, clause.closes(at)).any(|at| parts(&at))
        };
        let bracketed = clause.role(start.wrapping_sub(1)) == Role::Group;
        // What stands before and behind a bare body is laid out elsewhere.
        let comments = |at: usize| clause.gap(at).iter().any(Gap::needs_lines);
        let flat = goals <= FLAT_GOALS
            && !(start..end).any(nested)
            && clause.is_flat(start, end)
            && !(bracketed && (comments(start) || comments(end)))
            && self.column + clause.width(start, end) + 5 <= WIDTH;
        if flat {
            self.put("( ");
            if bracketed {
                self.between(clause, start, indent);
            }
            self.flat(clause, start, end);
            if bracketed {
                self.between(clause, end, indent);
            }
            return self.put(" )");
        }
        self.put("(");
        let inner = indent + STEP;
        let first = if bracketed { clause.gap(start) } else { &[] };
        let own_line = prefixed || first.iter().any(Gap::needs_lines);
        if own_line {
            self.gap(first, inner, false);
        } else {
            self.put(&" ".repeat(STEP - 1));
            self.indent = inner;
            if bracketed {
                self.between(clause, start, inner);
            }
        }
        let mut goals_from = start;
        for at in clause.level(start, end) {
            if !clause.role(at).parts() {
                continue;
            }
            self.goals(clause, goals_from, at, inner);
            self.gap_before(clause.gap(at), indent, indent);
            self.put(clause.word(at));
            goals_from = at + 1;
            let gap = clause.gap(goals_from);
            if gap.iter().any(Gap::needs_lines) {
                self.gap(gap, inner, false);
            } else {
                let used = chars(clause.word(at));
                self.put(&" ".repeat(STEP.saturating_sub(used).max(1)));
                self.indent = inner;
                self.between(clause, goals_from, inner);
            }
        }
        self.goals(clause, goals_from, end, inner);
        let last = if bracketed { clause.gap(end) } else { &[] };
        self.gap_before(last, inner, indent);
        self.put(")");
    }
}
