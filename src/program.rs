//! Parsed texts: what the files say, before anything is checked.
//!
//! Nothing here is evaluated; a program with diagnostics of its own never becomes a rulebase.

use crate::diagnostic::Diagnostic;
use crate::source::{Source, SourceId, Sources};
use crate::syntax::{self, Clause};

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
    diagnostics: Vec<Diagnostic>,
}

impl Program {
    /// Parses all sources. Every diagnostic of every source is kept, not the first only.
    pub fn parse(sources: impl IntoIterator<Item = Source>) -> Self {
        let mut program = Self {
            sources: Sources::new(sources),
            ..Self::default()
        };
        for (id, source) in program.sources.iter() {
            let parsed = syntax::parse(id, source);
            program.files.push(parsed.clauses);
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

    /// The lexical and syntax errors.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
