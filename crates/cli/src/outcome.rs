//! What a command ends with. A caller that treats everything but 0 as "deny" is safe.
//!
//! Nothing here prints.

use std::process::ExitCode;

/// How a command ends; the worse, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Yes, allowed, clean: 0.
    Yes,
    /// No, denied, findings: 1.
    No,
    /// No answer, for whatever reason: 2.
    NoAnswer,
    /// What a program ended with that was run for somebody else.
    Theirs(u8),
}

impl Outcome {
    /// `Yes` if `yes`, else `No`.
    pub(crate) fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Yes => 0,
            Outcome::No => 1,
            Outcome::NoAnswer => 2,
            Outcome::Theirs(code) => code,
        })
    }
}
