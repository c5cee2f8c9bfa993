//! Relations: append-only rows without duplicates.
//!
//! The order of rows is the order of derivation, and nothing is ever moved or removed.

use super::set::Pairs;
use crate::value::Value;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The tuples of one predicate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relation {
    arity: usize,
    len: u32,
    values: Vec<Value>,
    set: Set,
    /// How many rows there may be before the set is reconsidered.
    reconsider_at: u32,
    /// The steps of the evaluation that added rows, with the first row of each.
    steps: Vec<(u32, u32)>,
    /// Indexes that were wanted after the evaluation.
    indexes: Kept,
}

/// Indexes of a relation that is done, kept for whoever wants them next. A copy of the relation has none.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<Arc<Index>>>);

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// When a tuple was derived, among all tuples of its component: premises are older than conclusions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Birth {
    /// The step of the evaluation: one rule over one round.
    step: u32,
    row: u32,
}

/// What finds duplicates.
#[derive(Clone, Debug)]
enum Set {
    Pairs(Pairs),
    /// Pairs that are known to be different; the set is made when it is first asked for.
    Grouped(OnceLock<Pairs>),
    /// Positions of rows, of any arity.
    Rows(HashTable<u32>, RandomState),
}

impl Default for Set {
    fn default() -> Self {
        Self::Rows(HashTable::new(), RandomState::default())
    }
}

impl Relation {
    pub(crate) fn new(arity: usize) -> Self {
        Self {
            arity,
            set: match arity {
                2 => Set::Pairs(Pairs::default()),
                _ => Set::default(),
            },
            reconsider_at: 32,
            ..Self::default()
        }
    }

    /// The relation of some rows, `count` of them, that lie flat in `values`.
    pub(crate) fn of(arity: usize, count: usize, values: &[Value]) -> Self {
        let mut relation = Self::new(arity);
        if arity == 2 {
            relation.set = Set::Pairs(Pairs::sized_for(values));
            relation.reconsider_at = u32::try_from(count)
                .unwrap_or(u32::MAX)
                .saturating_mul(2)
                .max(32);
        }
        relation.values.reserve(values.len());
        for at in 0..count {
            relation.insert(values.get(at * arity..(at + 1) * arity).unwrap_or(&[]));
        }
        relation
    }

    pub(crate) fn arity(&self) -> usize {
        self.arity
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// The row, as long as the arity; empty beyond the last.
    pub(crate) fn row(&self, at: u32) -> &[Value] {
        let start = at as usize * self.arity;
        self.values.get(start..start + self.arity).unwrap_or(&[])
    }

    /// The rows of a relation with two columns, flat.
    pub(crate) fn pairs(&self, rows: Rows) -> &[Value] {
        self.values
            .get(rows.start as usize * 2..rows.end as usize * 2)
            .unwrap_or(&[])
    }

    /// The value in one column of a row.
    pub(crate) fn cell(&self, at: u32, column: usize) -> Option<Value> {
        self.values.get(at as usize * self.arity + column).copied()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Value]> {
        (0..self.len).map(|at| self.row(at))
    }

    pub(crate) fn contains(&self, row: &[Value]) -> bool {
        match (&self.set, row) {
            (Set::Pairs(pairs), [a, b]) => pairs.contains(*a, *b),
            (Set::Rows(table, hasher), _) => table
                .find(hash_row(hasher, row), |at| self.row(*at) == row)
                .is_some(),
            (Set::Grouped(pairs), [a, b]) => pairs
                .get_or_init(|| Pairs::of(&self.values))
                .contains(*a, *b),
            (Set::Pairs(_) | Set::Grouped(_), _) => false,
        }
    }

    /// A relation with two columns that has these pairs, all different, and is filled by [`Relation::push_group`] only.
    pub(crate) fn grouped(pairs: &[Value]) -> Self {
        Self {
            arity: 2,
            len: u32::try_from(pairs.len() / 2).unwrap_or(u32::MAX),
            values: pairs.to_vec(),
            set: Set::Grouped(OnceLock::new()),
            ..Self::default()
        }
    }

    /// Appends a row for each of `others`, which differ, with `rider` in column `passenger`; no pair comes twice.
    pub(crate) fn push_group(&mut self, rider: Value, others: &[Value], passenger: usize) {
        self.values.reserve(others.len() * 2);
        if passenger == 0 {
            self.values
                .extend(others.iter().flat_map(|other| [rider, *other]));
        } else {
            self.values
                .extend(others.iter().flat_map(|other| [*other, rider]));
        }
        self.len += u32::try_from(others.len()).unwrap_or(u32::MAX);
    }

    /// Appends the row unless it is there; says whether it is new.
    pub(crate) fn insert(&mut self, row: &[Value]) -> bool {
        if let [a, b] = row
            && self.arity == 2
        {
            return self.insert_pair(*a, *b);
        }
        debug_assert_eq!(row.len(), self.arity);
        let Set::Rows(table, hasher) = &mut self.set else {
            return false;
        };
        let (values, arity) = (&self.values, self.arity);
        let row_at = |at: u32| {
            let start = at as usize * arity;
            values.get(start..start + arity).unwrap_or(&[])
        };
        let entry = table.entry(
            hash_row(hasher, row),
            |at| row_at(*at) == row,
            |at| hash_row(hasher, row_at(*at)),
        );
        let hashbrown::hash_table::Entry::Vacant(slot) = entry else {
            return false;
        };
        slot.insert(self.len);
        self.values.extend_from_slice(row);
        self.len += 1;
        true
    }

    /// [`Relation::insert`] for a relation with two columns.
    #[inline]
    pub(crate) fn insert_pair(&mut self, a: Value, b: Value) -> bool {
        let Set::Pairs(pairs) = &mut self.set else {
            return false;
        };
        if !pairs.insert(a, b) {
            return false;
        }
        self.values.extend([a, b]);
        self.len += 1;
        self.reconsider();
        true
    }

    /// [`Relation::insert_pair`] for each pair of the two columns.
    pub(crate) fn insert_columns(&mut self, first: &[Value], second: &[Value]) {
        if let Set::Pairs(Pairs::Dense(dense)) = &mut self.set {
            for (a, b) in first.iter().zip(second) {
                if dense.insert(*a, *b) {
                    self.values.extend([*a, *b]);
                    self.len += 1;
                }
            }
            self.reconsider();
        } else {
            for (a, b) in first.iter().zip(second) {
                self.insert_pair(*a, *b);
            }
        }
    }

    fn reconsider(&mut self) {
        if let Set::Pairs(pairs) = &mut self.set
            && self.len >= self.reconsider_at
        {
            pairs.reconsider(&self.values);
            self.reconsider_at = self.len.saturating_mul(2);
        }
    }

    /// The index of the columns over the rows of a relation that is done; made when it is first wanted.
    pub(crate) fn index(&self, columns: &[usize]) -> Arc<Index> {
        // A panic elsewhere leaves the list as it was: whole.
        let mut kept = self
            .indexes
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = kept.iter().find(|index| index.columns() == columns) {
            return Arc::clone(index);
        }
        let mut index = Index::new(columns.into());
        index.extend(self);
        let index = Arc::new(index);
        kept.push(Arc::clone(&index));
        index
    }

    /// The rows from here on are derived in `step`, which is later than all before.
    pub(crate) fn begin_step(&mut self, step: u32) {
        match self.steps.last_mut() {
            Some((first, last)) if *first == self.len => *last = step,
            _ => self.steps.push((self.len, step)),
        }
    }

    /// When the row was derived.
    pub(crate) fn birth(&self, row: u32) -> Birth {
        let after = self.steps.partition_point(|(first, _)| *first <= row);
        let step = after.checked_sub(1).and_then(|at| self.steps.get(at));
        Birth {
            step: step.map_or(0, |(_, step)| *step),
            row,
        }
    }
}

fn hash_row(hasher: &RandomState, row: &[Value]) -> u64 {
    match row {
        [a] => hasher.hash_one(a.0),
        _ => hasher.hash_one(row),
    }
}

/// The rows of a relation by the values of some columns; rows with equal values are chained, newest first.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    columns: Box<[usize]>,
    heads: Heads,
    /// For each row the next older one of its chain.
    older: Vec<u32>,
}

/// The newest row of each chain.
#[derive(Clone, Debug)]
enum Heads {
    /// By the value of the one column, where an array over all values is in proportion to the rows.
    Dense(Vec<u32>),
    Hash(HashTable<u32>, RandomState),
}

/// The end of a chain.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Whether an array over values up to the largest is in proportion to so many rows.
pub(crate) fn is_proportionate(largest: u32, rows: u32) -> bool {
    u64::from(largest) <= 65_536 + 8 * u64::from(rows)
}

impl Index {
    pub(crate) fn new(columns: Box<[usize]>) -> Self {
        Self {
            heads: match *columns {
                [_] => Heads::Dense(Vec::new()),
                _ => Heads::Hash(HashTable::new(), RandomState::default()),
            },
            columns,
            older: Vec::new(),
        }
    }

    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Takes in the rows that are not indexed yet.
    pub(crate) fn extend(&mut self, relation: &Relation) {
        if let (Heads::Dense(heads), [column]) = (&mut self.heads, &*self.columns) {
            let known = u32::try_from(self.older.len()).unwrap_or(u32::MAX);
            for at in known..relation.len() {
                let value = relation.cell(at, *column).map_or(0, |value| value.0);
                let slot = value as usize;
                if slot >= heads.len() {
                    if !is_proportionate(value, relation.len()) {
                        self.heads = Heads::Hash(HashTable::new(), RandomState::default());
                        self.older.clear();
                        break;
                    }
                    heads.resize((slot + 1).next_power_of_two(), NO_ROW);
                }
                if let Some(head) = heads.get_mut(slot) {
                    self.older.push(std::mem::replace(head, at));
                }
            }
        }
        let Heads::Hash(heads, hasher) = &mut self.heads else {
            return;
        };
        let columns = &self.columns;
        let hash_at = |at: u32| {
            hash_cells(
                hasher,
                columns
                    .iter()
                    .filter_map(|column| relation.cell(at, *column)),
            )
        };
        let known = u32::try_from(self.older.len()).unwrap_or(u32::MAX);
        for at in known..relation.len() {
            let hash = hash_at(at);
            let same = |other: &u32| {
                columns
                    .iter()
                    .all(|column| relation.cell(*other, *column) == relation.cell(at, *column))
            };
            if let Some(head) = heads.find_mut(hash, same) {
                self.older.push(*head);
                *head = at;
            } else {
                self.older.push(NO_ROW);
                heads.insert_unique(hash, at, |other| hash_at(*other));
            }
        }
    }

    /// The newest row with these values in the index's columns, or [`NO_ROW`].
    pub(crate) fn newest(&self, relation: &Relation, key: &[Value]) -> u32 {
        let head = match (&self.heads, key) {
            (Heads::Dense(heads), [value]) => heads.get(value.0 as usize),
            (Heads::Dense(_), _) => None,
            (Heads::Hash(heads, hasher), _) => {
                let hash = hash_cells(hasher, key.iter().copied());
                heads.find(hash, |at| {
                    self.columns
                        .iter()
                        .zip(key)
                        .all(|(column, value)| relation.cell(*at, *column) == Some(*value))
                })
            }
        };
        head.copied().unwrap_or(NO_ROW)
    }

    /// The newest row of the chain that is older than `at`, or [`NO_ROW`].
    pub(crate) fn older(&self, at: u32) -> u32 {
        self.older.get(at as usize).copied().unwrap_or(NO_ROW)
    }
}

fn hash_cells(hasher: &RandomState, cells: impl Iterator<Item = Value>) -> u64 {
    use std::hash::Hasher;
    let mut state = hasher.build_hasher();
    for cell in cells {
        state.write_u32(cell.0);
    }
    state.finish()
}

/// Which rows of a relation a scan sees, as positions.
pub(crate) type Rows = Range<u32>;

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[u32]) -> Vec<Value> {
        values.iter().map(|value| Value(*value)).collect()
    }

    #[test]
    fn rows_are_kept_once_in_order() {
        for arity in 0..4 {
            let mut relation = Relation::new(arity);
            let one = row(&[1, 2, 3][..arity]);
            assert!(relation.insert(&one));
            assert!(!relation.insert(&one));
            assert!(relation.contains(&one));
            assert_eq!(relation.len(), 1);
            assert_eq!(relation.row(0), one);
        }
    }

    #[test]
    fn an_index_chains_rows_newest_first() {
        let mut relation = Relation::new(2);
        let mut index = Index::new([0].into());
        for (a, b) in [(1, 1), (2, 1), (1, 2)] {
            relation.insert(&row(&[a, b]));
        }
        index.extend(&relation);
        relation.insert(&row(&[1, 3]));
        index.extend(&relation);
        let mut found = Vec::new();
        let mut at = index.newest(&relation, &row(&[1]));
        while at != NO_ROW {
            found.push(at);
            at = index.older(at);
        }
        assert_eq!(found, [3, 2, 0]);
        assert_eq!(index.newest(&relation, &row(&[9])), NO_ROW);
    }
}
