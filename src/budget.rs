//! Budgets: counts that bound what reading and evaluating may cost, so that a verdict never depends on a clock.
//!
//! Running out is an error, never an answer.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// How deeply brackets and terms may be nested: what walks terms by recursion relies on it.
pub(crate) const MAX_DEPTH: usize = 256;
/// How many values of a tuple are counted as one tuple, so that the budget bounds memory also where tuples are wide.
const WIDTH: u64 = 4;
/// A constant that a rule makes takes as much as so many tuples, and another one for each so many bytes of its own.
const CONSTANT: u64 = 4;
const CONSTANT_BYTES: u64 = 16;
/// Rows and constants are numbered with 32 bits; this leaves room for what is counted after it was made.
const MAX_TUPLES: u64 = 3_000_000_000;

/// What reading and evaluating a rulebase may cost.
///
/// ```
/// use horngate::{Budget, Rulebase, Source};
/// let rules = "d(1). d(2). d(3). p(X, Y, Z) :- d(X), d(Y), d(Z).";
/// let rulebase = Rulebase::load([Source::new("bomb.pl", rules)]).unwrap();
/// let tight = Budget { tuples: 10, ..Budget::default() };
/// let error = rulebase.evaluate(&tight).unwrap_err();
/// assert!(error.to_string().starts_with("the budget of 10 tuples ran out at "));
/// assert_eq!(error.predicate, "p/3");
/// assert!(rulebase.evaluate(&Budget::default()).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How many clauses the texts may have in all. See [`crate::Program::parse_within`].
    pub clauses: u64,
    /// How deep brackets and terms may nest in the texts, from 1 to 256; another number means the nearest of these.
    pub depth: usize,
    /// How many tuples the model may have in all, facts included.
    ///
    /// This bounds memory: a tuple counts once for each four arguments that it has begun, and a constant that a rule
    /// makes (a number, a term) as four tuples and one more for each 16 bytes.
    pub tuples: u64,
    /// How many rows rules may look at in all. This bounds time.
    pub firings: u64,
}

impl Default for Budget {
    /// 20 million clauses, 256 levels, 20 million tuples and 2 billion firings.
    fn default() -> Self {
        Self {
            clauses: 20_000_000,
            depth: MAX_DEPTH,
            tuples: 20_000_000,
            firings: 2_000_000_000,
        }
    }
}

impl Budget {
    /// How deep brackets and terms may nest. A fact of the simplest form has one level.
    pub(crate) fn nesting(&self) -> usize {
        self.depth.clamp(1, MAX_DEPTH)
    }

    /// What the tuples may come to, also for a budget that no machine has room for.
    pub(crate) fn tuple_limit(&self) -> u64 {
        self.tuples.min(MAX_TUPLES)
    }
}

/// A budget that ran out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget of {limit} {what} ran out at {reached} in `{predicate}`")]
pub struct BudgetExceeded {
    /// `tuples` or `firings`.
    pub what: &'static str,
    /// The limit that was passed.
    pub limit: u64,
    /// What had been counted when that was found: somewhat more than the limit.
    pub reached: u64,
    /// The predicate that was being derived.
    pub predicate: String,
    /// The clause at work, or the predicate's first place while its facts were taken in.
    pub span: Span,
}

impl BudgetExceeded {
    /// The error as a finding of the predicate.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(Code::Budget, self.span, self.to_string())
            .help(format!(
                "if the rules need more, raise `--max-{}`",
                self.what
            ))
            .of(&self.predicate)
    }
}

/// What has been spent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) tuples: u64,
    pub(crate) firings: u64,
}

impl Spent {
    pub(crate) fn add_tuples(&mut self, count: u64, arity: usize) {
        let width = u64::try_from(arity).unwrap_or(u64::MAX).div_ceil(WIDTH);
        let cost = count.saturating_mul(width.max(1));
        self.tuples = self.tuples.saturating_add(cost);
    }

    /// Counts a constant that takes so many bytes beside its entry.
    pub(crate) fn add_constant(&mut self, bytes: u64) {
        let cost = CONSTANT.saturating_add(bytes / CONSTANT_BYTES);
        self.tuples = self.tuples.saturating_add(cost);
    }

    pub(crate) fn add_firings(&mut self, count: u64) {
        self.firings = self.firings.saturating_add(count);
    }
}
