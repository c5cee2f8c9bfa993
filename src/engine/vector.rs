//! Runs the plans of [`super::batch`]: each operation takes a batch of bindings and passes its results on whenever
//! they have become a batch.
//!
//! Nothing here decides an order; that was settled when planning.

use super::batch::{BATCH, Cell, Columns, Operation, Program, Source};
use super::evaluate::{Evaluator, Failure};
use super::index::NO_ROW;
use super::passenger::Marks;
use super::plan::Part;
use crate::analysis::rule::PredicateId;
use crate::value::Value;

/// So many values are found by a look at each.
const FEW: usize = 16;

impl Evaluator<'_> {
    pub(super) fn run_program(&mut self, program: &Program) -> Result<(), Failure> {
        let mut levels = vec![Columns::new(program.variables); program.operations.len() + 1];
        if let Some(first) = levels.first_mut() {
            first.len = 1;
        }
        self.level(program, 0, &mut levels)
    }

    /// Runs the operations from `at` on over the bindings of the first level.
    fn level(
        &mut self,
        program: &Program,
        at: usize,
        levels: &mut [Columns],
    ) -> Result<(), Failure> {
        let Some((input, rest)) = levels.split_first_mut() else {
            return Ok(());
        };
        let (Some(operation), Some(carried)) =
            (program.operations.get(at), program.carried.get(at))
        else {
            return self.emit_batch(program, input);
        };
        if let Operation::Probe {
            predicate,
            column,
            key: Source::Column(key),
            cells,
            first_only: false,
            ..
        } = operation
            && let [(_, Cell::Keep(made))] = &**cells
            && self.csr(*predicate, *column).is_some()
            && self
                .relation(*predicate)
                .is_some_and(|relation| relation.arity() == 2)
        {
            let mut next = (0, 0);
            while next.0 < input.len {
                let before = next.0;
                next = self.neighbours(
                    (*predicate, *column),
                    (input, *key, next),
                    carried,
                    *made,
                    rest,
                );
                let made = rest.first().map_or(0, |output| output.len);
                self.count_firings((made + next.0 - before) as u64, program.head)?;
                self.pass_on(program, at, rest)?;
            }
            return Ok(());
        }
        if let Some(output) = rest.first_mut()
            && self.sieve(operation, input, output)
        {
            output.gather(input, carried);
            return self.pass_on(program, at, rest);
        }
        for binding in 0..input.len {
            match operation {
                Operation::Scan {
                    predicate,
                    part,
                    cells,
                } => {
                    let rows = self.rows(*predicate, *part);
                    let mut start = rows.start;
                    while start < rows.end {
                        let end = rows.end.min(start.saturating_add(BATCH as u32));
                        if let (Some(relation), Some(output)) =
                            (self.relation(*predicate), rest.first_mut())
                        {
                            match &**cells {
                                [(0, Cell::Keep(a)), (1, Cell::Keep(b))]
                                    if relation.arity() == 2 =>
                                {
                                    output.take_pairs(relation.pairs(start..end), *a, *b);
                                    output.repeat(input, binding, carried, (end - start) as usize);
                                }
                                _ => {
                                    for row in start..end {
                                        let cell = |column| relation.cell(row, column);
                                        take(cell, cells, input, binding, carried, output);
                                    }
                                }
                            }
                        }
                        self.count_firings(u64::from(end - start), program.head)?;
                        start = end;
                        self.pass_on(program, at, rest)?;
                    }
                }
                Operation::Probe {
                    predicate,
                    part,
                    column,
                    key,
                    cells,
                    first_only,
                } => {
                    let key = input.get(*key, binding);
                    self.count_firings(1, program.head)?;
                    let mut from = Some(None);
                    while let Some(start) = from {
                        let Some(output) = rest.first_mut() else {
                            break;
                        };
                        let (looked, next) = self.probe(
                            (*predicate, *part, *column, key),
                            cells,
                            *first_only,
                            (input, binding, carried),
                            output,
                            start,
                        );
                        from = next.map(Some);
                        self.count_firings(looked, program.head)?;
                        if from.is_some() {
                            self.pass_on(program, at, rest)?;
                        }
                    }
                }
                Operation::Member { .. }
                | Operation::NoMatch { .. }
                | Operation::Identical { .. } => {}
            }
            if rest.first().is_some_and(|output| output.len >= BATCH) {
                self.pass_on(program, at, rest)?;
            }
        }
        self.pass_on(program, at, rest)
    }

    /// The commonest join of all: from the values of a column to their neighbours, until there is a batch of them.
    /// Says how many bindings are done, and how many neighbours of the one that is next.
    fn neighbours(
        &self,
        (predicate, column): (PredicateId, usize),
        (input, key, (start, known)): (&Columns, usize, (usize, usize)),
        carried: &[usize],
        made: usize,
        rest: &mut [Columns],
    ) -> (usize, usize) {
        let (Some(csr), Some(output)) = (self.csr(predicate, column), rest.first_mut()) else {
            return (input.len, 0);
        };
        let keys = input.columns.get(key).and_then(|keys| keys.get(start..));
        let (mut done, mut passed) = (start, known);
        if let Some(values) = output.columns.get_mut(made) {
            for (value, at) in keys.unwrap_or(&[]).iter().zip((0..).skip(start)) {
                let items = csr.of(*value).get(passed..).unwrap_or(&[]);
                let batch = items.get(..BATCH).unwrap_or(items);
                if batch.len() <= FEW {
                    // A copy of a few values costs more by a call than by a loop.
                    for item in batch {
                        values.push(*item);
                        output.picks.push(at);
                    }
                } else {
                    values.extend_from_slice(batch);
                    output.picks.extend(std::iter::repeat_n(at, batch.len()));
                }
                if batch.len() < items.len() {
                    passed += batch.len();
                    break;
                }
                passed = 0;
                done += 1;
                if output.picks.len() >= BATCH {
                    break;
                }
            }
        }
        output.gather(input, carried);
        match (done, passed) == (start, known) {
            true => (input.len, 0),
            false => (done, passed),
        }
    }

    /// Picks the bindings that an operation lets through, if it only does that; says whether it does.
    fn sieve(&self, operation: &Operation, input: &Columns, output: &mut Columns) -> bool {
        let mut pick = |holds: &dyn Fn(usize) -> bool| {
            for (binding, at) in (0..input.len).zip(0..) {
                if holds(binding) {
                    output.picks.push(at);
                }
            }
        };
        match operation {
            Operation::Member {
                predicate,
                row,
                wanted,
            } => match (self.relation(*predicate), &**row) {
                (Some(relation), [a, b]) => {
                    let csr = self.csr(*predicate, 0);
                    for (binding, at) in (0..input.len).zip(0..) {
                        let (a, b) = (input.get(*a, binding), input.get(*b, binding));
                        let holds = match csr.map(|csr| csr.of(a)) {
                            Some(few) if few.len() <= FEW => few.contains(&b),
                            _ => relation.contains(&[a, b]),
                        };
                        if holds == *wanted {
                            output.picks.push(at);
                        }
                    }
                }
                (Some(relation), _) => {
                    let mut values = Vec::with_capacity(row.len());
                    for (binding, at) in (0..input.len).zip(0..) {
                        values.clear();
                        values.extend(row.iter().map(|cell| input.get(*cell, binding)));
                        if relation.contains(&values) == *wanted {
                            output.picks.push(at);
                        }
                    }
                }
                (None, _) => pick(&|_| !*wanted),
            },
            Operation::NoMatch {
                predicate,
                column,
                key,
            } => pick(&|binding| !self.has_match(*predicate, *column, input.get(*key, binding))),
            Operation::Identical {
                left,
                right,
                wanted,
            } => pick(&|binding| {
                (input.get(*left, binding) == input.get(*right, binding)) == *wanted
            }),
            Operation::Scan { .. } | Operation::Probe { .. } => return false,
        }
        true
    }

    /// Runs the next operation over what this one made.
    fn pass_on(
        &mut self,
        program: &Program,
        at: usize,
        rest: &mut [Columns],
    ) -> Result<(), Failure> {
        if rest.first().is_some_and(|output| output.len > 0) {
            self.level(program, at + 1, rest)?;
            if let Some(output) = rest.first_mut() {
                output.clear();
            }
        }
        Ok(())
    }

    /// Extends a binding by the rows that fit, at most a batch of rows looked at, from where the last batch ended.
    /// Says how many rows were looked at, and where the next batch starts if there is one.
    fn probe(
        &self,
        (predicate, part, column, key): (PredicateId, Part, usize, Value),
        cells: &[(usize, Cell)],
        first_only: bool,
        (input, binding, carried): (&Columns, usize, &[usize]),
        output: &mut Columns,
        from: Option<u32>,
    ) -> (u64, Option<u32>) {
        let Some(relation) = self.relation(predicate) else {
            return (0, None);
        };
        let one_match = first_only || cells.is_empty();
        let mut looked = 0;
        if let Some(csr) = self.csr(predicate, column) {
            let start = from.unwrap_or(0);
            let items = csr.of(key).get(start as usize..).unwrap_or(&[]);
            let batch = items.get(..BATCH).unwrap_or(items);
            let pair = relation.arity() == 2;
            if let ([(_, Cell::Keep(variable))], true, false) = (cells, pair, first_only) {
                if let Some(column) = output.columns.get_mut(*variable) {
                    column.extend_from_slice(batch);
                }
                output.repeat(input, binding, carried, batch.len());
                looked = batch.len() as u64;
            } else {
                for item in batch {
                    looked += 1;
                    let cell = |other: usize| match pair {
                        true if other != column => Some(*item),
                        true => Some(key),
                        false => relation.cell(item.0, other),
                    };
                    if take(cell, cells, input, binding, carried, output) && one_match {
                        return (looked, None);
                    }
                }
            }
            let more = batch.len() < items.len();
            return (looked, more.then(|| start.saturating_add(BATCH as u32)));
        }
        let rows = self.rows(predicate, part);
        let mut at = from.unwrap_or_else(|| self.newest(predicate, &[column], &[key]));
        while at != NO_ROW && at >= rows.start {
            if looked >= BATCH as u64 {
                return (looked, Some(at));
            }
            looked += 1;
            let cell = |other| relation.cell(at, other);
            if at < rows.end && take(cell, cells, input, binding, carried, output) && one_match {
                break;
            }
            at = self.older(predicate, &[column], &[key], at);
        }
        (looked, None)
    }

    fn has_match(&self, predicate: PredicateId, column: usize, key: Value) -> bool {
        match (self.csr(predicate, column), self.relation(predicate)) {
            (Some(csr), _) => !csr.of(key).is_empty(),
            (None, Some(_)) => self.newest(predicate, &[column], &[key]) != NO_ROW,
            (None, None) => false,
        }
    }

    fn emit_batch(&mut self, program: &Program, input: &Columns) -> Result<(), Failure> {
        if let Some(mut group) = self.group.take() {
            let new = self.emit_group(program, input, &mut group);
            self.group = Some(group);
            return self.count_tuples(new, program.head);
        }
        let Some(relation) = self.open_relation(program.head) else {
            return Ok(());
        };
        let before = relation.len();
        if let [Source::Column(a), Source::Column(b)] = &*program.args
            && let (Some(a), Some(b)) = (input.columns.get(*a), input.columns.get(*b))
        {
            relation.insert_columns(a, b);
        } else if let [a, b] = &*program.args {
            for binding in 0..input.len {
                relation.insert_pair(input.get(*a, binding), input.get(*b, binding));
            }
        } else {
            let mut row = Vec::with_capacity(program.args.len());
            for binding in 0..input.len {
                row.clear();
                row.extend(program.args.iter().map(|arg| input.get(*arg, binding)));
                relation.insert(&row);
            }
        }
        let new = relation.len() - before;
        self.count_tuples(u64::from(new), program.head)
    }
}

/// Results that come grouped by one column of the head: within a group the other column's values are marked.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// The head's column.
    column: usize,
    of: Option<Value>,
    marks: Marks,
    fresh: Vec<Value>,
}

impl Group {
    pub(super) fn by(column: usize) -> Self {
        Self {
            column,
            ..Self::default()
        }
    }
}

impl Evaluator<'_> {
    /// Appends results that come grouped; says how many are new.
    fn emit_group(&mut self, program: &Program, input: &Columns, group: &mut Group) -> u64 {
        let (Some(relation), [Source::Column(a), Source::Column(b)]) =
            (self.open_relation(program.head), &*program.args)
        else {
            return 0;
        };
        let (of, other) = if group.column == 0 { (a, b) } else { (b, a) };
        let (Some(of), Some(others)) = (input.columns.get(*of), input.columns.get(*other)) else {
            return 0;
        };
        let before = relation.len();
        let mut rest = others.as_slice();
        for run in of.chunk_by(|a, b| a == b) {
            let (values, behind) = rest.split_at_checked(run.len()).unwrap_or_default();
            rest = behind;
            let leader = run.first().copied();
            if group.of != leader {
                group.of = leader;
                group.marks.clear();
            }
            let marks = &mut group.marks;
            group.fresh.clear();
            group
                .fresh
                .extend(values.iter().filter(|value| marks.mark(**value)));
            if let Some(leader) = leader {
                relation.push_group(leader, &group.fresh, group.column);
            }
        }
        u64::from(relation.len() - before)
    }
}

/// Appends the binding extended by a row, if the row's cells fit; says whether they do.
#[inline]
fn take(
    cell: impl Fn(usize) -> Option<Value>,
    cells: &[(usize, Cell)],
    input: &Columns,
    binding: usize,
    carried: &[usize],
    output: &mut Columns,
) -> bool {
    let fits = cells.iter().all(|(column, what)| match what {
        Cell::Keep(_) => true,
        Cell::Same(other) => cell(*column) == cell(*other),
        Cell::Equal(source) => cell(*column) == Some(input.get(*source, binding)),
    });
    if !fits {
        return false;
    }
    for (column, what) in cells {
        if let Cell::Keep(variable) = what
            && let (Some(value), Some(values)) = (cell(*column), output.columns.get_mut(*variable))
        {
            values.push(value);
        }
    }
    output.repeat(input, binding, carried, 1);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_taken_only_if_its_cells_fit() {
        let mut output = Columns::new(2);
        let input = Columns {
            len: 1,
            columns: vec![vec![Value(7)], Vec::new()],
            ..Columns::default()
        };
        let cells = [(0, Cell::Keep(1)), (1, Cell::Equal(Source::Column(0)))];
        let row = |values: [u32; 2]| move |column: usize| values.get(column).map(|v| Value(*v));
        assert!(take(row([3, 7]), &cells, &input, 0, &[0], &mut output));
        assert!(!take(row([3, 8]), &cells, &input, 0, &[0], &mut output));
        assert_eq!(output.len, 1);
        assert_eq!(output.columns, [vec![Value(7)], vec![Value(3)]]);
    }
}
