//! What would have to be otherwise: the facts that are missing for a goal, and the tuples that stand against it.
//!
//! A search from the goal downwards, bounded by counts, in which a fact may be supposed or an absence overlooked.
//! Nothing here is an answer: whoever uses what it proposes has to decide again.

use super::agenda::{Agenda, Called, Part, Path, Task, body, then};
use super::logic::{Mark, Store, Term};
use super::solve::{Scope, Search};
use super::written::Binding;
use crate::analysis::Data;
use crate::analysis::rule::{BinaryOperator, Expression, LiteralKind, Pattern, PredicateId, Rule};
use crate::number::Integer;
use crate::value::Value;
use std::ops::ControlFlow;
use std::rc::Rc;

/// How many proposals of one search are kept.
const MAX_FOUND: usize = 40;
/// How many tuples one call is tried with.
const MAX_ROWS: usize = 1_000;
/// How many values a variable is tried with that only a test speaks of.
const MAX_VALUES: usize = 16;
/// How deep rules may call each other.
const MAX_DEPTH: usize = 12;
/// How often a predicate may be called below itself.
const MAX_RECURSION: usize = 3;
/// How many choices may lie behind each other.
const MAX_CHOICES: usize = 200;
/// How many rows one negation may look at.
pub(super) const FUEL: u64 = 10_000;

/// How much a search may suppose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// How many facts.
    pub(super) facts: usize,
    /// How many absences it may overlook.
    pub(super) defeats: usize,
}

/// A fact that is supposed; what is no value may be any.
pub(super) type Supposed = (PredicateId, Vec<Term>);
/// A tuple of the model.
pub(super) type Tuple = (PredicateId, Vec<Value>);

/// Under which suppositions a goal would hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Proposal {
    pub(super) facts: Vec<Supposed>,
    /// The tuples that stand against it.
    pub(super) defeats: Vec<Tuple>,
}

/// One search.
pub(super) struct Abduction<'s, 'm> {
    pub(super) search: &'s mut Search<'m>,
    pub(super) store: Store,
    pub(super) limits: Limits,
    steps: &'s mut u64,
    choices: usize,
    /// How often something supposed was used.
    pub(super) uses: usize,
    pub(super) facts: Vec<Supposed>,
    pub(super) defeats: Vec<Vec<Tuple>>,
    found: Vec<Proposal>,
    /// The constants that stand for any value.
    unused: Vec<Value>,
}

impl<'s, 'm> Abduction<'s, 'm> {
    /// A search that takes at most so many steps, and says how many are left.
    pub(super) fn new(search: &'s mut Search<'m>, limits: Limits, steps: &'s mut u64) -> Self {
        Self {
            search,
            store: Store::default(),
            limits,
            steps,
            choices: 0,
            uses: 0,
            facts: Vec::new(),
            defeats: Vec::new(),
            found: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// The proposals under which the body of one of the rules holds.
    pub(super) fn bodies(mut self, rules: &[Rule]) -> Vec<Proposal> {
        for rule in rules {
            let mark = self.store.mark();
            let base = self.store.open(rule.variables.len());
            if self
                .go(body(rule, &rule.body, base, &None, None), None)
                .is_break()
            {
                break;
            }
            self.store.undo(mark);
        }
        self.found
    }

    /// The proposals under which there is a tuple with the known values.
    pub(super) fn tuple(
        mut self,
        predicate: PredicateId,
        known: &[Option<Value>],
    ) -> Vec<Proposal> {
        let base = self.store.open(known.len());
        let args = known.iter().zip(base..);
        let args: Vec<Term> = args
            .map(|(value, open)| value.map_or(Term::Variable(open), Term::Value))
            .collect();
        let _ = self.call(predicate, &args, &None, &None, &None);
        self.found
    }

    fn data(&self) -> &'m Data {
        &self.search.model.rulebase().data
    }

    /// Shows what is to be shown, and tries again later what lacks values. Breaks when the search is over.
    pub(super) fn go<'r>(
        &mut self,
        mut agenda: Agenda<'r>,
        mut delayed: Agenda<'r>,
    ) -> ControlFlow<()>
    where
        'm: 'r,
    {
        loop {
            self.step()?;
            let Some(cell) = agenda.take() else {
                return self.late(&delayed);
            };
            agenda = cell.next.clone();
            let part = match &cell.task {
                // What is delayed may still come to use something.
                Task::Used(before) if self.uses > *before || delayed.is_some() => continue,
                Task::Used(_) => return ControlFlow::Continue(()),
                Task::Literal(part) => part,
            };
            match self.literal(part) {
                Some(true) => {}
                Some(false) => return self.otherwise(part, &agenda, &delayed),
                None => match &part.literal.kind {
                    LiteralKind::Call(callee, args) => {
                        let args = args.iter().map(|arg| self.store.pattern(arg, part.base));
                        let args: Vec<Term> = args.collect();
                        return self.call(*callee, &args, &part.path, &agenda, &delayed);
                    }
                    LiteralKind::Member(item, list, _) => {
                        let list = self.store.pattern(list, part.base);
                        match self.store.value(&list, &mut self.search.constants) {
                            Some(list) => {
                                let item = self.store.pattern(item, part.base);
                                return self.member(&item, list, &agenda, &delayed);
                            }
                            None => delayed = then(cell.task.clone(), delayed),
                        }
                    }
                    _ => delayed = then(cell.task.clone(), delayed),
                },
            }
        }
    }

    fn step(&mut self) -> ControlFlow<()> {
        match self.steps.checked_sub(1) {
            Some(rest) if self.found.len() < MAX_FOUND => {
                *self.steps = rest;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        }
    }

    /// The values of the rule's variables, as far as they are known.
    pub(super) fn binding(&mut self, part: &Part<'_>) -> Binding {
        let variables = part.base..part.base + part.rule.variables.len();
        variables
            .map(|variable| {
                let term = Term::Variable(variable);
                self.store.value(&term, &mut self.search.constants)
            })
            .collect()
    }

    /// Whether a literal that gives no choice holds; `None` if it lacks values, or gives one.
    fn literal(&mut self, part: &Part<'_>) -> Option<bool> {
        match &part.literal.kind {
            LiteralKind::Call(..) => return None,
            LiteralKind::Unify(variable, pattern) => {
                let left = self.store.pattern(&Pattern::Variable(*variable), part.base);
                let right = self.store.pattern(pattern, part.base);
                return Some(self.store.unify(&self.search.constants, &left, &right));
            }
            _ => {}
        }
        let before = self.binding(part);
        let mut after = before.clone();
        let scope = Scope::new(part.rule, None);
        if let LiteralKind::Not(..) = part.literal.kind {
            self.search.fuel = Some(FUEL);
            self.search.extra = self.ground_facts();
        }
        let holds = self.search.test(&scope, part.literal, &mut after);
        self.search.fuel = None;
        self.search.extra.clear();
        let values = before.iter().zip(after).zip(part.base..);
        for ((before, after), variable) in values {
            if let (None, Some(value)) = (before, after) {
                let constants = &self.search.constants;
                let (variable, value) = (Term::Variable(variable), Term::Value(value));
                self.store.unify(constants, &variable, &value);
            }
        }
        holds
    }

    /// The supposed facts that have all their values.
    pub(super) fn ground_facts(&mut self) -> Vec<Tuple> {
        let (store, constants) = (&self.store, &mut self.search.constants);
        self.facts
            .iter()
            .filter_map(|(predicate, args)| {
                let row = args.iter().map(|arg| store.value(arg, constants));
                Some((*predicate, row.collect::<Option<Vec<Value>>>()?))
            })
            .collect()
    }

    /// One choice: what it binds is forgotten behind it.
    pub(super) fn choice(
        &mut self,
        try_it: impl FnOnce(&mut Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.choices >= MAX_CHOICES {
            return ControlFlow::Continue(());
        }
        self.step()?;
        let mark: Mark = self.store.mark();
        self.choices += 1;
        let flow = try_it(self);
        self.choices -= 1;
        self.store.undo(mark);
        flow
    }

    fn member<'r>(
        &mut self,
        item: &Term,
        list: Value,
        agenda: &Agenda<'r>,
        delayed: &Agenda<'r>,
    ) -> ControlFlow<()>
    where
        'm: 'r,
    {
        let items: Vec<Value> = self.search.constants.members(list).take(MAX_ROWS).collect();
        for value in items {
            self.choice(|this| {
                match this
                    .store
                    .unify(&this.search.constants, item, &Term::Value(value))
                {
                    true => this.go(agenda.clone(), delayed.clone()),
                    false => ControlFlow::Continue(()),
                }
            })?;
        }
        ControlFlow::Continue(())
    }

    /// A call: by what is supposed already, by the model, by one supposition more, by a rule.
    fn call<'r>(
        &mut self,
        predicate: PredicateId,
        args: &[Term],
        path: &Path,
        agenda: &Agenda<'r>,
        delayed: &Agenda<'r>,
    ) -> ControlFlow<()>
    where
        'm: 'r,
    {
        for at in 0..self.facts.len() {
            let Some((other, known)) = self.facts.get(at).cloned() else {
                break;
            };
            if other != predicate {
                continue;
            }
            self.choice(|this| {
                if !this.store.unify_all(&this.search.constants, &known, args) {
                    return ControlFlow::Continue(());
                }
                this.uses += 1;
                let flow = this.go(agenda.clone(), delayed.clone());
                this.uses -= 1;
                flow
            })?;
        }
        let (known, rows) = self.rows(predicate, args);
        for row in &rows {
            self.choice(|this| {
                let row: Vec<Term> = row.iter().copied().map(Term::Value).collect();
                match this.store.unify_all(&this.search.constants, args, &row) {
                    true => this.go(agenda.clone(), delayed.clone()),
                    false => ControlFlow::Continue(()),
                }
            })?;
        }
        if known && !rows.is_empty() {
            return ControlFlow::Continue(());
        }
        if self.facts.len() < self.limits.facts && self.may_be_stated(predicate) {
            self.choice(|this| {
                this.facts.push((predicate, args.to_vec()));
                this.uses += 1;
                let flow = this.go(agenda.clone(), delayed.clone());
                this.uses -= 1;
                this.facts.pop();
                flow
            })?;
        }
        self.rules(predicate, args, path, agenda, delayed)
    }

    /// The tuples of the model that a call may be, and whether there can be one only.
    fn rows(&mut self, predicate: PredicateId, args: &[Term]) -> (bool, Vec<Vec<Value>>) {
        let (store, constants) = (&self.store, &mut self.search.constants);
        let known = args.iter().map(|arg| store.value(arg, constants));
        let known: Vec<Option<Value>> = known.collect();
        let mut rows = Vec::new();
        let _ = self
            .search
            .model
            .matching(predicate, &known, &mut |_, row| {
                rows.push(row.to_vec());
                match rows.len() < MAX_ROWS {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
        // The oldest first: what was derived in few steps says more about the goal than what holds for many.
        rows.reverse();
        (known.iter().all(Option::is_some), rows)
    }

    /// Whether a fact of the predicate may be supposed: there are some, or it is declared that there may be.
    fn may_be_stated(&self, predicate: PredicateId) -> bool {
        let known = self.data().predicates.get(predicate);
        known.is_some_and(|known| known.dynamic)
            || self.search.model.data.facts(predicate).len() > 0
    }

    fn rules<'r>(
        &mut self,
        predicate: PredicateId,
        args: &[Term],
        path: &Path,
        agenda: &Agenda<'r>,
        delayed: &Agenda<'r>,
    ) -> ControlFlow<()>
    where
        'm: 'r,
    {
        // With nothing supposed and nothing to suppose the model knows better.
        let open = self.facts.len() < self.limits.facts || self.defeats.len() < self.limits.defeats;
        let depth = path.as_ref().map_or(0, |called| called.depth) + 1;
        let above = std::iter::successors(path.as_ref(), |called| called.above.as_ref());
        let recursion = above.filter(|called| called.predicate == predicate).count();
        if (!open && self.uses == 0) || depth > MAX_DEPTH || recursion >= MAX_RECURSION {
            return ControlFlow::Continue(());
        }
        let path = Some(Rc::new(Called {
            predicate,
            depth,
            above: path.clone(),
        }));
        let data = self.data();
        for at in data.rules_of.get(predicate.index()).into_iter().flatten() {
            let Some(rule) = data.rules.get(*at) else {
                continue;
            };
            self.choice(|this| {
                let base = this.store.open(rule.variables.len());
                let heads = rule.args.iter().map(|arg| this.store.pattern(arg, base));
                let heads: Vec<Term> = heads.collect();
                if !this.store.unify_all(&this.search.constants, &heads, args) {
                    return ControlFlow::Continue(());
                }
                let next = then(Task::Used(this.uses), agenda.clone());
                let agenda = body(rule, &rule.body, base, &path, next);
                this.go(agenda, delayed.clone())
            })?;
        }
        ControlFlow::Continue(())
    }

    /// All calls are answered. What is left lacks values: some of the values that there are, or one that there is not.
    fn late<'r>(&mut self, delayed: &Agenda<'r>) -> ControlFlow<()>
    where
        'm: 'r,
    {
        let cells = std::iter::successors(delayed.as_ref(), |cell| cell.next.as_ref());
        let tasks: Vec<Task<'r>> = cells.map(|cell| cell.task.clone()).collect();
        let Some((Task::Literal(part), others)) = tasks.split_first() else {
            self.propose();
            return ControlFlow::Continue(());
        };
        let rest = || {
            others
                .iter()
                .rev()
                .cloned()
                .fold(None, |next, task| then(task, next))
        };
        let mut open = None;
        part.literal.each_variable(&mut |variable| {
            let variable = Term::Variable(part.base + variable.index());
            open = open.or_else(|| self.store.open_in(&variable));
        });
        let first = then(Task::Literal(part.clone()), None);
        let Some(open) = open else {
            // It has all its values by now.
            return self.go(first, rest());
        };
        let before = self.found.len();
        // What is compared with comes into question when no value that occurs will do.
        for occurring in [true, false] {
            let values = match occurring {
                true => self.values(open),
                false if self.found.len() == before => self.compared(part),
                false => break,
            };
            for value in values {
                self.choice(|this| {
                    let constants = &this.search.constants;
                    this.store
                        .unify(constants, &Term::Variable(open), &Term::Value(value));
                    this.go(first.clone(), rest())
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// What a comparison compares with, and the numbers beside it: the values next to where its outcome changes.
    fn compared(&mut self, part: &Part<'_>) -> Vec<Value> {
        let LiteralKind::Compare(_, left, right) = &part.literal.kind else {
            return Vec::new();
        };
        let binding = self.binding(part);
        let one = self.search.constants.integer(Integer::from(1));
        let mut values = Vec::new();
        for (open, known) in [(left, right), (right, left)] {
            if !matches!(open, Expression::Variable(_)) {
                continue;
            }
            let beside = |operator| {
                let sides = (known.clone(), Expression::Constant(one));
                Expression::Binary(operator, Box::new(sides))
            };
            for expression in [
                known.clone(),
                beside(BinaryOperator::Add),
                beside(BinaryOperator::Subtract),
            ] {
                if let Some(Some(number)) = self.search.number(&expression, &binding) {
                    values.push(number.intern(&mut self.search.constants));
                }
            }
        }
        values
    }

    /// Values to try for a variable: those of the columns of supposed facts in which it stands, and one of no column.
    fn values(&mut self, variable: usize) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        let model = self.search.model;
        for (predicate, args) in &self.facts {
            let column = args
                .iter()
                .position(|arg| self.store.resolve(arg) == Term::Variable(variable));
            let Some(column) = column else { continue };
            let any = vec![None; args.len()];
            let mut looked = 0;
            let _ = model.matching(*predicate, &any, &mut |_, row| {
                looked += 1;
                if let Some(value) = row.get(column)
                    && !values.contains(value)
                {
                    values.push(*value);
                }
                match looked < MAX_ROWS && values.len() < MAX_VALUES {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
        }
        let unused = self.search.unused();
        self.unused.push(unused);
        values.push(unused);
        values
    }

    /// What a supposed argument stands for; what may be any value is a variable.
    fn argument(&self, arg: &Term) -> Term {
        match self.store.resolve(arg) {
            Term::Value(value) => match self.unused.iter().position(|unused| *unused == value) {
                Some(at) => Term::Variable(usize::MAX - at),
                None => Term::Value(value),
            },
            other => other,
        }
    }

    /// Keeps what is supposed as a proposal.
    fn propose(&mut self) {
        let mut proposal = Proposal {
            facts: Vec::new(),
            defeats: self.defeats.concat(),
        };
        for (predicate, args) in &self.facts {
            let args: Vec<Term> = args.iter().map(|arg| self.argument(arg)).collect();
            proposal.facts.push((*predicate, args));
        }
        proposal.facts.sort();
        proposal.facts.dedup();
        proposal.defeats.sort();
        proposal.defeats.dedup();
        // A fact that turned out to be there was supposed in vain.
        let vain = self
            .ground_facts()
            .iter()
            .any(|(predicate, row)| self.search.birth(*predicate, row).is_some());
        if !vain && !self.found.contains(&proposal) {
            self.found.push(proposal);
        }
    }
}
