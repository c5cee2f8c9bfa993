//! The hash of generated code: fast, and seeded, since rule files choose the names.
//!
//! Nothing here is stable between two runs of a program.

use foldhash::fast::{FoldHasher, RandomState};
use std::hash::BuildHasher;

/// Makes the [`Hasher`]s of one evaluation.
///
/// ```
/// use horngate::compiled::Hashing;
/// use std::hash::BuildHasher;
/// let hashing = Hashing::default();
/// assert_eq!(hashing.hash_one(7), hashing.hash_one(7));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Hashing(RandomState);

/// A hasher of symbols.
#[derive(Clone)]
pub struct Hasher<'h>(FoldHasher<'h>);

impl BuildHasher for Hashing {
    type Hasher = Hasher<'static>;

    fn build_hasher(&self) -> Self::Hasher {
        Hasher(self.0.build_hasher())
    }
}

impl std::hash::Hasher for Hasher<'_> {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_u32(&mut self, number: u32) {
        self.0.write_u32(number);
    }

    fn write_u64(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.0.write_usize(number);
    }
}
