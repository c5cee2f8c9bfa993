//! The gate from outside: one binary for all tests of the crate.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking, its helpers too"
)]

mod adversary;
mod approvals;
mod audit;
mod calls;
mod failures;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod keys;
mod model;
mod observe;
mod policy;
mod spans;
mod stores;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod torture;
mod ui;
#[cfg(unix)]
mod webhook;
