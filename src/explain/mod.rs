//! What stands behind an answer, checked by means of its own.
//!
//! Nothing here shares code with the engine beyond terms, so that the two can disagree.

mod naive;

pub use naive::{Reference, ReferenceError};
