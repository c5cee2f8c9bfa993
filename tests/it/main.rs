//! The library's tests from outside: cases as data, laws as properties, Prolog as the peer.
#![expect(
    unreachable_pub,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking, its helpers too"
)]

mod budgets;
mod cases;
mod compile;
mod demand;
mod diagnostics;
mod diff;
mod differential;
mod edit;
mod explain;
mod format;
mod lints;
mod loading;
mod peer;
mod pins;
mod programs;
mod proofs_of_goals;
mod reading;
mod seeds;
mod suite;
#[cfg(feature = "tool-lists")]
mod tool_lists;
mod updates;

#[cfg(feature = "tool-lists")]
fn pins_of_governance() -> horngate::Allowlist {
    pins::allowlist(include_str!("../../rules/governance.pl"))
}
