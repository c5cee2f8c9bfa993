//! One fact of a rule file written where its kin stand, or taken out; all else stays byte for byte.
//!
//! Nothing here says what a fact comes to: whoever writes the new text decides on it first.

mod lines;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::key::PredicateKey;
use crate::source::{Source, SourceId, Span};
use crate::syntax::{self, Clause, ClauseKind, Term, TermKind};
use lines::{BLANK, chars, indent, line_end, line_ends, line_of, rest_of_line};
use std::ops::Range;

/// So many facts in order are meant to be in order.
const MIN_SORTED: usize = 3;

/// A rule file with one fact more or fewer.
///
/// The fact is one of a predicate with two arguments, both atoms, such as an allowlist.
///
/// ```
/// use horngate::{FactEdit, PredicateKey, Source};
/// let rules = "% grants\nmay('U:Qa',  tool_repl). % why\nmay('U:Dev', tool_repl).\n";
/// let may: PredicateKey = "may/2".parse().unwrap();
///
/// let granted = FactEdit::insert(&Source::new("a.pl", rules), &may, ["U:Qa", "tool_x"]).unwrap();
/// assert_eq!(
///     granted.text,
///     "% grants\nmay('U:Qa',  tool_repl). % why\nmay('U:Qa',  tool_x).\nmay('U:Dev', tool_repl).\n"
/// );
/// assert_eq!(granted.lines, [3]);
///
/// let revoked = FactEdit::remove(&Source::new("a.pl", granted.text), &may, ["U:Qa", "tool_x"]);
/// assert_eq!(revoked.unwrap().unwrap().text, rules);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FactEdit {
    /// The whole new text.
    pub text: String,
    /// The lines of the fact: in the new text where it was inserted, in the old one where it was removed.
    pub lines: Vec<usize>,
}

impl FactEdit {
    /// Writes the fact after the last one of its first argument, else after the last of its predicate; where three facts
    /// or more are in order, to its place in that order. A predicate without facts gets it behind its last clause or its
    /// declaration, one that is not mentioned at the end of the text. The fact is laid out as its neighbours are.
    ///
    /// Clauses of test blocks are no facts of the rules.
    ///
    /// # Errors
    /// All that is wrong with the text: what does not parse is not edited.
    pub fn insert(
        source: &Source,
        predicate: &PredicateKey,
        arguments: [&str; 2],
    ) -> Result<Self, Vec<Diagnostic>> {
        let page = Page::read(source, predicate)?;
        let fact = Fact {
            name: predicate.name(),
            arguments,
        };
        let (at, inserted) = match page.place(arguments) {
            Place::After(clause) => page.after(clause, &fact),
            Place::Before(clause) => page.before(clause, &fact),
            Place::End => page.end(&fact),
        };
        let (above, below) = page.text.split_at_checked(at).unwrap_or((page.text, ""));
        let text = [above, &inserted, below].concat();
        page.check(source, &text, &Change::With(fact))?;
        let lead = inserted.len() - inserted.trim_start_matches(['\r', '\n']).len();
        Ok(Self {
            lines: vec![line_of(&text, at + lead)],
            text,
        })
    }

    /// Removes the fact, wherever it stands; `None` if it stands nowhere. A line with nothing else goes with it, and so
    /// does a comment behind it in that line.
    ///
    /// # Errors
    /// As [`FactEdit::insert`].
    pub fn remove(
        source: &Source,
        predicate: &PredicateKey,
        arguments: [&str; 2],
    ) -> Result<Option<Self>, Vec<Diagnostic>> {
        let page = Page::read(source, predicate)?;
        let found: Vec<usize> = page
            .facts()
            .filter(|(_, other)| *other == Some(arguments))
            .map(|(at, _)| at)
            .collect();
        if found.is_empty() {
            return Ok(None);
        }
        let (mut text, mut behind) = (String::with_capacity(page.text.len()), 0);
        for clause in &found {
            let extent = page.extent(page.range(*clause));
            text.push_str(page.text.get(behind..extent.start).unwrap_or(""));
            behind = behind.max(extent.end);
        }
        text.push_str(page.text.get(behind..).unwrap_or(""));
        let fact = Fact {
            name: predicate.name(),
            arguments,
        };
        page.check(source, &text, &Change::Without(fact))?;
        let line = |clause: &usize| line_of(page.text, page.range(*clause).start);
        Ok(Some(Self {
            lines: found.iter().map(line).collect(),
            text,
        }))
    }
}

/// A fact to be written.
#[derive(Clone, Copy)]
struct Fact<'a> {
    name: &'a str,
    arguments: [&'a str; 2],
}

impl Fact<'_> {
    /// As a clause, laid out as a neighbour is.
    fn written(&self, like: Option<Layout>) -> String {
        let name = syntax::quoted_atom(self.name).to_string();
        let [first, second] = self
            .arguments
            .map(|text| syntax::quoted_atom(text).to_string());
        let gap = match like {
            None => 1,
            Some(Layout::Gap(gap)) => gap,
            Some(Layout::Column(column)) => {
                let reached = chars(&name) + chars(&first) + 2;
                column.saturating_sub(reached).max(1)
            }
        };
        format!("{name}({first},{}{second}).", " ".repeat(gap))
    }

    fn is(&self, clause: &Clause) -> bool {
        match &clause.kind {
            ClauseKind::Fact(head) => {
                head.functor() == Some((self.name, 2)) && atoms(head) == Some(self.arguments)
            }
            _ => false,
        }
    }
}

/// How a neighbour stands: its second argument so many characters behind its start, or so many blanks behind the comma.
#[derive(Clone, Copy)]
enum Layout {
    Column(usize),
    Gap(usize),
}

/// By what facts are in order.
type Order = for<'a> fn([&'a str; 2]) -> [&'a str; 2];

/// Where a fact belongs, as positions of clauses.
enum Place {
    After(usize),
    Before(usize),
    End,
}

/// What a new text must differ in.
enum Change<'a> {
    /// The fact stands there once more.
    With(Fact<'a>),
    /// The fact does not stand there.
    Without(Fact<'a>),
}

/// A text and its clauses.
struct Page<'p> {
    text: &'p str,
    clauses: Vec<Clause>,
    /// For each clause whether it belongs to a test block.
    tests: Vec<bool>,
    /// The clauses of the predicate.
    kin: Vec<usize>,
    /// The last declaration of the predicate.
    declared: Option<usize>,
}

impl<'p> Page<'p> {
    fn read(source: &'p Source, predicate: &PredicateKey) -> Result<Self, Vec<Diagnostic>> {
        let clauses = clauses(source)?;
        let tests = tests(&clauses);
        let (mut kin, mut declared) = (Vec::new(), None);
        for (at, (clause, test)) in clauses.iter().zip(&tests).enumerate() {
            match &clause.kind {
                _ if *test => {}
                ClauseKind::Fact(head) | ClauseKind::Rule(head, _)
                    if head.functor() == Some((predicate.name(), 2)) =>
                {
                    kin.push(at);
                }
                ClauseKind::Directive(goal) if declares(goal, predicate) => declared = Some(at),
                _ => {}
            }
        }
        Ok(Self {
            text: source.text(),
            clauses,
            tests,
            kin,
            declared,
        })
    }

    fn range(&self, clause: usize) -> Range<usize> {
        let clause = self.clauses.get(clause);
        clause.map_or(0..0, |clause| clause.span.range())
    }

    /// The head of a fact.
    fn fact(&self, clause: usize) -> Option<&Term> {
        match &self.clauses.get(clause)?.kind {
            ClauseKind::Fact(head) => Some(head),
            _ => None,
        }
    }

    /// The facts of the predicate, each with its two atoms if it has two.
    fn facts(&self) -> impl DoubleEndedIterator<Item = (usize, Option<[&str; 2]>)> {
        let fact = |at: &usize| Some((*at, atoms(self.fact(*at)?)));
        self.kin.iter().filter_map(fact)
    }

    fn place(&self, arguments: [&str; 2]) -> Place {
        if let Some(place) = self.place_in_order(arguments) {
            return place;
        }
        let of_the_same = |(_, other): &(usize, Option<[&str; 2]>)| {
            other.is_some_and(|other| other.first() == arguments.first())
        };
        let last = self.facts().rfind(of_the_same).or(self.facts().next_back());
        match last.map(|(at, _)| at).or(self.kin.last().copied()) {
            Some(kin) => Place::After(kin),
            None => self.declared.map_or(Place::End, |declared| {
                Place::After(self.last_directive(declared))
            }),
        }
    }

    /// The place among facts that are in order: by the first argument, or else by the second.
    fn place_in_order(&self, arguments: [&str; 2]) -> Option<Place> {
        let facts: Option<Vec<(usize, [&str; 2])>> = self
            .facts()
            .map(|(at, arguments)| Some((at, arguments?)))
            .collect();
        let facts = facts.filter(|facts| facts.len() >= MIN_SORTED)?;
        let orders: [Order; 2] = [|pair| pair, |[first, second]| [second, first]];
        let order = orders
            .into_iter()
            .find(|order| facts.is_sorted_by(|(_, a), (_, b)| order(*a) <= order(*b)))?;
        let before = |(_, other): &&(usize, [&str; 2])| order(*other) <= order(arguments);
        match facts.iter().rfind(before) {
            Some((at, _)) => Some(Place::After(*at)),
            None => facts.first().map(|(at, _)| Place::Before(*at)),
        }
    }

    /// The last of the directives that follow in the very next lines.
    fn last_directive(&self, from: usize) -> usize {
        let mut last = from;
        while let Some(next) = self.clauses.get(last + 1)
            && matches!(next.kind, ClauseKind::Directive(_))
            && let Some(between) = self.text.get(self.range(last).end..next.span.range().start)
            && between.trim().is_empty()
            && between.matches('\n').count() <= 1
        {
            last += 1;
        }
        last
    }

    /// Where to insert what, so that the fact stands behind a clause.
    fn after(&self, clause: usize, fact: &Fact<'_>) -> (usize, String) {
        let Range { start, end } = self.range(clause);
        let written = fact.written(self.layout(clause));
        let indent = indent(self.text, start).unwrap_or("");
        match rest_of_line(self.text, end) {
            None => (end, format!(" {written}")),
            Some(next)
                if self
                    .text
                    .get(..next)
                    .is_some_and(|text| text.ends_with('\n')) =>
            {
                let line_end = line_end(self.text, next);
                (next, format!("{indent}{written}{line_end}"))
            }
            Some(next) => (next, format!("{}{indent}{written}", line_ends(self.text))),
        }
    }

    /// Where to insert what, so that the fact stands before a clause.
    fn before(&self, clause: usize, fact: &Fact<'_>) -> (usize, String) {
        let Range { start, .. } = self.range(clause);
        let written = fact.written(self.layout(clause));
        let before = self.text.get(..start).unwrap_or("");
        match (indent(self.text, start), before.strip_suffix(BLANK)) {
            // What stood before the clause stands before both, so that it can go with the fact again.
            (None, Some(above)) => {
                let blank = before.get(above.len()..).unwrap_or("");
                (above.len(), format!("{blank}{written}"))
            }
            (None, None) => (start, format!("{written} ")),
            (Some(indent), _) => {
                let line_start = start - indent.len();
                let line_end = match line_start {
                    0 => line_ends(self.text),
                    _ => line_end(self.text, line_start),
                };
                (line_start, format!("{indent}{written}{line_end}"))
            }
        }
    }

    /// Where to insert what, so that the fact stands at the end of the text.
    fn end(&self, fact: &Fact<'_>) -> (usize, String) {
        let written = fact.written(None);
        let inserted = match self.text {
            "" => format!("{written}\n"),
            text if text.ends_with('\n') => format!("{written}{}", line_ends(self.text)),
            _ => format!("{}{written}", line_ends(self.text)),
        };
        (self.text.len(), inserted)
    }

    /// What goes with a clause that is removed.
    fn extent(&self, clause: Range<usize>) -> Range<usize> {
        let blank = |c: Option<char>| c.is_some_and(|c| BLANK.contains(&c));
        let (before, after) = (
            self.text.get(..clause.start).unwrap_or(""),
            self.text.get(clause.end..).unwrap_or(""),
        );
        let Some(indent) = indent(self.text, clause.start) else {
            return match blank(before.chars().next_back()) {
                true => clause.start - 1..clause.end,
                false if blank(after.chars().next()) => clause.start..clause.end + 1,
                false => clause,
            };
        };
        let Some(next) = rest_of_line(self.text, clause.end) else {
            let blank = usize::from(blank(after.chars().next()));
            return clause.start..clause.end + blank;
        };
        let start = clause.start - indent.len();
        let ends = self
            .text
            .get(..next)
            .is_some_and(|text| text.ends_with('\n'));
        let above = self.text.get(..start).unwrap_or("");
        match (ends, above.strip_suffix('\n')) {
            // The last line leaves the one above without a line end, as it was itself.
            (false, Some(above)) => above.strip_suffix('\r').unwrap_or(above).len()..next,
            _ => start..next,
        }
    }

    /// The layout of the facts among which a clause stands, if it is one of the predicate's.
    fn layout(&self, clause: usize) -> Option<Layout> {
        let own = self.gap(clause)?;
        let at = self.kin.binary_search(&clause).ok()?;
        let (above, below) = self.kin.split_at_checked(at)?;
        // The neighbours without another clause between.
        let below = below.iter().enumerate();
        let below = below.take_while(|(steps, kin)| **kin == clause + steps);
        let above = above.iter().rev().enumerate();
        let above = above.take_while(|(steps, kin)| **kin + steps + 1 == clause);
        let block: Vec<(usize, usize)> = below
            .chain(above)
            .filter_map(|(_, kin)| self.gap(*kin))
            .collect();
        let (column, gap) = own;
        let aligned = block.iter().all(|(other, _)| *other == column);
        if aligned && block.iter().any(|(_, gap)| *gap > 1) {
            return Some(Layout::Column(column));
        }
        Some(Layout::Gap(gap.min(1)))
    }

    /// How far behind the start of a fact its second argument stands, and behind how many blanks.
    fn gap(&self, clause: usize) -> Option<(usize, usize)> {
        let head = self.fact(clause)?;
        let [first, second] = head.args() else {
            return None;
        };
        let start = self.range(clause).start;
        let lead = self.text.get(start..second.span.range().start)?;
        let between = self
            .text
            .get(first.span.range().end..second.span.range().start)?;
        let blanks = between.strip_prefix(',')?;
        let plain = !lead.contains('\n') && blanks.chars().all(|c| c == ' ');
        plain.then_some((chars(lead), blanks.len()))
    }

    /// Reads the new text again: it must have the clauses of the old one, but for the change.
    fn check(
        &self,
        source: &Source,
        text: &str,
        change: &Change<'_>,
    ) -> Result<(), Vec<Diagnostic>> {
        let new = clauses(&Source::new(source.name(), text))?;
        let tests = tests(&new);
        let (old, new) = (self.clauses.iter(), new.iter());
        let same = |(a, b): (&Clause, &Clause)| a.kind == b.kind;
        let as_asked = match change {
            Change::With(fact) => {
                let alike = old.clone().zip(new.clone()).take_while(|pair| same(*pair));
                let alike = alike.count();
                let mut rest = new.clone().skip(alike);
                // In a block that never ends it would be a test.
                rest.next().is_some_and(|clause| fact.is(clause))
                    && tests.get(alike) == Some(&false)
                    && new.len() == old.len() + 1
                    && old.skip(alike).zip(rest).all(same)
            }
            Change::Without(fact) => {
                let kept = old.zip(&self.tests);
                let kept = kept.filter(|(clause, test)| **test || !fact.is(clause));
                let kept: Vec<&Clause> = kept.map(|(clause, _)| clause).collect();
                kept.len() == new.len() && kept.into_iter().zip(new).all(same)
            }
        };
        if as_asked {
            return Ok(());
        }
        let message = "this text cannot be edited without changing more; please report it";
        Err(vec![Diagnostic::new(
            Code::UnexpectedToken,
            Span::default(),
            message,
        )])
    }
}

fn clauses(source: &Source) -> Result<Vec<Clause>, Vec<Diagnostic>> {
    let parsed = syntax::parse(SourceId::default(), source);
    let is_error = |found: &Diagnostic| found.severity == Severity::Error;
    match parsed.diagnostics.iter().any(is_error) {
        true => Err(parsed.diagnostics),
        false => Ok(parsed.clauses),
    }
}

/// For each clause whether it belongs to a test block.
fn tests(clauses: &[Clause]) -> Vec<bool> {
    let mut inside = false;
    let mut is_test = |clause: &Clause| {
        if let ClauseKind::Directive(goal) = &clause.kind {
            match goal.functor() {
                Some(("begin_tests", _)) => inside = true,
                Some(("end_tests", _)) => inside = false,
                _ => {}
            }
        }
        inside
    };
    clauses.iter().map(&mut is_test).collect()
}

/// Whether a directive declares the predicate.
fn declares(goal: &Term, predicate: &PredicateKey) -> bool {
    match goal.functor() {
        Some(("dynamic" | "discontiguous" | "multifile" | "table", 1)) => {
            goal.args().iter().any(|arg| names(arg, predicate))
        }
        _ => false,
    }
}

/// Whether a predicate indicator occurs in a term, whose depth is bounded by the reader.
fn names(term: &Term, predicate: &PredicateKey) -> bool {
    match &term.kind {
        TermKind::Compound(functor, args) if **functor == *"/" => {
            let [name, arity] = &**args else { return false };
            let named = matches!(&name.kind, TermKind::Atom(name) if **name == *predicate.name());
            named && arity.to_string() == predicate.arity().to_string()
        }
        TermKind::Compound(_, parts) | TermKind::Conjunction(parts) => {
            parts.iter().any(|part| names(part, predicate))
        }
        TermKind::List(items, _) => items.iter().any(|item| names(item, predicate)),
        _ => false,
    }
}

/// The arguments of a head, if they are two atoms.
fn atoms(head: &Term) -> Option<[&str; 2]> {
    match head.args() {
        [
            Term {
                kind: TermKind::Atom(first),
                ..
            },
            Term {
                kind: TermKind::Atom(second),
                ..
            },
        ] => Some([first, second]),
        _ => None,
    }
}
