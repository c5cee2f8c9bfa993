//! Evaluation: semi-naive, component by component, callees first.
//!
//! Rounds work on ranges of rows of one store (old, delta, new); nothing is copied between sets and no tuple is
//! derived from the same rows twice.

use super::batch::{self, Operation, Program};
use super::budget::{Budget, BudgetExceeded, Spent};
use super::csr::Csr;
use super::index::{Index, NO_ROW, is_proportionate};
use super::passenger::{self, Closure, Marks};
use super::plan::{Part, Plan, Step, plan};
use super::relation::{Relation, Rows};
use super::tuples::Goal;
use super::vector::Group;
use crate::analysis::rule::{Literal, LiteralKind, PredicateId, Rule};
use crate::program::Facts;
use crate::source::Span;
use crate::value::{Constants, Value};
use std::sync::Arc;

/// How many rows indexes may hold at no charge; beyond, so many rows are counted as one tuple.
const INDEXED: u64 = 1 << 20;
const INDEXED_AS_ONE: u64 = 4;

/// Why a component has no model.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// Arithmetic without a value, at the place.
    Evaluation(Span, String),
    Budget(BudgetExceeded),
}

/// A relation that is done, or one that is being derived.
#[derive(Clone, Debug)]
enum Store {
    Done(Arc<Relation>),
    Open(Box<Relation>),
}

impl Store {
    fn relation(&self) -> &Relation {
        match self {
            Self::Done(relation) => relation,
            Self::Open(relation) => relation,
        }
    }

    /// The relation that is done and serves others, too: the one it is a version of, or itself.
    fn shared(&self) -> Option<&Arc<Relation>> {
        match self {
            Self::Done(relation) => Some(relation.base()),
            Self::Open(relation) => relation.shared(),
        }
    }
}

/// A plan in the form in which it runs.
#[derive(Clone, Debug)]
enum Compiled {
    Batch(Program),
    Tuples(Plan),
}

/// A plan, and the sizes it was made for: it serves until one of them has doubled.
struct Planned {
    sizes: Vec<u32>,
    compiled: Compiled,
}

/// One predicate of a component.
pub(crate) struct Member<'f> {
    pub(crate) id: PredicateId,
    pub(crate) arity: usize,
    pub(crate) facts: &'f Facts,
}

/// An evaluation under way.
pub(crate) struct Evaluator<'b> {
    pub(crate) constants: Constants,
    stores: Vec<Store>,
    indexes: Vec<Vec<Index>>,
    /// The indexes that are kept with relations that are done.
    kept: Vec<Vec<Arc<Index>>>,
    /// Whether few tuples are looked up in large relations: see [`Evaluator::over_model`].
    looks_up: bool,
    /// The adjacencies of finished relations.
    csrs: Vec<Vec<Csr>>,
    /// For each predicate of the component at work the rows known before the last round, and at its end.
    ranges: Vec<(u32, u32)>,
    pub(super) frame: Vec<Value>,
    pub(super) row: Vec<Value>,
    /// The clause at work, for errors that have no narrower place.
    pub(super) span: Span,
    /// The predicate at work.
    pub(super) head: PredicateId,
    pub(super) budget: Budget,
    pub(crate) spent: Spent,
    /// How many rows are found by indexes that this evaluator has made.
    indexed: u64,
    /// What the results of the rule at work are grouped by.
    pub(super) group: Option<Group>,
    /// How many times a rule was run.
    pub(super) step: u32,
    /// The name of a predicate, for messages.
    name_of: &'b dyn Fn(PredicateId) -> String,
}

impl<'b> Evaluator<'b> {
    pub(crate) fn new(
        constants: Constants,
        relations: Vec<Arc<Relation>>,
        budget: &Budget,
        name_of: &'b dyn Fn(PredicateId) -> String,
    ) -> Self {
        Self {
            constants,
            indexes: vec![Vec::new(); relations.len()],
            csrs: vec![Vec::new(); relations.len()],
            ranges: vec![(0, 0); relations.len()],
            kept: vec![Vec::new(); relations.len()],
            looks_up: false,
            stores: relations.into_iter().map(Store::Done).collect(),
            frame: Vec::new(),
            row: Vec::new(),
            span: Span::default(),
            head: PredicateId(u32::MAX),
            budget: budget.clone(),
            spent: Spent::default(),
            indexed: 0,
            group: None,
            step: 0,
            name_of,
        }
    }

    /// An evaluator that looks few tuples up in large relations: it keeps the indexes that it makes with the relations,
    /// and reads nothing whole that it need not.
    pub(crate) fn over_model(
        constants: Constants,
        relations: Vec<Arc<Relation>>,
        budget: &Budget,
        name_of: &'b dyn Fn(PredicateId) -> String,
    ) -> Self {
        Self {
            looks_up: true,
            ..Self::new(constants, relations, budget, name_of)
        }
    }

    /// The relations derived so far.
    pub(crate) fn finish(self) -> (Constants, Vec<Arc<Relation>>) {
        let relations = self
            .stores
            .into_iter()
            .map(|store| match store {
                Store::Done(relation) => relation,
                Store::Open(relation) => Arc::new(*relation),
            })
            .collect();
        (self.constants, relations)
    }

    pub(super) fn relation(&self, id: PredicateId) -> Option<&Relation> {
        self.stores.get(id.index()).map(Store::relation)
    }

    /// Derives all tuples of the predicates of one component from their facts and rules.
    pub(crate) fn component(
        &mut self,
        members: &[Member<'_>],
        rules: &[&Rule],
    ) -> Result<(), Failure> {
        self.span = Span::default();
        for member in members {
            let facts = member.facts;
            let relation = Relation::of(member.arity, facts.count, &facts.values);
            let count = u64::from(relation.len());
            self.open(member.id, relation);
            self.count_tuples(count, member.id)?;
        }
        let ids: Vec<PredicateId> = members.iter().map(|member| member.id).collect();
        self.derive(&ids, rules)?;
        for id in ids {
            if let Some(relation) = self.close(id) {
                self.set(id, Arc::new(relation));
            }
        }
        Ok(())
    }

    /// The relation of a predicate, if it is done.
    pub(super) fn done(&self, id: PredicateId) -> Option<Arc<Relation>> {
        match self.stores.get(id.index())? {
            Store::Done(relation) => Some(Arc::clone(relation)),
            Store::Open(_) => None,
        }
    }

    /// Gives a predicate a relation that is done.
    pub(super) fn set(&mut self, id: PredicateId, relation: Arc<Relation>) {
        if let Some(store) = self.stores.get_mut(id.index()) {
            *store = Store::Done(relation);
        }
        self.forget_indexes(id);
    }

    fn forget_indexes(&mut self, id: PredicateId) {
        if let Some(indexes) = self.indexes.get_mut(id.index()) {
            indexes.clear();
        }
        if let Some(kept) = self.kept.get_mut(id.index()) {
            kept.clear();
        }
    }

    /// Runs a rule over all rows.
    pub(super) fn run_once(&mut self, rule: &Rule) -> Result<(), Failure> {
        self.span = rule.span;
        let compiled = self.plan(rule, None, &|_, _| Part::All)?;
        self.run(&compiled)
    }

    /// Forgets what was derived of a component that failed.
    pub(crate) fn discard(&mut self, component: &[PredicateId]) {
        for id in component {
            let arity = self.relation(*id).map_or(0, Relation::arity);
            if let Some(store) = self.stores.get_mut(id.index()) {
                *store = Store::Done(Arc::new(Relation::new(arity)));
            }
        }
    }

    /// Hands over a relation that is being derived.
    pub(super) fn close(&mut self, id: PredicateId) -> Option<Relation> {
        match self.stores.get_mut(id.index()) {
            Some(Store::Open(relation)) => Some(std::mem::take(&mut **relation)),
            _ => None,
        }
    }

    pub(super) fn open(&mut self, id: PredicateId, relation: Relation) {
        if let Some(store) = self.stores.get_mut(id.index()) {
            *store = Store::Open(Box::new(relation));
        }
        self.forget_indexes(id);
        self.set_range(id, (0, 0));
    }

    pub(super) fn set_range(&mut self, id: PredicateId, range: (u32, u32)) {
        if let Some(slot) = self.ranges.get_mut(id.index()) {
            *slot = range;
        }
    }

    fn len(&self, id: PredicateId) -> u32 {
        self.relation(id).map_or(0, Relation::len)
    }

    fn end(&self, id: PredicateId) -> u32 {
        self.relation(id).map_or(0, Relation::end)
    }

    fn derive(&mut self, ids: &[PredicateId], rules: &[&Rule]) -> Result<(), Failure> {
        if let ([id], [rule]) = (ids, rules)
            && self.len(*id) == 0
            && recursive_calls(ids, rule).is_empty()
        {
            return self.derive_alone(*id, rule);
        }
        for rule in rules {
            // A recursive rule derives nothing yet, but arithmetic before its recursive call may err.
            let errs = rule.body.iter().any(Literal::is_arithmetic);
            if !recursive_calls(ids, rule).is_empty() && !errs {
                continue;
            }
            self.run_once(rule)?;
        }
        if let [id] = ids
            && self.len(*id) > 0
            && !self.looks_up
        {
            let recursive: Vec<&Rule> = rules
                .iter()
                .copied()
                .filter(|rule| !recursive_calls(ids, rule).is_empty())
                .collect();
            if let Some(closure) = passenger::closure(*id, &recursive) {
                self.span = recursive.first().map_or(self.span, |rule| rule.span);
                return self.close_over(*id, &closure);
            }
        }
        self.rounds(ids, rules)
    }

    /// Derives a predicate that has one rule and nothing else. Where results come grouped, their groups are what keeps
    /// them apart.
    fn derive_alone(&mut self, id: PredicateId, rule: &Rule) -> Result<(), Failure> {
        self.span = rule.span;
        let compiled = self.plan(rule, None, &|_, _| Part::All)?;
        if let Compiled::Batch(program) = &compiled
            && let Some(leader) = program.leader()
            && self
                .relation(leader.predicate)
                .is_some_and(|relation| relation.is_grouped_by(leader.column))
        {
            self.open(id, Relation::grouped_by(leader.head));
            self.group = Some(Group::by(leader.head));
        }
        let done = self.run(&compiled);
        self.group = None;
        done
    }

    /// Derives what follows, by rules that call the predicates of the component, from the rows that these have beyond
    /// their ranges.
    pub(super) fn rounds(&mut self, ids: &[PredicateId], rules: &[&Rule]) -> Result<(), Failure> {
        let variants: Vec<(&Rule, usize)> = rules
            .iter()
            .flat_map(|rule| {
                recursive_calls(ids, rule)
                    .into_iter()
                    .map(|delta| (*rule, delta))
            })
            .collect();
        let mut plans: Vec<Option<Planned>> = variants.iter().map(|_| None).collect();
        loop {
            let mut grown = false;
            for id in ids {
                let (_, known) = self.ranges.get(id.index()).copied().unwrap_or_default();
                let len = self.end(*id);
                grown |= len > known;
                self.set_range(*id, (known, len));
            }
            if !grown {
                return Ok(());
            }
            for ((rule, delta), planned) in variants.iter().zip(&mut plans) {
                let empty = match rule.body.get(*delta).map(|literal| &literal.kind) {
                    Some(LiteralKind::Call(callee, _)) => {
                        self.rows(*callee, Part::Delta).is_empty()
                    }
                    _ => true,
                };
                if empty {
                    continue;
                }
                self.span = rule.span;
                let sizes = self.sizes(rule);
                let planned = match planned {
                    Some(known) if known.sizes == sizes => {
                        self.bring_up_to_date(&known.compiled)?;
                        known
                    }
                    _ => {
                        let compiled = self.plan(rule, Some(*delta), &|at, callee| {
                            if !ids.contains(&callee) || at < *delta {
                                Part::All
                            } else if at == *delta {
                                Part::Delta
                            } else {
                                Part::Old
                            }
                        })?;
                        planned.insert(Planned { sizes, compiled })
                    }
                };
                self.run(&planned.compiled)?;
            }
        }
    }

    /// Derives a component whose recursion carries one column along, value by value of that column.
    fn close_over(&mut self, id: PredicateId, closure: &Closure) -> Result<(), Failure> {
        let Some(Store::Open(base)) = self.stores.get_mut(id.index()) else {
            return Ok(());
        };
        let base = std::mem::take(&mut **base);
        // The tuples without recursion were counted when they were derived; they are counted again below.
        self.spent.tuples -= u64::from(base.len());
        let starts = Csr::new(&base, closure.passenger);
        let edges: Vec<Csr> = closure
            .edges
            .iter()
            .filter_map(|edge| match edge.predicate {
                None => Some(Csr::new(&base, edge.from)),
                Some(other) => self.relation(other).map(|other| Csr::new(other, edge.from)),
            })
            .collect();
        // Where the predicate's own tuples are the edges, these stand first: they are premises of all others.
        let own = closure.edges.iter().any(|edge| edge.predicate.is_none());
        let mut relation = match own {
            true => Relation::distinct(base.pairs(0..base.len())),
            false => Relation::grouped_by(closure.passenger),
        };
        self.count_tuples(u64::from(relation.len()), id)?;
        relation.begin_step(self.next_step());
        let (mut served, mut reached) = (Marks::default(), Marks::default());
        served.clear();
        let mut queue: Vec<Value> = Vec::new();
        for at in 0..base.len() {
            let Some(rider) = base.cell(at, closure.passenger) else {
                continue;
            };
            if !served.mark(rider) {
                continue;
            }
            reached.clear();
            queue.clear();
            queue.extend(
                starts
                    .of(rider)
                    .iter()
                    .filter(|value| reached.mark(**value)),
            );
            let known = if own { queue.len() } else { 0 };
            let mut next = 0;
            let mut firings = 0;
            while let Some(value) = queue.get(next).copied() {
                next += 1;
                for edge in &edges {
                    let items = edge.of(value);
                    firings += items.len() as u64;
                    queue.extend(items.iter().filter(|value| reached.mark(**value)));
                }
            }
            let new = queue.get(known..).unwrap_or_default();
            relation.push_group(rider, new, closure.passenger);
            self.count_firings(firings, id)?;
            self.count_tuples(new.len() as u64, id)?;
        }
        if let Some(store) = self.stores.get_mut(id.index()) {
            *store = Store::Open(Box::new(relation));
        }
        Ok(())
    }

    /// The sizes of the relations that a rule calls, as powers of two.
    fn sizes(&self, rule: &Rule) -> Vec<u32> {
        rule.body
            .iter()
            .filter_map(|literal| match &literal.kind {
                LiteralKind::Call(callee, _) => {
                    Some(self.len(*callee).checked_ilog2().unwrap_or(0))
                }
                _ => None,
            })
            .collect()
    }

    fn plan(
        &mut self,
        rule: &Rule,
        delta: Option<usize>,
        part_of: &dyn Fn(usize, PredicateId) -> Part,
    ) -> Result<Compiled, Failure> {
        let stores = &self.stores;
        let rows = |id: PredicateId| {
            stores
                .get(id.index())
                .map_or(0, |store| store.relation().len())
        };
        let matches = |id: PredicateId, column: usize| {
            let shared = stores.get(id.index()).and_then(Store::shared);
            shared
                .filter(|_| self.looks_up)
                .map(|shared| shared.index(&[column]).matches())
        };
        let mut plan = plan(rule, delta, part_of, &rows, &matches);
        let compiled = match batch::compile(&plan) {
            Some(program) if !self.is_looked_up(rule) => Compiled::Batch(program),
            _ => {
                plan.stop_at_first();
                Compiled::Tuples(plan)
            }
        };
        self.bring_up_to_date(&compiled)?;
        Ok(compiled)
    }

    /// Whether a rule's calls are looked up one by one: that is what versions of relations and kept indexes are for.
    fn is_looked_up(&self, rule: &Rule) -> bool {
        let mut versions = self.looks_up;
        for literal in &rule.body {
            literal.each_call(&mut |callee, _, _| {
                versions |= self.relation(callee).is_some_and(Relation::is_version);
            });
        }
        versions
    }

    /// Builds the indexes that a plan looks up, and takes in the rows that are new to them.
    fn bring_up_to_date(&mut self, compiled: &Compiled) -> Result<(), Failure> {
        if self.indexed > INDEXED + self.budget.tuple_limit() {
            // Other plans make theirs anew.
            self.indexes.iter_mut().for_each(Vec::clear);
            self.csrs.iter_mut().for_each(Vec::clear);
            self.indexed = 0;
        }
        match compiled {
            Compiled::Tuples(plan) => self.index_for(&plan.steps),
            Compiled::Batch(program) => {
                for operation in &program.operations {
                    if let Operation::Probe {
                        predicate, column, ..
                    }
                    | Operation::NoMatch {
                        predicate, column, ..
                    } = operation
                    {
                        self.adjacency(*predicate, *column)?;
                    }
                    // Members are found by adjacency, too, where a value has few rows.
                    if let Operation::Member { predicate, row, .. } = operation
                        && row.len() == 2
                        && matches!(self.stores.get(predicate.index()), Some(Store::Done(_)))
                        && self.fits_csr(*predicate)
                    {
                        self.adjacency(*predicate, 0)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Counts rows that were put into an index: to make one is to look at them, and many take as much as tuples.
    fn count_indexed(&mut self, rows: u64, id: PredicateId) -> Result<(), Failure> {
        self.indexed = self.indexed.saturating_add(rows);
        self.count_firings(rows, id)?;
        let limit = self.budget.tuple_limit();
        let reached = self.spent.tuples + self.indexed.saturating_sub(INDEXED) / INDEXED_AS_ONE;
        if reached > limit {
            return Err(self.exceeded("tuples", limit, reached, id));
        }
        Ok(())
    }

    /// Makes rows findable by one column: side by side when the relation is finished, chained otherwise.
    fn adjacency(&mut self, predicate: PredicateId, column: usize) -> Result<(), Failure> {
        if self.csr(predicate, column).is_some() {
            return Ok(());
        }
        if self.fits_csr(predicate)
            && let (Some(Store::Done(relation)), Some(csrs)) = (
                self.stores.get(predicate.index()),
                self.csrs.get_mut(predicate.index()),
            )
        {
            csrs.push(Csr::new(relation, column));
            self.count_indexed(u64::from(self.len(predicate)), predicate)
        } else {
            self.chain(predicate, &[column])
        }
    }

    /// Whether an array over all constants is in proportion to the relation.
    fn fits_csr(&self, predicate: PredicateId) -> bool {
        is_proportionate(self.constants.len(), self.len(predicate))
    }

    pub(super) fn csr(&self, predicate: PredicateId, column: usize) -> Option<&Csr> {
        self.csrs
            .get(predicate.index())?
            .iter()
            .find(|csr| csr.column == column)
    }

    fn chain(&mut self, predicate: PredicateId, columns: &[usize]) -> Result<(), Failure> {
        let (Some(store), Some(indexes)) = (
            self.stores.get(predicate.index()),
            self.indexes.get_mut(predicate.index()),
        ) else {
            return Ok(());
        };
        let relation = store.relation();
        if (self.looks_up || relation.is_version())
            && let (Some(shared), Some(kept)) =
                (store.shared(), self.kept.get_mut(predicate.index()))
        {
            if !kept.iter().any(|index| index.columns() == columns) {
                kept.push(shared.index(columns));
            }
            if !relation.is_version() {
                return Ok(());
            }
        }
        let at = match indexes.iter().position(|index| index.columns() == columns) {
            Some(at) => at,
            None => {
                indexes.push(Index::new(relation, columns));
                indexes.len() - 1
            }
        };
        let rows = indexes.get_mut(at).map_or(0, |index| {
            let known = index.end();
            index.extend(relation);
            index.end().saturating_sub(known)
        });
        self.count_indexed(u64::from(rows), predicate)
    }

    fn index_for(&mut self, steps: &[Step]) -> Result<(), Failure> {
        for step in steps {
            match step {
                Step::Scan(scan) if !scan.columns.is_empty() => {
                    self.chain(scan.predicate, &scan.columns)?;
                }
                Step::Not(bodies) => {
                    for body in bodies {
                        self.index_for(body)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn next_step(&mut self) -> u32 {
        self.step = self.step.saturating_add(1);
        self.step
    }

    fn run(&mut self, compiled: &Compiled) -> Result<(), Failure> {
        let step = self.next_step();
        let head = match compiled {
            Compiled::Batch(program) => program.head,
            Compiled::Tuples(plan) => plan.head,
        };
        if let Some(relation) = self.open_relation(head) {
            relation.begin_step(step);
        }
        match compiled {
            Compiled::Batch(program) => self.run_program(program),
            Compiled::Tuples(plan) => {
                self.span = plan.span;
                self.head = plan.head;
                self.frame.clear();
                self.frame.resize(plan.variables, Value(0));
                self.steps(&plan.steps, Goal::Derive(plan)).map(drop)
            }
        }
    }

    pub(super) fn open_relation(&mut self, id: PredicateId) -> Option<&mut Relation> {
        match self.stores.get_mut(id.index()) {
            Some(Store::Open(relation)) => Some(relation),
            _ => None,
        }
    }

    pub(super) fn count_tuples(&mut self, count: u64, id: PredicateId) -> Result<(), Failure> {
        let arity = self.relation(id).map_or(0, Relation::arity);
        self.spent.add_tuples(count, arity);
        self.check_tuples(id)
    }

    /// Counts the constants that were made since there were `before`.
    pub(super) fn count_constants(&mut self, before: u32) -> Result<(), Failure> {
        if self.constants.len() == before {
            return Ok(());
        }
        for made in before..self.constants.len() {
            self.spent.add_constant(self.constants.bytes(Value(made)));
        }
        self.check_tuples(self.head)
    }

    fn check_tuples(&self, id: PredicateId) -> Result<(), Failure> {
        let limit = self.budget.tuple_limit();
        if self.spent.tuples > limit {
            return Err(self.exceeded("tuples", limit, self.spent.tuples, id));
        }
        Ok(())
    }

    pub(super) fn count_firings(&mut self, count: u64, id: PredicateId) -> Result<(), Failure> {
        self.spent.add_firings(count);
        let limit = self.budget.firings;
        if self.spent.firings > limit {
            return Err(self.exceeded("firings", limit, self.spent.firings, id));
        }
        Ok(())
    }

    fn exceeded(&self, what: &'static str, limit: u64, reached: u64, id: PredicateId) -> Failure {
        Failure::Budget(BudgetExceeded {
            what,
            limit,
            reached,
            predicate: (self.name_of)(id),
            span: self.span,
        })
    }

    /// The rows that a part of a relation has.
    pub(super) fn rows(&self, predicate: PredicateId, part: Part) -> Rows {
        let (old, known) = self
            .ranges
            .get(predicate.index())
            .copied()
            .unwrap_or_default();
        match part {
            Part::Old => 0..old,
            Part::Delta => old..known,
            Part::All => match self.stores.get(predicate.index()) {
                Some(Store::Done(relation)) => 0..relation.end(),
                Some(Store::Open(_)) => 0..known,
                None => 0..0,
            },
        }
    }

    /// The newest row with the values in the columns, or [`NO_ROW`].
    pub(super) fn newest(&self, predicate: PredicateId, columns: &[usize], key: &[Value]) -> u32 {
        let Some(relation) = self.relation(predicate) else {
            return NO_ROW;
        };
        let own = self.own_index(predicate, columns);
        match own.map_or(NO_ROW, |index| index.newest(relation, key)) {
            NO_ROW => self.newest_shared(predicate, columns, key),
            at => at,
        }
    }

    /// The next older row with the same values; some may be gone.
    pub(super) fn older(
        &self,
        predicate: PredicateId,
        columns: &[usize],
        key: &[Value],
        at: u32,
    ) -> u32 {
        match self.own_index(predicate, columns) {
            Some(index) if at >= index.from() => match index.older(at) {
                NO_ROW => self.newest_shared(predicate, columns, key),
                at => at,
            },
            _ => self
                .kept_index(predicate, columns)
                .map_or(NO_ROW, |index| index.older(at)),
        }
    }

    fn newest_shared(&self, predicate: PredicateId, columns: &[usize], key: &[Value]) -> u32 {
        match (
            self.kept_index(predicate, columns),
            self.stores.get(predicate.index()).and_then(Store::shared),
        ) {
            (Some(index), Some(relation)) => index.newest(relation, key),
            _ => NO_ROW,
        }
    }

    fn own_index(&self, predicate: PredicateId, columns: &[usize]) -> Option<&Index> {
        self.indexes
            .get(predicate.index())?
            .iter()
            .find(|index| index.columns() == columns)
    }

    fn kept_index(&self, predicate: PredicateId, columns: &[usize]) -> Option<&Index> {
        self.kept
            .get(predicate.index())?
            .iter()
            .find(|index| index.columns() == columns)
            .map(|index| &**index)
    }
}

/// The literals of a rule that call the predicates.
fn recursive_calls(ids: &[PredicateId], rule: &Rule) -> Vec<usize> {
    (0..)
        .zip(&rule.body)
        .filter(|(_, literal)| {
            matches!(&literal.kind, LiteralKind::Call(callee, _) if ids.contains(callee))
        })
        .map(|(at, _)| at)
        .collect()
}
