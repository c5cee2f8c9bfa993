//! The gate from outside: one binary for all tests of the crate.

mod approvals;
mod audit;
mod calls;
mod failures;
mod observe;
mod policy;
mod stores;
mod support;
mod ui;
