//! Sets of rows, for finding duplicates: dense bits where the columns are small, a seeded hash table elsewhere.
//!
//! Which one serves is decided again whenever the relation has doubled; nothing depends on it but cost.

use crate::value::Value;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Bits of a dense set may take this much however few rows there are.
const SMALL: usize = 1 << 16;
/// Beyond that, a dense set may take as many bytes a row as a hash table does.
const BYTES_A_ROW: usize = 16;

/// The pairs of a relation with two columns.
#[derive(Clone, Debug)]
pub(crate) enum Pairs {
    Dense(Dense),
    Hash(HashPairs),
}

impl Default for Pairs {
    fn default() -> Self {
        Self::Hash(HashPairs::default())
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct HashPairs {
    table: HashTable<u64>,
    hasher: RandomState,
}

/// One bit a pair, over values numbered in order of appearance, column by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dense {
    first: Numbers,
    second: Numbers,
    /// Words a row of bits takes.
    stride: usize,
    bits: Vec<u64>,
}

/// Local numbers of values, from 1; 0 is none.
#[derive(Clone, Debug, Default)]
struct Numbers {
    of: Vec<u32>,
    count: u32,
}

impl Numbers {
    /// The values by their numbers.
    fn values(&self) -> Vec<Value> {
        let mut values = vec![Value(0); self.count as usize];
        for (number, value) in self.of.iter().zip((0..).map(Value)) {
            if let Some(at) = number.checked_sub(1)
                && let Some(slot) = values.get_mut(at as usize)
            {
                *slot = value;
            }
        }
        values
    }

    #[inline]
    fn find(&self, value: Value) -> Option<usize> {
        match self.of.get(value.0 as usize) {
            None | Some(0) => None,
            Some(number) => Some(*number as usize - 1),
        }
    }

    fn number(&mut self, value: Value) -> usize {
        let at = value.0 as usize;
        if at >= self.of.len() {
            self.of.resize((at + 1).next_power_of_two(), 0);
        }
        match self.of.get_mut(at) {
            Some(slot) => {
                if *slot == 0 {
                    self.count += 1;
                    *slot = self.count;
                }
                *slot as usize - 1
            }
            None => 0,
        }
    }
}

impl Dense {
    /// The values of the first column, by the numbers of their rows of bits.
    pub(crate) fn first_values(&self) -> Vec<Value> {
        self.first.values()
    }

    /// The values of the second column, by the numbers of their bits.
    pub(crate) fn second_values(&self) -> Vec<Value> {
        self.second.values()
    }

    /// How many words a row of bits takes.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// The rows of bits; there may be empty ones behind the last.
    pub(crate) fn words(&self) -> &[u64] {
        &self.bits
    }

    fn bytes(&self) -> usize {
        (self.first.of.len() + self.second.of.len()) * 4 + self.bits.len() * 8
    }

    /// An empty set with room for the rows, if dense bits are in proportion to them.
    fn for_rows(values: &[Value]) -> Option<Self> {
        let mut dense = Self::default();
        for pair in values.chunks_exact(2) {
            if let [a, b] = pair {
                dense.first.number(*a);
                dense.second.number(*b);
            }
        }
        dense.stride = (dense.second.count as usize)
            .div_ceil(64)
            .next_power_of_two();
        let words = dense.first.count as usize * dense.stride;
        if dense.bytes() + words * 8 > allowed(values) {
            return None;
        }
        dense.bits = vec![0; words];
        Some(dense)
    }

    fn contains(&self, a: Value, b: Value) -> bool {
        let (Some(row), Some(column)) = (self.first.find(a), self.second.find(b)) else {
            return false;
        };
        self.bits
            .get(row * self.stride + column / 64)
            .is_some_and(|word| word >> (column % 64) & 1 == 1)
    }

    #[inline]
    pub(crate) fn insert(&mut self, a: Value, b: Value) -> bool {
        // Nearly always both values are numbered and have their bit.
        if let (Some(row), Some(column)) = (self.first.find(a), self.second.find(b))
            && column < self.stride * 64
            && let Some(word) = self.bits.get_mut(row * self.stride + column / 64)
        {
            let bit = 1 << (column % 64);
            let new = *word & bit == 0;
            *word |= bit;
            return new;
        }
        self.insert_anew(a, b)
    }

    /// [`Dense::insert`] where there may be no room for the bit yet.
    #[cold]
    fn insert_anew(&mut self, a: Value, b: Value) -> bool {
        let (row, column) = (self.first.number(a), self.second.number(b));
        if column >= self.stride * 64 {
            self.widen(column);
        }
        let at = row * self.stride + column / 64;
        if at >= self.bits.len() {
            let rows = (row + 1).next_power_of_two();
            self.bits.resize(rows * self.stride, 0);
        }
        let Some(word) = self.bits.get_mut(at) else {
            return false;
        };
        let bit = 1 << (column % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Adds pairs of values that are all numbered; calls `new` for those that were not there. Little happens for each,
    /// so that the processor waits for the memory of several at once.
    fn insert_numbered(&mut self, values: &[Value], new: &mut Vec<Value>) {
        for pair in values.chunks_exact(2) {
            let [a, b] = pair else { continue };
            let number = |numbers: &Numbers, value: Value| {
                numbers
                    .of
                    .get(value.0 as usize)
                    .map_or(0, |of| of.wrapping_sub(1) as usize)
            };
            let (row, column) = (number(&self.first, *a), number(&self.second, *b));
            if let Some(word) = self.bits.get_mut(row * self.stride + column / 64) {
                let bit = 1 << (column % 64);
                if *word & bit == 0 {
                    *word |= bit;
                    new.extend([*a, *b]);
                }
            }
        }
    }

    fn widen(&mut self, column: usize) {
        let stride = (column / 64 + 1).next_power_of_two();
        let rows = self.bits.len().checked_div(self.stride).unwrap_or(0);
        let mut bits = vec![0; rows * stride];
        for (row, words) in self.bits.chunks_exact(self.stride.max(1)).enumerate() {
            if let Some(wide) = bits.get_mut(row * stride..row * stride + self.stride) {
                wide.copy_from_slice(words);
            }
        }
        self.stride = stride;
        self.bits = bits;
    }
}

pub(crate) fn pack(a: Value, b: Value) -> u64 {
    u64::from(a.0) << 32 | u64::from(b.0)
}

impl HashPairs {
    fn contains(&self, key: u64) -> bool {
        let hash = self.hasher.hash_one(key);
        self.table.find(hash, |other| *other == key).is_some()
    }

    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        let hash = self.hasher.hash_one(key);
        let hasher = &self.hasher;
        match self
            .table
            .entry(hash, |other| *other == key, |other| hasher.hash_one(*other))
        {
            hashbrown::hash_table::Entry::Occupied(_) => false,
            hashbrown::hash_table::Entry::Vacant(slot) => {
                slot.insert(key);
                true
            }
        }
    }
}

impl Pairs {
    pub(crate) fn contains(&self, a: Value, b: Value) -> bool {
        match self {
            Self::Dense(dense) => dense.contains(a, b),
            Self::Hash(hash) => hash.contains(pack(a, b)),
        }
    }

    /// Adds the pair; says whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, a: Value, b: Value) -> bool {
        match self {
            Self::Dense(dense) => dense.insert(a, b),
            Self::Hash(hash) => hash.insert(pack(a, b)),
        }
    }

    /// The set of the pairs that `values` holds flat.
    pub(crate) fn of(values: &[Value]) -> Self {
        Self::distinct(values).0
    }

    /// The set of the pairs that `values` holds flat, and each of them once, in their order.
    pub(crate) fn distinct(values: &[Value]) -> (Self, Vec<Value>) {
        let mut distinct = Vec::with_capacity(values.len());
        if let Some(mut dense) = Dense::for_rows(values) {
            dense.insert_numbered(values, &mut distinct);
            return (Self::Dense(dense), distinct);
        }
        let mut hash = HashPairs::default();
        hash.table.reserve(values.len() / 2, |_| 0);
        for pair in values.chunks_exact(2) {
            if let [a, b] = pair
                && hash.insert(pack(*a, *b))
            {
                distinct.extend([*a, *b]);
            }
        }
        (Self::Hash(hash), distinct)
    }

    /// Chooses the representation anew for the rows that there are; `values` holds them flat.
    pub(crate) fn reconsider(&mut self, values: &[Value]) {
        match self {
            Self::Dense(dense) if dense.bytes() <= allowed(values) => {}
            Self::Hash(_) if Dense::for_rows(values).is_none() => {}
            _ => *self = Self::of(values),
        }
    }
}

/// How many bytes a dense set of these rows may take.
fn allowed(values: &[Value]) -> usize {
    SMALL.max(values.len() / 2 * BYTES_A_ROW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn both_representations_are_the_same_set() {
        // Small columns become bits, wide ones stay hashed; pseudo-random pairs of a linear congruence.
        for width in [7, 90, 5_000, 1 << 20] {
            let (mut pairs, mut known, mut values) = (Pairs::default(), HashSet::new(), Vec::new());
            let mut state = 1_u64;
            for step in 0..4_000_u32 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let pick = |shift: u32| Value(u32::try_from((state >> shift) % width).unwrap());
                let (a, b) = (pick(33), pick(13));
                let new = pairs.insert(a, b);
                assert_eq!(new, known.insert((a, b)));
                if new {
                    values.extend([a, b]);
                }
                if step.is_power_of_two() {
                    pairs.reconsider(&values);
                }
                assert!(pairs.contains(a, b));
                assert_eq!(pairs.contains(b, a), known.contains(&(b, a)));
            }
        }
    }
}
