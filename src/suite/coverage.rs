//! Which clauses the tests' proofs rest on.
//!
//! Nothing here is a verdict: a clause that no proof used may still be what a test expects to fail for.

use crate::explain::{ClauseText, Proof, clause_texts};
use crate::source::{Sources, Span};
use std::collections::BTreeSet;

/// Which clauses of the rules no test's proof used.
#[derive(Clone, Debug)]
pub struct Coverage {
    clauses: usize,
    unused: Vec<ClauseText>,
}

impl Coverage {
    /// How many facts and rules there are, those of files named `*_tests.pl` left out.
    #[must_use]
    pub fn clauses(&self) -> usize {
        self.clauses
    }

    /// The clauses that no proof used, in the order of the texts.
    #[must_use]
    pub fn unused(&self) -> &[ClauseText] {
        &self.unused
    }
}

/// The places of clauses that proofs used.
#[derive(Debug, Default)]
pub(super) struct Used(BTreeSet<(String, usize, usize)>);

impl Used {
    pub(super) fn take_in(&mut self, proof: &Proof) {
        for clause in proof.steps().iter().filter_map(|step| proof.clause(step)) {
            let place = (clause.file.clone(), clause.line, clause.column);
            self.0.insert(place);
        }
    }

    pub(super) fn finish(self, sources: &Sources, clauses: &[Span]) -> Coverage {
        let mut unused = clause_texts(sources, clauses);
        unused.retain(|clause| {
            let place = (clause.file.clone(), clause.line, clause.column);
            !self.0.contains(&place)
        });
        Coverage {
            clauses: clauses.len(),
            unused,
        }
    }
}
