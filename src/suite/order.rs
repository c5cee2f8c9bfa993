//! The solutions of a goal in the order in which Prolog finds them, and as often: clause by clause, literal by literal.
//!
//! Nothing here is an answer by itself: what is found is compared with the model.

use crate::analysis::Data;
use crate::analysis::rule::{
    Expression, Listness, Literal, LiteralKind, Pattern, PredicateId, Rule, Variable,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::{Model, Number, compare_numbers, evaluate_expression};
use crate::source::Span;
use crate::value::{Constant, Constants, Value};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::rc::Rc;

/// How many literals and calls may be open at once.
const MAX_DEPTH: usize = 250;
/// How many steps it may take, if the budget of firings is not less.
const MAX_STEPS: u64 = 5_000_000;

/// How many alternatives a clause may have.
const MAX_ALTERNATIVES: usize = 1_000;

type Row = Box<[Value]>;
type Binding = Vec<Option<Value>>;
/// Rows in order, and the same one as often as it is found.
type Rows = Rc<Vec<Row>>;
/// A call: its predicate, and its arguments as far as they are known.
type Call = (PredicateId, Box<[Option<Value>]>);

/// Finds solutions in Prolog's order.
pub(super) struct Prolog<'m> {
    model: &'m Model,
    pub(super) constants: Constants,
    /// Predicates whose solutions come in the order of a table.
    tabled: &'m BTreeSet<PredicateId>,
    known: HashMap<Call, Option<Rows>>,
    /// The places of facts in their order, by their values.
    facts: HashMap<PredicateId, Rc<HashMap<Row, Vec<usize>>>>,
    steps: u64,
    limit: u64,
    depth: usize,
}

/// What is found to end a search early: it is no order then.
type Found<T> = Result<T, Box<Diagnostic>>;

fn unordered(span: Span, why: impl std::fmt::Display) -> Box<Diagnostic> {
    let message = format!("the order in which Prolog finds the answers is not known: {why}");
    Box::new(
        Diagnostic::new(Code::UnsupportedTest, span, message)
            .help("expect `set(X == [a, b])`, which does not depend on the order"),
    )
}

impl<'m> Prolog<'m> {
    pub(super) fn new(
        model: &'m Model,
        constants: Constants,
        tabled: &'m BTreeSet<PredicateId>,
        firings: u64,
    ) -> Self {
        Self {
            model,
            constants,
            tabled,
            known: HashMap::new(),
            facts: HashMap::new(),
            steps: 0,
            limit: firings.min(MAX_STEPS),
            depth: 0,
        }
    }

    fn data(&self) -> &'m Data {
        &self.model.rulebase().data
    }

    /// The solutions of the rules of a goal: the values of their arguments.
    pub(super) fn solutions(&mut self, rules: &[Rule]) -> Found<Vec<Row>> {
        let mut out = Vec::new();
        let each: Vec<(&Rule, Binding)> = rules
            .iter()
            .map(|rule| (rule, vec![None; rule.variables.len()]))
            .collect();
        if let Some((first, binding)) = each.first() {
            let span = first.span;
            let rules: Vec<&Rule> = rules.iter().collect();
            differ(&rules, span)?;
            self.alternatives(&rules, 0, binding, &mut out)?;
        }
        Ok(out)
    }

    fn step(&mut self, span: Span, steps: u64) -> Found<()> {
        self.steps = self.steps.saturating_add(steps);
        match self.steps <= self.limit {
            true => Ok(()),
            false => Err(unordered(
                span,
                format_args!("it takes more than {} steps", self.limit),
            )),
        }
    }

    /// The rows of the alternatives of one clause, whose bodies are the same up to `at`.
    fn alternatives(
        &mut self,
        rules: &[&Rule],
        at: usize,
        binding: &Binding,
        out: &mut Vec<Row>,
    ) -> Found<()> {
        let Some(span) = rules.first().map(|rule| rule.span) else {
            return Ok(());
        };
        if self.depth >= MAX_DEPTH {
            return Err(unordered(span, "it nests too deep"));
        }
        self.depth += 1;
        let result = self.alternatives_here(rules, at, binding, out);
        self.depth -= 1;
        result
    }

    fn alternatives_here(
        &mut self,
        rules: &[&Rule],
        at: usize,
        binding: &Binding,
        out: &mut Vec<Row>,
    ) -> Found<()> {
        let mut rest = rules;
        while let Some(first) = rest.first() {
            let Some(literal) = first.body.get(at) else {
                rest = rest.get(1..).unwrap_or_default();
                out.push(self.row(first, binding)?);
                continue;
            };
            // The same literal at the same place: what comes before the alternatives is run once.
            let same = |rule: &&&Rule| rule.body.get(at) == Some(literal);
            let count = rest.iter().take_while(same).count().max(1);
            let (group, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = others;
            // A call has a small frame of its own: calls nest.
            let bindings = match &literal.kind {
                LiteralKind::Call(callee, args) => {
                    self.called(*callee, args, literal.span, binding)?
                }
                _ => self.literal(first, literal, binding)?,
            };
            for next in bindings {
                self.alternatives(group, at + 1, &next, out)?;
            }
        }
        Ok(())
    }

    fn row(&mut self, rule: &Rule, binding: &Binding) -> Found<Row> {
        rule.args
            .iter()
            .map(|arg| self.value(arg, binding))
            .collect::<Option<Row>>()
            .ok_or_else(|| unordered(rule.span, "an answer has a variable in it"))
    }

    /// The bindings under which the literal holds, in order.
    fn literal(
        &mut self,
        rule: &Rule,
        literal: &Literal,
        binding: &Binding,
    ) -> Found<Vec<Binding>> {
        let span = literal.span;
        self.step(span, 1)?;
        let open = || unordered(span, "a test meets a variable that nothing has bound");
        let mut next = binding.clone();
        let holds = match &literal.kind {
            LiteralKind::Call(callee, args) => return self.called(*callee, args, span, binding),
            LiteralKind::Member(item, list, listness) => {
                let list = self.value(list, binding).ok_or_else(open)?;
                let items: Vec<[Value; 1]> =
                    self.constants.members(list).map(|value| [value]).collect();
                let item = std::slice::from_ref(item);
                let rows = items.iter().map(<[Value; 1]>::as_slice);
                let found = self.matching(item, rows, binding, span)?;
                if *listness == Listness::Demanded && found.is_empty() && !self.is_list(list) {
                    return Err(unordered(span, "`memberchk` meets what is no list"));
                }
                return Ok(found);
            }
            LiteralKind::Not(bodies, _) => {
                let mut found = false;
                for body in bodies {
                    found = found || self.exists(rule, body, binding)?;
                }
                !found
            }
            LiteralKind::Unify(variable, pattern) => {
                let bound = binding.get(variable.index()).copied().flatten();
                match (bound, self.value(pattern, binding)) {
                    (Some(value), _) => self.matches(pattern, value, &mut next),
                    (None, Some(value)) => {
                        self.matches(&Pattern::Variable(*variable), value, &mut next)
                    }
                    (None, None) => return Err(open()),
                }
            }
            LiteralKind::Identical(equal, left, right) => {
                let left = self.value(left, binding).ok_or_else(open)?;
                let right = self.value(right, binding).ok_or_else(open)?;
                (left == right) == *equal
            }
            LiteralKind::Order(outcomes, left, right) => {
                let left = self.value(left, binding).ok_or_else(open)?;
                let right = self.value(right, binding).ok_or_else(open)?;
                outcomes.admit(self.constants.compare(left, right))
            }
            LiteralKind::Compare(outcomes, left, right) => {
                let left = self.number(left, binding, span)?;
                let right = self.number(right, binding, span)?;
                let order =
                    compare_numbers(&left, &right).map_err(|error| unordered(span, error))?;
                outcomes.admit(order)
            }
            LiteralKind::Is(left, right) => {
                let value = self.number(right, binding, span)?;
                let value = value.intern(&mut self.constants);
                self.matches(left, value, &mut next)
            }
            LiteralKind::Fail => false,
        };
        Ok(if holds { vec![next] } else { Vec::new() })
    }

    /// The bindings under which a call holds, in order.
    fn called(
        &mut self,
        callee: PredicateId,
        args: &[Pattern],
        span: Span,
        binding: &Binding,
    ) -> Found<Vec<Binding>> {
        self.step(span, 1)?;
        let known: Box<[Option<Value>]> = args.iter().map(|arg| self.value(arg, binding)).collect();
        let rows = self.call(callee, known, span)?;
        self.matching(args, rows.iter().map(|row| &**row), binding, span)
    }

    fn matching<'r>(
        &mut self,
        patterns: &[Pattern],
        rows: impl Iterator<Item = &'r [Value]>,
        binding: &Binding,
        span: Span,
    ) -> Found<Vec<Binding>> {
        let mut found = Vec::new();
        for row in rows {
            self.step(span, 1)?;
            let mut next = binding.clone();
            let mut pairs = patterns.iter().zip(row);
            if pairs.all(|(pattern, value)| self.matches(pattern, *value, &mut next)) {
                found.push(next);
            }
        }
        Ok(found)
    }

    /// Whether the literals hold for some binding of what is open: for that the order does not count.
    fn exists(&mut self, rule: &Rule, body: &[Literal], binding: &Binding) -> Found<bool> {
        let Some((literal, rest)) = body.split_first() else {
            return Ok(true);
        };
        if self.depth >= MAX_DEPTH {
            return Err(unordered(literal.span, "it nests too deep"));
        }
        self.depth += 1;
        let found = self.exists_here(rule, literal, rest, binding);
        self.depth -= 1;
        found
    }

    fn exists_here(
        &mut self,
        rule: &Rule,
        literal: &Literal,
        rest: &[Literal],
        binding: &Binding,
    ) -> Found<bool> {
        let bindings = match &literal.kind {
            LiteralKind::Call(callee, args) => {
                let known: Vec<Option<Value>> =
                    args.iter().map(|arg| self.value(arg, binding)).collect();
                let mut rows: Vec<Row> = Vec::new();
                let _ = self.model.matching(*callee, &known, &mut |_, row| {
                    rows.push(row.into());
                    ControlFlow::Continue(())
                });
                let rows = rows.iter().map(|row| &**row);
                self.matching(args, rows, binding, literal.span)?
            }
            _ => self.literal(rule, literal, binding)?,
        };
        for binding in bindings {
            if self.exists(rule, rest, &binding)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rows that a call finds, in order.
    fn call(&mut self, id: PredicateId, known: Box<[Option<Value>]>, span: Span) -> Found<Rows> {
        let key: Call = (id, known);
        match self.known.get(&key) {
            Some(Some(rows)) => return Ok(Rc::clone(rows)),
            Some(None) => {
                let name = self.data().predicates.key(id);
                let why = format_args!("`{name}` calls itself again and again");
                return Err(unordered(span, why));
            }
            None => {}
        }
        if self.tabled.contains(&id) {
            let name = self.data().predicates.key(id);
            return Err(unordered(span, format_args!("`{name}` is tabled")));
        }
        let rules = self.data().rules_of.get(id.index());
        let rows = if rules.is_none_or(Vec::is_empty) {
            self.facts(id, &key.1, span)?
        } else {
            self.known.insert(key.clone(), None);
            self.clauses(id, &key.1, span)?
        };
        let rows = Rc::new(rows);
        self.known.insert(key, Some(Rc::clone(&rows)));
        Ok(rows)
    }

    /// The matching facts of a predicate that has nothing else.
    fn facts(&mut self, id: PredicateId, known: &[Option<Value>], span: Span) -> Found<Vec<Row>> {
        let places = self.places(id, span)?;
        let mut found: Vec<(usize, Row)> = Vec::new();
        let _ = self.model.matching(id, known, &mut |_, row| {
            for at in places.get(row).into_iter().flatten() {
                found.push((*at, row.into()));
            }
            ControlFlow::Continue(())
        });
        self.step(span, u64::try_from(found.len()).unwrap_or(u64::MAX))?;
        found.sort_unstable_by_key(|(at, _)| *at);
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }

    /// Where each fact stands among those of its predicate.
    fn places(&mut self, id: PredicateId, span: Span) -> Found<Rc<HashMap<Row, Vec<usize>>>> {
        if let Some(places) = self.facts.get(&id) {
            return Ok(Rc::clone(places));
        }
        let mut places: HashMap<Row, Vec<usize>> = HashMap::new();
        let data = self.data();
        if let Some(facts) = data.facts.get(id.index()) {
            self.step(span, u64::try_from(facts.count).unwrap_or(u64::MAX))?;
            let arity = data.predicates.key(id).arity();
            for (at, row) in facts.rows(arity).enumerate() {
                places.entry(row.into()).or_default().push(at);
            }
        }
        let places = Rc::new(places);
        self.facts.insert(id, Rc::clone(&places));
        Ok(places)
    }

    /// The rows of a predicate with rules: its clauses from the first to the last, facts among them.
    fn clauses(&mut self, id: PredicateId, known: &[Option<Value>], span: Span) -> Found<Vec<Row>> {
        let data = self.data();
        let mut out = Vec::new();
        let arity = data.predicates.key(id).arity();
        let facts = data.facts.get(id.index());
        let mut rows = facts
            .into_iter()
            .flat_map(|facts| facts.rows(arity).zip(&facts.spans))
            .peekable();
        if facts.is_some_and(|facts| facts.spans.len() != facts.count) {
            return Err(unordered(span, "the text of the facts was not kept"));
        }
        let rules = data.rules_of.get(id.index());
        let rules: Vec<&'m Rule> = rules
            .into_iter()
            .flatten()
            .filter_map(|at| data.rules.get(*at))
            .collect();
        for clause in rules.chunk_by(|a, b| a.span == b.span) {
            let Some(first) = clause.first() else {
                continue;
            };
            while let Some((row, _)) = rows.next_if(|(_, span)| **span < first.span) {
                self.fact(row, known, span, &mut out)?;
            }
            differ(clause, span)?;
            let mut binding: Binding = vec![None; first.variables.len()];
            let mut pairs = first.args.iter().zip(known);
            let matched = pairs.all(|(pattern, value)| {
                value.is_none_or(|value| self.matches(pattern, value, &mut binding))
            });
            if matched {
                self.alternatives(clause, 0, &binding, &mut out)?;
            }
        }
        for (row, _) in rows {
            self.fact(row, known, span, &mut out)?;
        }
        Ok(out)
    }

    fn fact(
        &mut self,
        row: &[Value],
        known: &[Option<Value>],
        span: Span,
        out: &mut Vec<Row>,
    ) -> Found<()> {
        self.step(span, 1)?;
        let mut pairs = row.iter().zip(known);
        if pairs.all(|(value, known)| known.is_none_or(|known| known == *value)) {
            out.push(row.into());
        }
        Ok(())
    }

    fn is_list(&self, list: Value) -> bool {
        let mut rest = list;
        while let Some((_, tail)) = self.constants.cell(rest) {
            rest = tail;
        }
        *self.constants.get(rest) == Constant::Nil
    }

    fn number(&self, expression: &Expression, binding: &Binding, span: Span) -> Found<Number> {
        let bound = |variable: Variable| binding.get(variable.index()).copied().flatten();
        let mut open = false;
        expression.each_variable(&mut |variable| open |= bound(variable).is_none());
        if open {
            return Err(unordered(
                span,
                "arithmetic meets a variable that nothing has bound",
            ));
        }
        let value = |variable| bound(variable).unwrap_or(Value(0));
        evaluate_expression(expression, &self.constants, &value)
            .map_err(|error| unordered(span, error))
    }

    /// The value of a pattern whose variables are bound.
    fn value(&mut self, pattern: &Pattern, binding: &Binding) -> Option<Value> {
        match pattern {
            Pattern::Constant(value) => Some(*value),
            Pattern::Variable(variable) => binding.get(variable.index()).copied().flatten(),
            Pattern::Compound(name, args) => {
                let args: Option<Vec<Value>> =
                    args.iter().map(|arg| self.value(arg, binding)).collect();
                self.constants.compound(name, &args?).ok()
            }
        }
    }

    fn matches(&self, pattern: &Pattern, value: Value, binding: &mut Binding) -> bool {
        match pattern {
            Pattern::Constant(constant) => *constant == value,
            Pattern::Variable(variable) => match binding.get_mut(variable.index()) {
                Some(Some(known)) => *known == value,
                Some(slot) => {
                    *slot = Some(value);
                    true
                }
                None => false,
            },
            Pattern::Compound(name, args) => match self.constants.get(value) {
                Constant::Compound(other, parts) if other == name && parts.len() == args.len() => {
                    args.iter()
                        .zip(parts)
                        .all(|(arg, part)| self.matches(arg, *part, binding))
                }
                _ => false,
            },
        }
    }
}

/// Alternatives that say the same cannot be told from what comes before them.
fn differ(rules: &[&Rule], span: Span) -> Found<()> {
    if rules.len() > MAX_ALTERNATIVES {
        return Err(unordered(span, "a clause has too many alternatives"));
    }
    for (at, rule) in rules.iter().enumerate() {
        let before = rules.get(..at).unwrap_or_default();
        if before.iter().any(|other| other.body == rule.body) {
            return Err(unordered(
                span,
                "a clause has two alternatives that say the same",
            ));
        }
    }
    Ok(())
}
