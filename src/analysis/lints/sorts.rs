//! Which columns speak of the same things: those that rules join.
//!
//! Nothing here is a type: a constant may have several sorts, and nothing is refused for its sort.

use super::Subject;
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule, Variable};
use crate::value::Value;

/// The columns of all predicates in classes, and what is known of each constant.
pub(super) struct Sorts {
    /// Where the columns of each predicate begin.
    first: Vec<u32>,
    parents: Vec<u32>,
    /// For each constant how often it occurs, and two of the sorts that it has.
    uses: Vec<Use>,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    count: u32,
    sorts: [u32; 2],
}

/// No sort.
const NONE: u32 = u32::MAX;

impl Sorts {
    pub(super) fn new(subject: &Subject<'_>) -> Self {
        let mut first = Vec::with_capacity(subject.predicates.len());
        let mut columns: u32 = 0;
        for (_, known) in subject.predicates.iter() {
            first.push(columns);
            columns = columns.saturating_add(u32::try_from(known.key.arity()).unwrap_or(u32::MAX));
        }
        let unused = Use {
            count: 0,
            sorts: [NONE; 2],
        };
        let mut sorts = Self {
            first,
            parents: (0..columns).collect(),
            uses: vec![unused; subject.constants.len() as usize],
        };
        for rule in subject.rules {
            sorts.join(rule);
        }
        for ((id, known), facts) in subject.predicates.iter().zip(subject.facts) {
            let arity = known.key.arity();
            let roots: Vec<u32> = (0..arity).map(|at| sorts.column(id, at)).collect();
            for row in facts.rows(arity) {
                for (value, sort) in row.iter().zip(&roots) {
                    sorts.note(*value, *sort);
                }
            }
        }
        for rule in subject.rules {
            sorts.constants_of(rule);
        }
        sorts
    }

    /// How often the constant occurs as an argument.
    pub(super) fn count(&self, value: Value) -> u32 {
        self.uses
            .get(value.0 as usize)
            .map_or(0, |known| known.count)
    }

    /// Whether the two constants are known to speak of the same things.
    pub(super) fn share(&self, a: Value, b: Value) -> bool {
        let of = |value: Value| self.uses.get(value.0 as usize).map(|known| known.sorts);
        let (Some(a), Some(b)) = (of(a), of(b)) else {
            return false;
        };
        a.iter().any(|sort| *sort != NONE && b.contains(sort))
    }

    /// The sort of a column.
    pub(super) fn of(&self, (id, at): (PredicateId, usize)) -> u32 {
        let mut column = self.number(id, at);
        while let Some(parent) = self.parents.get(column as usize).copied() {
            if parent == column {
                break;
            }
            column = parent;
        }
        column
    }

    fn number(&self, id: PredicateId, at: usize) -> u32 {
        let first = self.first.get(id.index()).copied().unwrap_or(NONE);
        first.saturating_add(u32::try_from(at).unwrap_or(NONE))
    }

    fn column(&mut self, id: PredicateId, at: usize) -> u32 {
        let column = self.number(id, at);
        self.root(column)
    }

    fn root(&mut self, mut column: u32) -> u32 {
        while let Some(parent) = self.parents.get(column as usize).copied() {
            if parent == column {
                break;
            }
            let above = self.parents.get(parent as usize).copied().unwrap_or(parent);
            if let Some(slot) = self.parents.get_mut(column as usize) {
                *slot = above;
            }
            column = above;
        }
        column
    }

    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.parents.get_mut(a.max(b) as usize) {
            *slot = a.min(b);
        }
    }

    /// Unites the columns that share a variable.
    fn join(&mut self, rule: &Rule) {
        let mut columns: Vec<Option<u32>> = vec![None; rule.variables.len()];
        let mut places: Vec<(Variable, u32)> = Vec::new();
        for (at, arg) in rule.args.iter().enumerate() {
            if let Pattern::Variable(variable) = arg {
                places.push((*variable, self.column(rule.head, at)));
            }
        }
        let mut equal = Vec::new();
        each_literal(&rule.body, &mut |literal| match &literal.kind {
            LiteralKind::Call(callee, args) => {
                for (at, arg) in args.iter().enumerate() {
                    if let Pattern::Variable(variable) = arg {
                        places.push((*variable, self.column(*callee, at)));
                    }
                }
            }
            LiteralKind::Unify(a, Pattern::Variable(b)) => equal.push((*a, *b)),
            _ => {}
        });
        for (variable, column) in places {
            if let Some(slot) = columns.get_mut(variable.index()) {
                let known = *slot.get_or_insert(column);
                self.unite(known, column);
            }
        }
        let of = |variable: Variable| columns.get(variable.index()).copied().flatten();
        for (a, b) in equal {
            if let (Some(a), Some(b)) = (of(a), of(b)) {
                self.unite(a, b);
            }
        }
    }

    fn constants_of(&mut self, rule: &Rule) {
        for (at, arg) in rule.args.iter().enumerate() {
            if let Pattern::Constant(value) = arg {
                let sort = self.column(rule.head, at);
                self.note(*value, sort);
            }
        }
        each_literal(&rule.body, &mut |literal| {
            if let LiteralKind::Call(callee, args) = &literal.kind {
                for (at, arg) in args.iter().enumerate() {
                    if let Pattern::Constant(value) = arg {
                        let sort = self.column(*callee, at);
                        self.note(*value, sort);
                    }
                }
            }
        });
    }

    fn note(&mut self, value: Value, sort: u32) {
        let Some(known) = self.uses.get_mut(value.0 as usize) else {
            return;
        };
        known.count = known.count.saturating_add(1);
        if let Some(slot) = known
            .sorts
            .iter_mut()
            .find(|known| **known == NONE || **known == sort)
        {
            *slot = sort;
        }
    }
}

/// Every literal, those inside negations included.
fn each_literal<'r>(body: &'r [Literal], visit: &mut impl FnMut(&'r Literal)) {
    for literal in body {
        visit(literal);
        if let LiteralKind::Not(bodies, _) = &literal.kind {
            for body in bodies {
                each_literal(body, visit);
            }
        }
    }
}
