//! Adjacency of finished relations: for a value of one column the rows that have it, side by side.
//!
//! Nothing here changes once built.

use super::relation::Relation;
use crate::value::Value;

/// The rows of a relation by the value of one column.
#[derive(Clone, Debug)]
pub(crate) struct Csr {
    pub(crate) column: usize,
    /// Where the rows of each value start; one more than there are values.
    offsets: Vec<u32>,
    /// Of two columns the other one's values; otherwise positions of rows.
    items: Vec<Value>,
}

impl Csr {
    pub(crate) fn new(relation: &Relation, column: usize) -> Self {
        let key = |at: u32| {
            relation
                .cell(at, column)
                .map_or(0, |value| value.0 as usize)
        };
        let mut offsets = Vec::new();
        for at in relation.positions() {
            let slot = key(at) + 1;
            if slot >= offsets.len() {
                offsets.resize(slot + 1, 0_u32);
            }
            if let Some(count) = offsets.get_mut(slot) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for slot in &mut offsets {
            sum += *slot;
            *slot = sum;
        }
        let mut next = offsets.clone();
        let mut items = vec![Value(0); relation.len() as usize];
        for at in relation.positions() {
            let item = match relation.arity() {
                2 => relation.cell(at, 1 - column.min(1)).unwrap_or(Value(0)),
                _ => Value(at),
            };
            if let Some(place) = next.get_mut(key(at)) {
                if let Some(slot) = items.get_mut(*place as usize) {
                    *slot = item;
                }
                *place += 1;
            }
        }
        Self {
            column,
            offsets,
            items,
        }
    }

    /// The items of the rows that have `value`.
    #[inline]
    pub(crate) fn of(&self, value: Value) -> &[Value] {
        let at = value.0 as usize;
        match (self.offsets.get(at), self.offsets.get(at + 1)) {
            (Some(start), Some(end)) => self
                .items
                .get(*start as usize..*end as usize)
                .unwrap_or(&[]),
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_either_column() {
        let mut relation = Relation::new(2);
        for (a, b) in [(5, 1), (2, 1), (5, 3)] {
            relation.insert(&[Value(a), Value(b)]);
        }
        let (by_first, by_second) = (Csr::new(&relation, 0), Csr::new(&relation, 1));
        assert_eq!(by_first.of(Value(5)), [Value(1), Value(3)]);
        assert_eq!(by_first.of(Value(3)), []);
        assert_eq!(by_first.of(Value(900)), []);
        assert_eq!(by_second.of(Value(1)), [Value(5), Value(2)]);
    }
}
