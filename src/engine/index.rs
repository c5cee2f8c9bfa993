//! Indexes over rows that may still grow: the rows with some values in some columns, newest first.
//!
//! Nothing here removes rows: whoever follows a chain of a version leaves out what is gone.

use super::relation::Relation;
use crate::value::Value;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

/// The rows of a relation by the values of some columns; rows with equal values are chained, newest first.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    columns: Box<[usize]>,
    /// The first row that is indexed: a version's own rows only are.
    from: u32,
    heads: Heads,
    /// For each row the next older one of its chain.
    older: Vec<u32>,
    chains: u32,
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
    /// An index of the rows that are the relation's own, without any row yet.
    pub(crate) fn new(relation: &Relation, columns: &[usize]) -> Self {
        Self {
            heads: match columns {
                [_] if !relation.is_version() => Heads::Dense(Vec::new()),
                _ => Heads::Hash(HashTable::new(), RandomState::default()),
            },
            columns: columns.into(),
            from: relation.from(),
            older: Vec::new(),
            chains: 0,
        }
    }

    /// The position of the first row that is indexed.
    pub(crate) fn from(&self) -> u32 {
        self.from
    }

    /// The position behind the last row that is indexed.
    pub(crate) fn end(&self) -> u32 {
        self.from + u32::try_from(self.older.len()).unwrap_or(u32::MAX)
    }

    /// How many rows have the same values, on average.
    pub(crate) fn matches(&self) -> u32 {
        let rows = u32::try_from(self.older.len()).unwrap_or(u32::MAX);
        rows.div_ceil(self.chains.max(1))
    }

    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Takes in the rows that are not indexed yet.
    pub(crate) fn extend(&mut self, relation: &Relation) {
        if let (Heads::Dense(heads), [column]) = (&mut self.heads, &*self.columns) {
            let known = self.from + u32::try_from(self.older.len()).unwrap_or(u32::MAX);
            for at in known..relation.end() {
                let value = relation.cell(at, *column).map_or(0, |value| value.0);
                let slot = value as usize;
                if slot >= heads.len() {
                    if !is_proportionate(value, relation.len()) {
                        self.heads = Heads::Hash(HashTable::new(), RandomState::default());
                        self.older.clear();
                        self.chains = 0;
                        break;
                    }
                    heads.resize((slot + 1).next_power_of_two(), NO_ROW);
                }
                if let Some(head) = heads.get_mut(slot) {
                    let older = std::mem::replace(head, at);
                    self.chains += u32::from(older == NO_ROW);
                    self.older.push(older);
                }
            }
        }
        let known = self.end();
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
        for at in known..relation.end() {
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
                self.chains += 1;
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
        let at = at
            .checked_sub(self.from)
            .and_then(|at| self.older.get(at as usize));
        at.copied().unwrap_or(NO_ROW)
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

/// Indexes of a relation that is done, kept for whoever wants them next. A copy of the relation has none.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Vec<Arc<Index>>>);

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Kept {
    /// The index of the columns over the rows of `relation`.
    pub(crate) fn get(&self, relation: &Relation, columns: &[usize]) -> Arc<Index> {
        // Whoever panicked left the list whole.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = kept.iter().find(|index| index.columns() == columns) {
            return Arc::clone(index);
        }
        let mut index = Index::new(relation, columns);
        index.extend(relation);
        let index = Arc::new(index);
        kept.push(Arc::clone(&index));
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[u32]) -> Vec<Value> {
        values.iter().map(|value| Value(*value)).collect()
    }

    #[test]
    fn an_index_chains_rows_newest_first() {
        let mut relation = Relation::new(2);
        let mut index = Index::new(&relation, &[0]);
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
