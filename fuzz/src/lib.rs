//! The laws that hold whatever the input is, one function a target. A law that is broken panics.
//!
//! `run-short` runs each for a few seconds, `run SECONDS TARGET…` for as long as is wanted.

#[path = "../../tests/it/programs.rs"]
#[expect(dead_code, reason = "some of it is for other tests")]
mod programs;

mod calls;
mod generated;
mod lists;
mod logs;
mod proofs;
mod proxy;
mod rules;
pub mod seeds;

pub use calls::{arguments, schemas};
pub use generated::{programs, updates};
pub use lists::tool_lists;
pub use logs::audit;
pub use proofs::proofs;
pub use proxy::frames;
pub use rules::{edits, evaluate, format, goals, parse, pieces, suites};

use horngate::Budget;
use std::borrow::Cow;

/// Enough for what a small input says, too little for what takes long.
fn budget() -> Budget {
    Budget {
        clauses: 2_000,
        tuples: 5_000,
        firings: 200_000,
        ..Budget::default()
    }
}

/// So many steps the naive reference may take.
const STEPS: u64 = 300_000;

fn text(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// The parts of an input that is made of several texts.
fn parts(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|byte| *byte == 0)
}
