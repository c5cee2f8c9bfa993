//! Budgets: counts that bound what an evaluation may cost, so that a verdict never depends on a clock.
//!
//! Running out is an error, never an answer.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// What an evaluation may cost.
///
/// ```
/// use horngate::{Budget, Rulebase, Source};
/// let rules = "d(1). d(2). d(3). p(X, Y, Z) :- d(X), d(Y), d(Z).";
/// let rulebase = Rulebase::load([Source::new("bomb.pl", rules)]).unwrap();
/// let tight = Budget { tuples: 10, ..Budget::default() };
/// assert!(rulebase.evaluate(&tight).is_err());
/// assert!(rulebase.evaluate(&Budget::default()).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How many tuples the model may have in all, facts included.
    pub tuples: u64,
    /// How many rows rules may look at in all.
    pub firings: u64,
}

impl Default for Budget {
    /// 20 million tuples and 2 billion firings.
    fn default() -> Self {
        Self {
            tuples: 20_000_000,
            firings: 2_000_000_000,
        }
    }
}

/// A budget that ran out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget of {limit} {what} ran out in `{predicate}`")]
pub struct BudgetExceeded {
    /// `tuples` or `firings`.
    pub what: &'static str,
    /// The limit that was reached.
    pub limit: u64,
    /// The predicate that was being derived.
    pub predicate: String,
}

impl BudgetExceeded {
    /// The error as a finding.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(Code::Budget, Span::default(), self.to_string()).of(&self.predicate)
    }
}

/// What has been spent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) tuples: u64,
    pub(crate) firings: u64,
}
