//! One clause's words and what is known of them: what closes what, where blanks stand, how wide they are.
//!
//! Nothing here is written.

use super::words::{Comment, Gap, Role, Word};
use crate::syntax::shape;

/// How wide a line may be whose brackets its author broke.
pub(super) const BROKEN_WIDTH: usize = 100;
/// Brackets nested deeper than this stay on one line.
const MAX_DEPTH: usize = 32;

/// A clause and what is known of its words.
#[derive(Debug)]
pub(super) struct Clause<'s> {
    words: Vec<Word<'s>>,
    /// For each opening word the word that closes it.
    close: Vec<usize>,
    /// For each opening word how many brackets are open behind it.
    depth: Vec<usize>,
    /// Whether a blank stands before the word if it is on the same line as the word before.
    blank: Vec<bool>,
    /// The width of all words before, on one line.
    width: Vec<usize>,
    /// How many of the words before start a line of their own, whatever the layout is.
    broken: Vec<usize>,
}

impl<'s> Clause<'s> {
    pub(super) fn new(words: Vec<Word<'s>>) -> Self {
        let mut clause = Self {
            close: vec![0; words.len()],
            depth: vec![0; words.len()],
            blank: vec![false; words.len()],
            width: vec![0; words.len() + 1],
            broken: vec![0; words.len() + 1],
            words,
        };
        let mut open = Vec::new();
        for (at, word) in clause.words.iter().enumerate() {
            if word.role.opens() {
                open.push(at);
                if let Some(slot) = clause.depth.get_mut(at) {
                    *slot = open.len();
                }
            } else if word.role == Role::Close
                && let Some(slot) = open.pop().and_then(|opener| clause.close.get_mut(opener))
            {
                *slot = at;
            }
        }
        clause.blanks(0, clause.words.len(), false);
        for at in 0..clause.words.len() {
            let Some(word) = clause.words.get(at) else {
                break;
            };
            let own =
                clause.comments_width(at) + chars(&word.text) + usize::from(clause.has_blank(at));
            let magic = at > 0 && clause.may_break(at - 1) && word.gap.breaks();
            let broken = at > 0 && (word.gap.needs_lines() || magic);
            let (width, lines) = (clause.width_before(at), clause.broken_before(at));
            if let Some(slot) = clause.width.get_mut(at + 1) {
                *slot = width + own;
            }
            if let Some(slot) = clause.broken.get_mut(at + 1) {
                *slot = lines + usize::from(broken);
            }
        }
        clause
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    pub(super) fn role(&self, at: usize) -> Role {
        self.words.get(at).map_or(Role::End, |word| word.role)
    }

    pub(super) fn gap(&self, at: usize) -> &[Gap<'s>] {
        let word = self.words.get(at);
        word.map_or(&[], |word| std::slice::from_ref(&word.gap))
    }

    pub(super) fn closes(&self, at: usize) -> usize {
        self.close.get(at).copied().unwrap_or(at).max(at)
    }

    /// Whether a word opens a bracket that may be broken into lines.
    pub(super) fn may_break(&self, at: usize) -> bool {
        self.role(at).opens() && self.depth.get(at).is_some_and(|depth| *depth <= MAX_DEPTH)
    }

    pub(super) fn has_blank(&self, at: usize) -> bool {
        self.blank.get(at).copied().unwrap_or(false)
    }

    fn width_before(&self, at: usize) -> usize {
        self.width.get(at).copied().unwrap_or(0)
    }

    fn broken_before(&self, at: usize) -> usize {
        self.broken.get(at).copied().unwrap_or(0)
    }

    /// The width of some words on one line, without what stands before the first.
    pub(super) fn width(&self, start: usize, end: usize) -> usize {
        let before = self.comments_width(start) + usize::from(self.has_blank(start));
        (self.width_before(end) - self.width_before(start)).saturating_sub(before)
    }

    fn comments_width(&self, at: usize) -> usize {
        let comments = self.gap(at).iter().flat_map(|gap| &gap.comments);
        comments.map(|comment| chars(comment.text) + 2).sum()
    }

    /// Whether some words can stand on one line.
    pub(super) fn is_flat(&self, start: usize, end: usize) -> bool {
        self.broken_before(end) == self.broken_before((start + 1).min(end))
    }

    /// Where the clause's end stands.
    pub(super) fn end(&self) -> usize {
        self.words.len().saturating_sub(1)
    }

    /// What stands before the clause.
    pub(super) fn before(&self) -> Gap<'s> {
        self.words
            .first()
            .map_or_else(Gap::default, |word| word.gap.clone())
    }

    /// The comments before the end, which stand behind it in the layout.
    pub(super) fn before_end(&self) -> &[Comment<'s>] {
        match self.words.get(self.end()) {
            Some(word) if self.end() > 0 => &word.gap.comments,
            _ => &[],
        }
    }

    /// The words between `start` and `end` that no bracket between them encloses.
    pub(super) fn level(&self, start: usize, end: usize) -> impl Iterator<Item = usize> {
        let mut at = start;
        std::iter::from_fn(move || {
            let here = at;
            at = if self.role(here).opens() {
                self.closes(here) + 1
            } else {
                here + 1
            };
            (here < end).then_some(here)
        })
    }

    /// Decides where blanks stand. `arithmetic`: the words are part of an arithmetic comparison.
    fn blanks(&mut self, start: usize, end: usize, arithmetic: bool) {
        let mut from = start;
        while from < end {
            let ends = |at: &usize| match self.role(*at) {
                Role::Comma | Role::Bar => true,
                Role::Infix(priority) => priority >= 1000,
                _ => false,
            };
            let to = self.level(from, end).find(ends).unwrap_or(end);
            let computes = |at: usize| {
                self.role(at) == Role::Infix(700)
                    && matches!(
                        self.word(at),
                        "is" | "<" | ">" | "=<" | ">=" | "=:=" | "=\\="
                    )
            };
            let arithmetic = arithmetic || self.level(from, to).any(computes);
            let level: Vec<usize> = self
                .level(from, to)
                .chain((to < end).then_some(to))
                .collect();
            for at in level {
                self.set_blank(at, arithmetic);
                if self.role(at).opens() {
                    let close = self.closes(at);
                    let terms = matches!(self.role(at), Role::Functor | Role::Group);
                    self.blanks(at + 1, close, arithmetic && terms);
                    self.set_blank(close, false);
                }
            }
            from = to + 1;
        }
    }

    /// Decides on the blanks around one word, which is no more than those before it and behind an operator.
    fn set_blank(&mut self, at: usize, arithmetic: bool) {
        let Some(before) = at.checked_sub(1) else {
            return;
        };
        let (last, role) = (self.role(before), self.role(at));
        let blank = match (last, role) {
            (_, Role::Infix(_)) => self.is_spaced(at, arithmetic),
            (Role::Infix(_), _) => self.has_blank(before),
            (_, Role::Close | Role::Comma | Role::Bar) | (Role::Bar, _) => false,
            (Role::Comma, _) => true,
            (Role::Prefix(priority), _) => {
                let operator = self.word(before);
                let symbol = !operator.starts_with(|c: char| c.is_ascii_alphabetic());
                let number = self.word(at).starts_with(|c: char| c.is_ascii_digit());
                let bracket = self.word(at).starts_with(['(', '{']);
                priority > 200 || !symbol || number || bracket || self.joins(before, at)
            }
            (_, Role::End) => self.joins(before, at),
            (last, _) if last.opens() => false,
            _ => true,
        };
        if let Some(slot) = self.blank.get_mut(at) {
            *slot = blank;
        }
    }

    /// Whether an infix operator has blanks around it.
    fn is_spaced(&self, at: usize, arithmetic: bool) -> bool {
        let Role::Infix(priority) = self.role(at) else {
            return false;
        };
        let named = self.word(at).starts_with(|c: char| c.is_ascii_alphabetic());
        let tight = matches!(self.word(at), ":" | "^" | "**") || !arithmetic;
        priority >= 700
            || named
            || !tight
            || at
                .checked_sub(1)
                .is_some_and(|before| self.joins(before, at))
            || self.joins(at, at + 1)
    }

    /// Whether two words would be read as one without a blank between them.
    fn joins(&self, before: usize, at: usize) -> bool {
        let (last, first) = (
            self.word(before).chars().next_back(),
            self.word(at).chars().next(),
        );
        match (last, first) {
            (Some(last), Some(first)) => {
                (shape::is_symbol(last) && shape::is_symbol(first))
                    || (shape::continues_name(last) && shape::continues_name(first))
                    || (last.is_ascii_digit() && first == '\'')
                    || (last == '\'' && first == '\'')
            }
            _ => false,
        }
    }

    /// The name and the arguments' words of a fact that stands on one line without a comment in it, if it is one.
    pub(super) fn cells(&self) -> Option<(&str, Vec<(usize, usize)>)> {
        let end = self.end();
        let whole = self.role(0) == Role::Functor && self.closes(0) + 1 == end;
        let wide = self.width(0, end) >= BROKEN_WIDTH
            && self.words.iter().skip(1).any(|word| word.gap.breaks());
        let mut inside = self.words.iter().take(end).skip(1);
        let commented = inside.any(|word| !word.gap.comments.is_empty());
        if !whole || wide || commented || !self.is_flat(0, end) {
            return None;
        }
        let (mut cells, mut from) = (Vec::new(), 1);
        for at in self.level(1, end) {
            if at + 1 == end || self.role(at) == Role::Comma {
                cells.push((from, at));
                from = at + 1;
            }
        }
        Some((self.word(0), cells))
    }

    /// How wide a cell is.
    pub(super) fn cell_width(&self, cell: (usize, usize)) -> usize {
        self.width(cell.0, cell.1)
    }
}

pub(super) fn chars(text: &str) -> usize {
    text.chars().count()
}
