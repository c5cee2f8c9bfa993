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
mod demand;
mod diagnostics;
mod differential;
mod lints;
mod loading;
mod peer;
mod programs;
mod reading;
mod seeds;
mod updates;
