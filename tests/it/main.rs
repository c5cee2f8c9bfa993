//! The library's tests from outside: cases as data, laws as properties, Prolog as the peer.

mod cases;
mod differential;
mod peer;
mod programs;
mod seeds;
