//! What stands behind an answer: why it holds or does not, and a check of that by means of its own.
//!
//! Nothing here changes an answer. [`Reference`] and [`Verifier`] share no code with the engine or with [`why`] beyond
//! terms and rules as they were read, so that they can disagree.

mod abduce;
mod agenda;
mod check;
mod denial;
mod document;
mod exact;
mod fit;
mod given;
mod json;
mod logic;
mod lost;
mod missing;
mod naive;
mod overlook;
mod places;
mod proof;
mod reach;
mod solve;
mod verify;
mod why;
mod why_not;
mod written;

pub use denial::{Defeat, FailedClause, Obstacle, WhyNot};
pub use lost::lost;
pub use naive::{Reference, ReferenceError};
pub use proof::{Claim, ClauseText, Proof, Step};
pub use verify::{Verified, Verifier, VerifyError, verify};
pub use why::{ExplainError, Explainer, why};
pub(crate) use why_not::clause_texts;
pub use why_not::why_not;
