//! Runs the plans of [`super::batch`]: each operation takes a batch of bindings and passes its results on whenever
//! they have become a batch.
//!
//! Nothing here decides an order; that was settled when planning.

use super::batch::{BATCH, Cell, Columns, Operation, Program, Source};
use super::evaluate::{Evaluator, Failure};
use super::index::NO_ROW;
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
        let mut done = 0;
        if let Operation::Probe {
            predicate,
            column,
            key: Source::Column(key),
            cells,
            first_only: false,
            ..
        } = operation
            && let [(_, Cell::Keep(made))] = &**cells
            && self
                .relation(*predicate)
                .is_some_and(|relation| relation.arity() == 2)
        {
            // The commonest join of all: from a value to its neighbours.
            while done < input.len {
                let before = done;
                let Some((csr, output)) = self.csr(*predicate, *column).zip(rest.first_mut())
                else {
                    break;
                };
                let keys = input.columns.get(*key).and_then(|keys| keys.get(done..));
                for value in keys.unwrap_or(&[]) {
                    let items = csr.of(*value);
                    output.neighbours(input, done, carried, *made, items);
                    done += 1;
                    if output.len >= BATCH {
                        break;
                    }
                }
                let made = output.len + done - before;
                self.count_firings(made as u64, program.head)?;
                self.pass_on(program, at, rest)?;
                if done == before {
                    break;
                }
            }
        }
        for binding in done..input.len {
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
                    if let Some(output) = rest.first_mut() {
                        let before = output.len;
                        self.probe(
                            (*predicate, *part, *column, key),
                            cells,
                            *first_only,
                            (input, binding, carried),
                            output,
                        );
                        let made = output.len - before;
                        self.count_firings(1 + made as u64, program.head)?;
                    }
                }
                Operation::Member {
                    predicate,
                    row,
                    wanted,
                } => {
                    let holds = match (self.relation(*predicate), &**row) {
                        (Some(relation), [a, b]) => {
                            let (a, b) = (input.get(*a, binding), input.get(*b, binding));
                            match self.csr(*predicate, 0).map(|csr| csr.of(a)) {
                                Some(few) if few.len() <= FEW => few.contains(&b),
                                _ => relation.contains(&[a, b]),
                            }
                        }
                        (Some(relation), _) => {
                            let row: Vec<Value> =
                                row.iter().map(|cell| input.get(*cell, binding)).collect();
                            relation.contains(&row)
                        }
                        (None, _) => false,
                    };
                    keep(holds == *wanted, input, binding, carried, rest);
                }
                Operation::NoMatch {
                    predicate,
                    column,
                    key,
                } => {
                    let key = input.get(*key, binding);
                    let found = self.has_match(*predicate, *column, key);
                    keep(!found, input, binding, carried, rest);
                }
                Operation::Identical {
                    left,
                    right,
                    wanted,
                } => {
                    let same = input.get(*left, binding) == input.get(*right, binding);
                    keep(same == *wanted, input, binding, carried, rest);
                }
            }
            if rest.first().is_some_and(|output| output.len >= BATCH) {
                self.pass_on(program, at, rest)?;
            }
        }
        self.pass_on(program, at, rest)
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

    fn probe(
        &self,
        (predicate, part, column, key): (PredicateId, Part, usize, Value),
        cells: &[(usize, Cell)],
        first_only: bool,
        (input, binding, carried): (&Columns, usize, &[usize]),
        output: &mut Columns,
    ) {
        let Some(relation) = self.relation(predicate) else {
            return;
        };
        let only_existence = cells.is_empty();
        if let Some(csr) = self.csr(predicate, column) {
            let items = csr.of(key);
            let pair = relation.arity() == 2;
            match cells {
                [] if !items.is_empty() => output.repeat(input, binding, carried, 1),
                [] => {}
                [(_, Cell::Keep(variable))] if pair && !first_only => {
                    if let Some(column) = output.columns.get_mut(*variable) {
                        column.extend_from_slice(items);
                    }
                    output.repeat(input, binding, carried, items.len());
                }
                _ => {
                    for item in items {
                        let cell = |other: usize| match pair {
                            true if other != column => Some(*item),
                            true => Some(key),
                            false => relation.cell(item.0, other),
                        };
                        let took = take(cell, cells, input, binding, carried, output);
                        if took && first_only {
                            return;
                        }
                    }
                }
            }
            return;
        }
        let rows = self.rows(predicate, part);
        let mut at = self.newest(predicate, &[column], &[key]);
        while at != NO_ROW && at >= rows.start {
            if at < rows.end {
                let cell = |other| relation.cell(at, other);
                let took = take(cell, cells, input, binding, carried, output);
                if took && (first_only || only_existence) {
                    return;
                }
            }
            at = self.older(predicate, &[column], &[key], at);
        }
    }

    fn has_match(&self, predicate: PredicateId, column: usize, key: Value) -> bool {
        match (self.csr(predicate, column), self.relation(predicate)) {
            (Some(csr), _) => !csr.of(key).is_empty(),
            (None, Some(_)) => self.newest(predicate, &[column], &[key]) != NO_ROW,
            (None, None) => false,
        }
    }

    fn emit_batch(&mut self, program: &Program, input: &Columns) -> Result<(), Failure> {
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

/// Passes a binding on, or not.
fn keep(wanted: bool, input: &Columns, binding: usize, carried: &[usize], rest: &mut [Columns]) {
    if wanted && let Some(output) = rest.first_mut() {
        output.repeat(input, binding, carried, 1);
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
        };
        let cells = [(0, Cell::Keep(1)), (1, Cell::Equal(Source::Column(0)))];
        let row = |values: [u32; 2]| move |column: usize| values.get(column).map(|v| Value(*v));
        assert!(take(row([3, 7]), &cells, &input, 0, &[0], &mut output));
        assert!(!take(row([3, 8]), &cells, &input, 0, &[0], &mut output));
        assert_eq!(output.len, 1);
        assert_eq!(output.columns, [vec![Value(7)], vec![Value(3)]]);
    }
}
