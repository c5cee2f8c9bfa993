//! Batches: plain joins run over columns of some hundred bindings at a time, which costs little more than the loop
//! that one would write by hand.
//!
//! Nothing here handles terms, arithmetic or control: plans with any of these run tuple by tuple.

use super::plan::{Match, Part, Plan, Scan, Step};
use crate::analysis::rule::{Pattern, PredicateId, Variable};
use crate::value::Value;

/// How many bindings are gathered before the next step takes them.
pub(crate) const BATCH: usize = 512;

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Constant(Value),
    Column(usize),
}

/// A column of a row: what to do with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell {
    /// It becomes the binding of a variable that is needed later.
    Keep(usize),
    /// It must equal another cell of the same row.
    Same(usize),
    /// It must equal a value known before.
    Equal(Source),
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Each binding with each row of a part of a relation.
    Scan {
        predicate: PredicateId,
        part: Part,
        cells: Vec<(usize, Cell)>,
    },
    /// Each binding with each row whose `column` is `key`.
    Probe {
        predicate: PredicateId,
        part: Part,
        column: usize,
        key: Source,
        cells: Vec<(usize, Cell)>,
        /// One match is as good as all.
        first_only: bool,
    },
    /// Bindings for which the row is, or is not, in the relation.
    Member {
        predicate: PredicateId,
        row: Vec<Source>,
        wanted: bool,
    },
    /// Bindings for which no row has `key` in `column`.
    NoMatch {
        predicate: PredicateId,
        column: usize,
        key: Source,
    },
    /// Bindings whose two values are, or are not, the same.
    Identical {
        left: Source,
        right: Source,
        wanted: bool,
    },
}

/// A plan over columns.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) head: PredicateId,
    pub(crate) args: Vec<Source>,
    pub(crate) operations: Vec<Operation>,
    /// For each operation the variables to carry from its input to its output.
    pub(crate) carried: Vec<Vec<usize>>,
    pub(crate) variables: usize,
}

/// Where the head of a program has the variable that its first operation takes from a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leader {
    /// The head's column that has the variable.
    pub(crate) head: usize,
    pub(crate) predicate: PredicateId,
    /// The column of the relation that is read first.
    pub(crate) column: usize,
}

impl Program {
    /// What the results are grouped by, if the relation that is read first is grouped by it: pairs of two variables
    /// of which the first operation binds one.
    pub(crate) fn leader(&self) -> Option<Leader> {
        let [Source::Column(a), Source::Column(b)] = &*self.args else {
            return None;
        };
        let Some(Operation::Scan {
            predicate, cells, ..
        }) = self.operations.first()
        else {
            return None;
        };
        let made = |variable: usize| {
            cells.iter().find_map(|(column, cell)| match cell {
                Cell::Keep(made) if *made == variable => Some(*column),
                _ => None,
            })
        };
        let (head, column) = match (made(*a), made(*b)) {
            (Some(column), None) => (0, column),
            (None, Some(column)) => (1, column),
            _ => return None,
        };
        Some(Leader {
            head,
            predicate: *predicate,
            column,
        })
    }
}

/// Compiles a plan, if it is a plain join.
pub(crate) fn compile(plan: &Plan) -> Option<Program> {
    let args: Vec<Source> = plan.args.iter().map(source).collect::<Option<_>>()?;
    let operations: Vec<Operation> = plan.steps.iter().map(operation).collect::<Option<_>>()?;
    let mut needed = vec![false; plan.variables];
    args.iter().for_each(|arg| need(*arg, &mut needed));
    let mut carried: Vec<Vec<usize>> = Vec::new();
    let mut kept = operations;
    for operation in kept.iter_mut().rev() {
        // Values that nobody reads later are not kept.
        if let Operation::Scan { cells, .. } | Operation::Probe { cells, .. } = operation {
            let read_by_cell: Vec<usize> = cells
                .iter()
                .filter_map(|(_, cell)| match cell {
                    Cell::Same(column) => Some(*column),
                    _ => None,
                })
                .collect();
            cells.retain(|(column, cell)| match cell {
                Cell::Keep(variable) => {
                    needed.get(*variable).copied().unwrap_or(false) || read_by_cell.contains(column)
                }
                _ => true,
            });
        }
        let made: Vec<usize> = match operation {
            Operation::Scan { cells, .. } | Operation::Probe { cells, .. } => cells
                .iter()
                .filter_map(|(_, cell)| match cell {
                    Cell::Keep(variable) => Some(*variable),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        carried.push(
            (0..plan.variables)
                .filter(|variable| {
                    needed.get(*variable).copied().unwrap_or(false) && !made.contains(variable)
                })
                .collect(),
        );
        for variable in made {
            if let Some(flag) = needed.get_mut(variable) {
                *flag = false;
            }
        }
        reads(operation, &mut needed);
    }
    carried.reverse();
    Some(Program {
        head: plan.head,
        args,
        operations: kept,
        carried,
        variables: plan.variables,
    })
}

fn source(pattern: &Pattern) -> Option<Source> {
    match pattern {
        Pattern::Constant(value) => Some(Source::Constant(*value)),
        Pattern::Variable(variable) => Some(Source::Column(variable.index())),
        Pattern::Compound(..) => None,
    }
}

fn operation(step: &Step) -> Option<Operation> {
    match step {
        Step::Scan(scan) => {
            let cells = cells(scan)?;
            match (&*scan.columns, &*scan.key) {
                ([], []) => Some(Operation::Scan {
                    predicate: scan.predicate,
                    part: scan.part,
                    cells,
                }),
                ([column], [key]) => Some(Operation::Probe {
                    predicate: scan.predicate,
                    part: scan.part,
                    column: *column,
                    key: source(key)?,
                    cells,
                    first_only: scan.first_only,
                }),
                _ => None,
            }
        }
        Step::Lookup(predicate, args) => Some(Operation::Member {
            predicate: *predicate,
            row: args.iter().map(source).collect::<Option<_>>()?,
            wanted: true,
        }),
        Step::Identical(wanted, left, right) => Some(Operation::Identical {
            left: source(left)?,
            right: source(right)?,
            wanted: *wanted,
        }),
        Step::Not(bodies) => match &**bodies {
            [body] => match &**body {
                [Step::Lookup(predicate, args)] => Some(Operation::Member {
                    predicate: *predicate,
                    row: args.iter().map(source).collect::<Option<_>>()?,
                    wanted: false,
                }),
                // `X \= Y` over bound variables.
                [Step::Take(left, Match::Same(right))] => Some(Operation::Identical {
                    left: source(left)?,
                    right: Source::Column(right.index()),
                    wanted: false,
                }),
                [Step::Take(left, Match::Constant(right))] => Some(Operation::Identical {
                    left: source(left)?,
                    right: Source::Constant(*right),
                    wanted: false,
                }),
                [Step::Scan(scan)] => {
                    let ([column], [key]) = (&*scan.columns, &*scan.key) else {
                        return None;
                    };
                    let free = |(_, pattern): &(usize, Match)| matches!(pattern, Match::Bind(_));
                    scan.rest.iter().all(free).then_some(())?;
                    Some(Operation::NoMatch {
                        predicate: scan.predicate,
                        column: *column,
                        key: source(key)?,
                    })
                }
                _ => None,
            },
            _ => None,
        },
        Step::Take(left, Match::Same(right)) => Some(Operation::Identical {
            left: source(left)?,
            right: Source::Column(right.index()),
            wanted: true,
        }),
        Step::Take(left, Match::Constant(right)) => Some(Operation::Identical {
            left: source(left)?,
            right: Source::Constant(*right),
            wanted: true,
        }),
        _ => None,
    }
}

fn cells(scan: &Scan) -> Option<Vec<(usize, Cell)>> {
    let mut bound: Vec<(Variable, usize)> = Vec::new();
    let mut out = Vec::new();
    for (column, pattern) in &scan.rest {
        let cell = match pattern {
            Match::Constant(value) => Cell::Equal(Source::Constant(*value)),
            Match::Bind(variable) => {
                bound.push((*variable, *column));
                Cell::Keep(variable.index())
            }
            Match::Same(variable) => match bound.iter().find(|(other, _)| other == variable) {
                Some((_, first)) => Cell::Same(*first),
                None => Cell::Equal(Source::Column(variable.index())),
            },
            Match::Compound(..) => return None,
        };
        out.push((*column, cell));
    }
    Some(out)
}

fn need(source: Source, needed: &mut [bool]) {
    if let Source::Column(variable) = source
        && let Some(flag) = needed.get_mut(variable)
    {
        *flag = true;
    }
}

fn reads(operation: &Operation, needed: &mut [bool]) {
    let (cells, sources): (&[(usize, Cell)], Vec<Source>) = match operation {
        Operation::Scan { cells, .. } => (cells, Vec::new()),
        Operation::Probe { cells, key, .. } => (cells, vec![*key]),
        Operation::Member { row, .. } => (&[], row.clone()),
        Operation::NoMatch { key, .. } => (&[], vec![*key]),
        Operation::Identical { left, right, .. } => (&[], vec![*left, *right]),
    };
    for (_, cell) in cells {
        if let Cell::Equal(source) = cell {
            need(*source, needed);
        }
    }
    sources.into_iter().for_each(|source| need(source, needed));
}

/// Some bindings, column by column; columns that are not carried are empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub(crate) len: usize,
    pub(crate) columns: Vec<Vec<Value>>,
    /// Positions of bindings of the level before, while an operation is at work.
    pub(crate) picks: Vec<u32>,
}

impl Columns {
    pub(crate) fn new(variables: usize) -> Self {
        Self {
            len: 0,
            columns: vec![Vec::new(); variables],
            picks: Vec::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.columns.iter_mut().for_each(Vec::clear);
    }

    #[inline]
    pub(crate) fn get(&self, source: Source, at: usize) -> Value {
        match source {
            Source::Constant(value) => value,
            Source::Column(variable) => self
                .columns
                .get(variable)
                .and_then(|column| column.get(at))
                .copied()
                .unwrap_or(Value(0)),
        }
    }

    /// Appends the two columns of rows that lie flat.
    pub(crate) fn take_pairs(&mut self, pairs: &[Value], first: usize, second: usize) {
        for (variable, skip) in [(first, 0), (second, 1)] {
            if let Some(column) = self.columns.get_mut(variable) {
                column.extend(pairs.iter().skip(skip).step_by(2));
            }
        }
    }

    /// Appends the bindings of `from` that are picked, in the columns given, and forgets the picks.
    pub(crate) fn gather(&mut self, from: &Self, carried: &[usize]) {
        for variable in carried {
            if let (Some(source), Some(column)) =
                (from.columns.get(*variable), self.columns.get_mut(*variable))
            {
                let values = self.picks.iter().map(|at| source.get(*at as usize));
                column.extend(values.map(|value| value.copied().unwrap_or(Value(0))));
            }
        }
        self.len += self.picks.len();
        self.picks.clear();
    }

    /// Appends `count` copies of binding `at` of `from`, in the columns given.
    #[inline]
    pub(crate) fn repeat(&mut self, from: &Self, at: usize, carried: &[usize], count: usize) {
        for variable in carried {
            let value = from.get(Source::Column(*variable), at);
            if let Some(column) = self.columns.get_mut(*variable) {
                column.extend(std::iter::repeat_n(value, count));
            }
        }
        self.len += count;
    }
}
