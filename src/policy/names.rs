//! The names of one column of an allowlist, found by the text that a caller gives.
//!
//! Nothing here allocates once it is built.

use crate::value::{ShortKey, short_key};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Names and their numbers.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Those of at most 15 bytes, by their bytes: one look finds or misses one.
    short: HashTable<(ShortKey, u32)>,
    /// The others.
    long: HashTable<(Box<str>, u32)>,
    /// Seeded, since rule files choose the names.
    hasher: RandomState,
}

impl Names {
    /// Adds a name that is not there.
    pub(super) fn insert(&mut self, name: &str, number: u32) {
        let hasher = &self.hasher;
        match short_key(name) {
            Some(key) => {
                let entry = (ShortKey::new(key), number);
                self.short
                    .insert_unique(hasher.hash_one(key), entry, |(key, _)| {
                        hasher.hash_one(key.bits())
                    });
            }
            None => {
                let hash = |name: &str| hasher.hash_one(name);
                self.long
                    .insert_unique(hash(name), (name.into(), number), |(name, _)| hash(name));
            }
        }
    }

    /// The number of a name.
    #[inline]
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        match short_key(name) {
            Some(key) => self
                .short
                .find(self.hasher.hash_one(key), |(other, _)| other.bits() == key)
                .map(|(_, number)| *number),
            None => self
                .long
                .find(self.hasher.hash_one(name), |(other, _)| **other == *name)
                .map(|(_, number)| *number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_found_by_their_text() {
        let texts: Vec<String> = (0..40)
            .map(|length| "é".repeat(length / 2) + &"x".repeat(length % 2))
            .collect();
        let mut names = Names::default();
        for (number, text) in (0..).zip(&texts) {
            assert_eq!(names.find(text), None);
            names.insert(text, number);
        }
        for (number, text) in (0..).zip(&texts) {
            assert_eq!(names.find(text), Some(number));
            assert_eq!(names.find(&format!("{text}\0")), None);
        }
    }
}
