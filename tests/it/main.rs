//! The library's tests from outside: cases as data, laws as properties, Prolog as the peer.

mod cases;
mod diagnostics;
mod differential;
mod loading;
mod peer;
mod programs;
mod reading;
mod seeds;
