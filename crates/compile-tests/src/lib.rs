//! Nothing but tests: see `tests/it.rs`.
