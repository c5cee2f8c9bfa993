//! Explanations of what does not hold, as plain data.
//!
//! Nothing here looks for one.

use super::proof::ClauseText;

/// Whether nothing speaks for a goal, or something against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// No clause would give it, whatever the absences.
    NothingGrants,
    /// A clause would give it but for what a negation finds.
    SomethingForbids,
}

impl Obstacle {
    /// The stable name, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NothingGrants => "nothing-grants",
            Self::SomethingForbids => "something-forbids",
        }
    }
}

/// How far a clause gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedClause {
    /// The clause.
    pub clause: ClauseText,
    /// The literal that fails under the values that get furthest, as Prolog reads from left to right; the head, if that
    /// does not match.
    pub fails_at: String,
    /// How many literals hold before it; `None` if the head does not match.
    pub reached: Option<usize>,
}

/// A tuple that a negation found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defeat {
    /// The tuple.
    pub fact: String,
    /// The clause that states it, if it is a fact of the rule files.
    pub clause: Option<ClauseText>,
}

/// Why a goal does not hold.
///
/// ```
/// use horngate::{Budget, Rulebase, Source, explain};
/// let rules = ":- dynamic blocked/1.
///     in(ann, qa). grant(qa, repl). blocked(bob).
///     may(U, T) :- in(U, G), grant(G, T), \\+ blocked(U).";
/// let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
/// let model = rulebase.evaluate(&Budget::default()).unwrap();
/// let why_not = explain::why_not(&model, "may(ann, shell)").unwrap().unwrap();
/// assert_eq!(why_not.obstacle(), explain::Obstacle::NothingGrants);
/// assert_eq!(why_not.clauses()[0].fails_at, "grant(qa,shell)");
/// assert_eq!(why_not.missing(), [["grant(qa,shell)"]]);
/// ```
#[derive(Clone, Debug)]
pub struct WhyNot {
    pub(super) goal: String,
    pub(super) clauses: Vec<FailedClause>,
    pub(super) missing: Vec<Vec<String>>,
    pub(super) defeated_by: Vec<Defeat>,
    pub(super) near: Vec<String>,
    pub(super) exhausted: bool,
}

impl WhyNot {
    /// What was asked.
    #[must_use]
    pub fn goal(&self) -> &str {
        &self.goal
    }

    /// Whether nothing speaks for the goal, or something against it.
    #[must_use]
    pub fn obstacle(&self) -> Obstacle {
        if self.defeated_by.is_empty() {
            Obstacle::NothingGrants
        } else {
            Obstacle::SomethingForbids
        }
    }

    /// How far each clause gets, in the order of the texts; of many those that get furthest.
    #[must_use]
    pub fn clauses(&self) -> &[FailedClause] {
        &self.clauses
    }

    /// The smallest sets of facts whose addition would make the goal hold, the smallest first: of predicates that have
    /// facts or are declared `dynamic`. A variable, and each `_`, stands for a value of one's choice, which the tests of the
    /// rules may narrow.
    #[must_use]
    pub fn missing(&self) -> &[Vec<String>] {
        &self.missing
    }

    /// What negations found that alone stands against the goal.
    #[must_use]
    pub fn defeated_by(&self) -> &[Defeat] {
        &self.defeated_by
    }

    /// Names that look like names of the goal that occur nowhere.
    #[must_use]
    pub fn near(&self) -> &[String] {
        &self.near
    }

    /// Whether the search for what is missing came to its limits: there may then be more.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }
}
