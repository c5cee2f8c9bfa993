//! The tests of rule files: blocks in the form of Prolog's plunit, run against a model.
//!
//! Nothing here decides, and no test is passed over in silence: one whose verdict in SWI-Prolog is not certain is refused,
//! and says why. As everywhere, recursive predicates answer as if they were tabled.

mod coverage;
mod order;
mod read;
mod run;
mod terms;

pub use coverage::Coverage;

use crate::analysis::Rulebase;
use crate::budget::{Budget, BudgetExceeded};
use crate::diagnostic::Diagnostic;
use crate::explain::{Proof, WhyNot};
use crate::program::Program;
use read::Blocks;

/// The tests of a program.
///
/// ```
/// use horngate::suite::{Suite, Verdict};
/// use horngate::{Budget, Program, Rulebase, Source};
///
/// let text = "
///     grant(ann, repl).
///     :- begin_tests(grants).
///     test(ann, [all(Tool == [repl])]) :- grant(ann, Tool).
///     test(bob, [fail]) :- grant(bob, _).
///     :- end_tests(grants).
/// ";
/// let program = Program::parse([Source::new("rules.pl", text)]);
/// let suite = Suite::read(&program);
/// let rulebase = Rulebase::check(program).rulebase?;
/// let report = suite.run(&rulebase, &Budget::default())?;
/// assert_eq!(report.results.len(), 2);
/// assert!(report.results.iter().all(|result| matches!(result.verdict, Verdict::Passed)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Suite {
    blocks: Blocks,
}

/// What a run of tests gave.
#[derive(Clone, Debug)]
pub struct Report {
    /// Every test, in the order of the texts.
    pub results: Vec<TestResult>,
    /// What is wrong with blocks that have no test.
    pub faults: Vec<Diagnostic>,
}

/// One test and its verdict.
#[derive(Clone, Debug)]
pub struct TestResult {
    /// The name of its block.
    pub block: String,
    /// Its own name.
    pub name: String,
    /// The name of its file.
    pub file: String,
    /// The line that it starts in, from 1.
    pub line: usize,
    /// How it went.
    pub verdict: Verdict,
}

/// How a test went.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// As it expects.
    Passed,
    /// Not as it expects.
    Failed(Box<Failure>),
    /// It was not run, or SWI-Prolog's verdict is not certain: at least one reason.
    Refused(Vec<Diagnostic>),
    /// Its block or itself says that it is blocked, for this reason.
    Blocked(String),
    /// This condition of its block or its own does not hold.
    Skipped(String),
}

/// Why a test failed.
#[derive(Clone, Debug, Default)]
pub struct Failure {
    /// In one line.
    pub message: String,
    /// The answers that it expects, where it lists them.
    pub expected: Option<Vec<String>>,
    /// The answers that there are, where it lists what it expects; as Prolog finds them, if their order is what fails.
    pub found: Option<Vec<String>>,
    /// Why what should not hold does, and why what should hold does not.
    pub explanations: Vec<Explanation>,
}

/// Why something holds, or not.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Explanation {
    /// It holds.
    Why(Proof),
    /// It does not.
    WhyNot(WhyNot),
}

impl Suite {
    /// Reads the blocks of a program: what stands between `begin_tests` and `end_tests`.
    #[must_use]
    pub fn read(program: &Program) -> Self {
        Self {
            blocks: read::read(program),
        }
    }

    /// How many tests there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.tests.len()
    }

    /// Whether there is no test.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.tests.is_empty()
    }

    /// Runs all tests on the rules, which must be those of the program that they were read from.
    ///
    /// # Errors
    /// [`BudgetExceeded`] when a budget runs out while what the tests ask for is derived; no test has a verdict then.
    pub fn run(&self, rulebase: &Rulebase, budget: &Budget) -> Result<Report, BudgetExceeded> {
        Ok(run::Runner::new(rulebase, &self.blocks, budget)?.report(None))
    }

    /// The same, and which clauses the proofs of what the tests ask for rest on.
    ///
    /// # Errors
    /// As [`Suite::run`].
    ///
    /// ```
    /// use horngate::suite::Suite;
    /// use horngate::{Budget, Program, Rulebase, Source};
    ///
    /// let text = "
    ///     grant(ann, repl).
    ///     grant(bob, repl).
    ///     :- begin_tests(grants).
    ///     test(ann) :- grant(ann, repl).
    ///     :- end_tests(grants).
    /// ";
    /// let program = Program::parse([Source::new("rules.pl", text)]);
    /// let suite = Suite::read(&program);
    /// let rulebase = Rulebase::check(program).rulebase?;
    /// let (_, coverage) = suite.run_with_coverage(&rulebase, &Budget::default())?;
    /// assert_eq!(coverage.unused()[0].text, "grant(bob, repl).");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_with_coverage(
        &self,
        rulebase: &Rulebase,
        budget: &Budget,
    ) -> Result<(Report, Coverage), BudgetExceeded> {
        let runner = run::Runner::new(rulebase, &self.blocks, budget)?;
        let mut used = coverage::Used::default();
        let report = runner.report(Some(&mut used));
        let coverage = used.finish(rulebase.sources(), &self.blocks.clauses);
        Ok((report, coverage))
    }
}
