//! Relations: append-only rows without duplicates.
//!
//! The order of rows is the order of derivation, and nothing is ever moved or removed. A relation may be a version of
//! another one, which it shares: without some of its rows, and with rows of its own behind them.

use super::index::{Index, Kept, NO_ROW};
use super::set::{Dense, Pairs};
use crate::value::Value;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A version may differ from its base in so many rows, whatever the size of the base.
const WORTH_COPYING: u32 = 1024;
/// A version may differ from its base in one of so many rows.
const SHARE_WORTH_COPYING: u32 = 128;

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
    /// The relation that this one is a version of.
    below: Option<Box<Below>>,
}

/// What a version shares with the relation that it is a version of.
#[derive(Clone, Debug)]
struct Below {
    /// Not a version itself.
    base: Arc<Relation>,
    /// The rows of the base that are no longer there.
    gone: Arc<Relation>,
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
    Grouped(OnceLock<Pairs>, Option<usize>),
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
        if arity == 2 {
            let (set, values) = Pairs::distinct(values);
            let len = u32::try_from(values.len() / 2).unwrap_or(u32::MAX);
            return Self {
                len,
                values,
                set: Set::Pairs(set),
                reconsider_at: len.saturating_mul(2).max(32),
                ..Self::new(2)
            };
        }
        let mut relation = Self::new(arity);
        relation.values.reserve(values.len());
        for at in 0..count {
            relation.insert(values.get(at * arity..(at + 1) * arity).unwrap_or(&[]));
        }
        relation
    }

    pub(crate) fn arity(&self) -> usize {
        self.arity
    }

    /// How many tuples there are.
    pub(crate) fn len(&self) -> u32 {
        self.below
            .as_ref()
            .map_or(0, |below| below.base.len.saturating_sub(below.gone.len))
            + self.len
    }

    /// The position behind the last row.
    pub(crate) fn end(&self) -> u32 {
        self.from() + self.len
    }

    /// The position of the first row that is not shared with another version.
    pub(crate) fn from(&self) -> u32 {
        self.below.as_ref().map_or(0, |below| below.base.len)
    }

    pub(crate) fn is_version(&self) -> bool {
        self.below.is_some()
    }

    /// Whether there is a tuple at the position.
    pub(crate) fn is_live(&self, at: u32) -> bool {
        match &self.below {
            Some(below) if at < below.base.len && below.gone.len > 0 => {
                !below.gone.contains(below.base.row(at))
            }
            _ => at < self.end(),
        }
    }

    /// The positions of the rows that are not shared.
    pub(crate) fn own(&self) -> Range<u32> {
        self.from()..self.end()
    }

    /// The tuples that `other` does not have.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut difference = Self::new(self.arity);
        for row in self.rows().filter(|row| !other.contains(row)) {
            difference.insert(row);
        }
        difference
    }

    /// The positions of all tuples.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u32> {
        (0..self.end()).filter(|at| self.is_live(*at))
    }

    /// The row, as long as the arity; empty beyond the last.
    pub(crate) fn row(&self, at: u32) -> &[Value] {
        let mut at = at;
        if let Some(below) = &self.below {
            if at < below.base.len {
                return below.base.row(at);
            }
            at -= below.base.len;
        }
        let start = at as usize * self.arity;
        self.values.get(start..start + self.arity).unwrap_or(&[])
    }

    /// The rows of a relation with two columns that is no version, flat.
    pub(crate) fn pairs(&self, rows: Rows) -> &[Value] {
        self.values
            .get(rows.start as usize * 2..rows.end as usize * 2)
            .unwrap_or(&[])
    }

    /// The value in one column of a row.
    pub(crate) fn cell(&self, at: u32, column: usize) -> Option<Value> {
        if self.below.is_some() {
            return self.row(at).get(column).copied();
        }
        self.values.get(at as usize * self.arity + column).copied()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Value]> {
        self.positions().map(|at| self.row(at))
    }

    /// Calls `visit` for each row of a relation with two columns.
    pub(crate) fn each_pair(&self, mut visit: impl FnMut(Value, Value)) {
        let mut take = |row: &[Value]| {
            if let [a, b] = row {
                visit(*a, *b);
            }
        };
        match self.below {
            None => self.values.chunks_exact(2).for_each(take),
            Some(_) => self.rows().for_each(&mut take),
        }
    }

    /// The dense bits of a relation with two columns, if these are what keeps its rows apart.
    pub(crate) fn bits(&self) -> Option<&Dense> {
        match &self.set {
            Set::Pairs(Pairs::Dense(dense)) if self.below.is_none() => Some(dense),
            _ => None,
        }
    }

    pub(crate) fn contains(&self, row: &[Value]) -> bool {
        self.has_own(row) || self.is_below(row)
    }

    /// Whether the row is one of those that are shared.
    fn is_below(&self, row: &[Value]) -> bool {
        self.below
            .as_ref()
            .is_some_and(|below| below.base.has_own(row) && !below.gone.has_own(row))
    }

    fn has_own(&self, row: &[Value]) -> bool {
        match (&self.set, row) {
            (Set::Pairs(pairs), [a, b]) => pairs.contains(*a, *b),
            (Set::Rows(table, hasher), _) => {
                let same = |at: &u32| {
                    let start = *at as usize * self.arity;
                    self.values.get(start..start + self.arity) == Some(row)
                };
                table.find(hash_row(hasher, row), same).is_some()
            }
            (Set::Grouped(pairs, _), [a, b]) => pairs
                .get_or_init(|| Pairs::of(&self.values))
                .contains(*a, *b),
            (Set::Pairs(_) | Set::Grouped(..), _) => false,
        }
    }

    /// A relation with two columns that is filled by [`Relation::push_group`] only, group after group of one column.
    pub(crate) fn grouped_by(column: usize) -> Self {
        Self {
            set: Set::Grouped(OnceLock::new(), Some(column)),
            ..Self::distinct(&[])
        }
    }

    /// Whether all rows with one value in the column stand together.
    pub(crate) fn is_grouped_by(&self, column: usize) -> bool {
        match &self.set {
            Set::Grouped(_, by) => *by == Some(column),
            _ => self.arity == 1,
        }
    }

    /// A relation with two columns that has these pairs, all different, and is filled by [`Relation::push_group`] only.
    pub(crate) fn distinct(pairs: &[Value]) -> Self {
        Self {
            arity: 2,
            len: u32::try_from(pairs.len() / 2).unwrap_or(u32::MAX),
            values: pairs.to_vec(),
            set: Set::Grouped(OnceLock::new(), None),
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
        if self.is_below(row) {
            return false;
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
        if self.below.is_some() && self.is_below(&[a, b]) {
            return false;
        }
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
        if let Set::Pairs(Pairs::Dense(dense)) = &mut self.set
            && self.below.is_none()
        {
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

    /// The positions of the tuples with the values in the columns, newest first, of a relation that is done.
    pub(crate) fn find(&self, columns: &[usize], key: &[Value]) -> impl Iterator<Item = u32> {
        let below = self
            .below
            .as_ref()
            .map(|below| below.base.matches(columns, key));
        let own = self.matches(columns, key);
        own.chain(below.into_iter().flatten())
            .filter(|at| self.is_live(*at))
    }

    fn matches(&self, columns: &[usize], key: &[Value]) -> impl Iterator<Item = u32> + use<> {
        let index = self.index(columns);
        let first = index.newest(self, key);
        std::iter::successors(Some(first), move |at| Some(index.older(*at)))
            .take_while(|at| *at != NO_ROW)
    }

    /// The index of the columns over the relation's own rows, made when it is first wanted and kept.
    pub(crate) fn index(&self, columns: &[usize]) -> Arc<Index> {
        self.indexes.get(self, columns)
    }

    /// The rows from here on are derived in `step`, which is later than all before.
    pub(crate) fn begin_step(&mut self, step: u32) {
        let end = self.end();
        match self.steps.last_mut() {
            Some((first, last)) if *first == end => *last = step,
            _ => self.steps.push((end, step)),
        }
    }

    /// When the row was derived.
    pub(crate) fn birth(&self, row: u32) -> Birth {
        if let Some(below) = &self.below
            && row < below.base.len
        {
            return below.base.birth(row);
        }
        let after = self.steps.partition_point(|(first, _)| *first <= row);
        let step = after.checked_sub(1).and_then(|at| self.steps.get(at));
        Birth {
            step: step.map_or(0, |(_, step)| *step),
            row,
        }
    }

    /// The relation that this one is a version of.
    pub(crate) fn shared(&self) -> Option<&Arc<Self>> {
        self.below.as_ref().map(|below| &below.base)
    }

    /// The relation that this one is a version of, or itself.
    pub(crate) fn base(self: &Arc<Self>) -> &Arc<Self> {
        self.below.as_ref().map_or(self, |below| &below.base)
    }

    /// A version of the relation without `rows`; what remains keeps its birth.
    pub(crate) fn without(self: &Arc<Self>, rows: &Self) -> Self {
        let mut gone = match &self.below {
            Some(below) => Arc::clone(&below.gone),
            None => Arc::new(Self::new(self.arity)),
        };
        let base = self.base();
        for row in rows.rows() {
            if base.has_own(row) && !gone.has_own(row) {
                Arc::make_mut(&mut gone).insert(row);
            }
        }
        let mut version = Self {
            below: Some(Box::new(Below {
                base: Arc::clone(base),
                gone,
            })),
            ..Self::new(self.arity)
        };
        let own = if self.is_version() { self.own() } else { 0..0 };
        for at in own {
            let row = self.row(at);
            if !rows.contains(row) {
                version.begin_step(self.birth(at).step);
                version.insert(row);
            }
        }
        version
    }

    /// The relation, with its rows anew if it differs so much from the one that it is a version of that this pays.
    pub(crate) fn settled(self) -> Self {
        let Some(below) = &self.below else {
            return self;
        };
        let differences = below.gone.len.saturating_add(self.len);
        if differences <= WORTH_COPYING.max(below.base.len / SHARE_WORTH_COPYING) {
            return self;
        }
        let mut anew = Self::new(self.arity);
        for at in self.positions() {
            anew.begin_step(self.birth(at).step);
            anew.insert(self.row(at));
        }
        anew
    }
}

fn hash_row(hasher: &RandomState, row: &[Value]) -> u64 {
    match row {
        [a] => hasher.hash_one(a.0),
        _ => hasher.hash_one(row),
    }
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
    fn a_version_shares_rows_and_has_its_own() {
        for arity in [1, 2, 3] {
            let of = |values: &[u32]| {
                let mut relation = Relation::new(arity);
                for (step, value) in (1..).zip(values) {
                    relation.begin_step(step);
                    relation.insert(&row(&[*value; 3][..arity]));
                }
                relation
            };
            let tuples =
                |relation: &Relation| -> Vec<u32> { relation.rows().map(|row| row[0].0).collect() };
            let base = Arc::new(of(&[1, 2, 3, 4]));
            let mut version = base.without(&of(&[2, 9]));
            version.begin_step(10);
            assert!(!version.insert(&row(&[3; 3][..arity])), "shared");
            assert!(version.insert(&row(&[2; 3][..arity])), "it was gone");
            assert!(version.insert(&row(&[7; 3][..arity])));
            assert_eq!(tuples(&version), [1, 3, 4, 2, 7]);
            assert_eq!((version.len(), version.end()), (5, 6));
            assert_eq!((version.birth(0).step, version.birth(4).step), (1, 10));
            let next = Arc::new(version).without(&of(&[4, 7]));
            assert_eq!(tuples(&next), [1, 3, 2]);
            assert!(!next.contains(&row(&[7; 3][..arity])));
            assert!(next.contains(&row(&[2; 3][..arity])));
            assert!(!next.contains(&row(&[4; 3][..arity])));
            assert_eq!(tuples(&next.settled()), [1, 3, 2]);
        }
    }

    #[test]
    fn a_version_that_differs_much_is_written_anew() {
        let all: Vec<Value> = (0..3000).map(Value).collect();
        let base = Arc::new(Relation::of(1, 3000, &all));
        let settled = base.without(&Relation::of(1, 2000, &all[..2000])).settled();
        assert!(!settled.is_version());
        assert_eq!(settled.len(), 1000);
        assert!(
            base.without(&Relation::of(1, 100, &all[..100]))
                .settled()
                .is_version()
        );
    }
}
