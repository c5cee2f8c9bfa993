//! Parsed texts: what the files say, before anything is checked.
//!
//! Nothing here is evaluated; a program with diagnostics of its own never becomes a rulebase.

use crate::budget::Budget;
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::source::{Source, SourceId, Sources, Span};
use crate::syntax::{self, Clause};
use crate::value::{Constants, Value};

/// The clauses of one or several sources, and what was wrong with their text.
///
/// ```
/// use horngate::{Program, Source};
/// let program = Program::parse([Source::new("a.pl", "p(a). p(b).")]);
/// assert_eq!(program.clauses().count(), 2);
/// assert!(program.diagnostics().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Program {
    sources: Sources,
    files: Vec<Vec<Clause>>,
    /// Facts that were read as rows, file by file, and the pool that their values are of.
    tables: Vec<Vec<FactTable>>,
    constants: Constants,
    diagnostics: Vec<Diagnostic>,
}

/// The ground facts of one predicate, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Row after row.
    pub(crate) values: Vec<Value>,
    /// How many rows there are.
    pub(crate) count: usize,
    /// The clause of each row; empty when the text was not kept.
    pub(crate) spans: Vec<Span>,
}

impl Facts {
    pub(crate) fn take_in(&mut self, other: Self) {
        if self.count == 0 {
            *self = other;
        } else {
            self.values.extend(other.values);
            self.count += other.count;
            self.spans.extend(other.spans);
        }
    }

    /// The rows; of a predicate without arguments as many empty ones as it has facts.
    pub(crate) fn rows(&self, arity: usize) -> impl Iterator<Item = &[Value]> {
        (0..self.count).map(move |at| self.values.get(at * arity..(at + 1) * arity).unwrap_or(&[]))
    }
}

/// The facts of one predicate in one file that were read as rows.
#[derive(Clone, Debug)]
pub(crate) struct FactTable {
    pub(crate) key: PredicateKey,
    /// Where the first of them stands.
    pub(crate) first: Span,
    pub(crate) facts: Facts,
}

impl FactTable {
    pub(crate) fn is(&self, name: &str, arity: usize) -> bool {
        self.key.arity() == arity && self.key.name() == name
    }
}

impl Program {
    /// Parses all sources. Every diagnostic of every source is kept, not the first only.
    pub fn parse(sources: impl IntoIterator<Item = Source>) -> Self {
        Self::parse_within(sources, &Budget::default())
    }

    /// Parses all sources within a budget of clauses and nesting. Where one runs out is an error that refuses the
    /// whole set; what comes after the last clause of the budget is not read.
    ///
    /// ```
    /// use horngate::{Budget, Program, Rulebase, Source};
    /// let budget = Budget { clauses: 2, ..Budget::default() };
    /// let program = Program::parse_within([Source::new("a.pl", "p(a). p(b).\np(c).")], &budget);
    /// assert_eq!(program.clauses().count(), 2);
    /// let refused = Rulebase::check(program).rulebase.unwrap_err();
    /// assert_eq!(refused.to_string(), "a.pl:2:1: the budget of 2 clauses ran out at 3");
    /// ```
    pub fn parse_within(sources: impl IntoIterator<Item = Source>, budget: &Budget) -> Self {
        let mut program = Self {
            sources: Sources::new(sources),
            ..Self::default()
        };
        let (mut spent, mut over) = (0_u64, false);
        for (id, source) in program.sources.iter() {
            let parsed = match over {
                true => syntax::Parsed::default(),
                false => syntax::parse_within(id, source, budget, spent),
            };
            spent = spent.saturating_add(u64::try_from(parsed.clauses.len()).unwrap_or(u64::MAX));
            over |= parsed
                .diagnostics
                .iter()
                .any(|found| found.code == Code::Budget);
            program.files.push(parsed.clauses);
            program.tables.push(Vec::new());
            program.diagnostics.extend(parsed.diagnostics);
        }
        program
    }

    /// The texts.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// All clauses, file by file, in order.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        self.files.iter().flatten()
    }

    /// The clauses of each source.
    pub(crate) fn files(&self) -> impl Iterator<Item = (SourceId, &[Clause])> {
        self.sources
            .iter()
            .map(|(id, _)| id)
            .zip(self.files.iter().map(Vec::as_slice))
    }

    /// The name that the next source will have.
    pub(crate) fn next_id(&self) -> SourceId {
        SourceId(u32::try_from(self.files.len()).unwrap_or(u32::MAX))
    }

    /// Adds what was read of one more source.
    pub(crate) fn push(&mut self, source: Source, clauses: Vec<Clause>, tables: Vec<FactTable>) {
        self.sources.push(source);
        self.files.push(clauses);
        self.tables.push(tables);
    }

    pub(crate) fn set_constants(&mut self, constants: Constants) {
        self.constants = constants;
    }

    /// Hands over the pool and the rows.
    pub(crate) fn take_rows(&mut self) -> (Constants, Vec<FactTable>) {
        let tables = self.tables.iter_mut().flat_map(std::mem::take).collect();
        (std::mem::take(&mut self.constants), tables)
    }

    /// The lexical and syntax errors.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
