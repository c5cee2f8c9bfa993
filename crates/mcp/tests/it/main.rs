//! The proxy: its machine of frames without input and output, and the whole around a scripted server.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, its helpers too"
)]

mod approvals;
mod eras;
mod hostile;
mod http;
mod laws;
mod process;
mod rmcp;
mod support;
mod traps;
