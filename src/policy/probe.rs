//! Permissive probing: what Prolog would answer to a ground goal on a predicate that binds none of its head's
//! variables. The answer is a type of its own that can never become a decision.
//!
//! Nothing here is used to allow anything.

use crate::analysis::rule::{
    Expression, Listness, Literal, LiteralKind, Pattern, PredicateId, Rule, Variable,
};
use crate::analysis::{Data, Rulebase};
use crate::budget::Budget;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::{Model, Number, State, compare_numbers, evaluate_expression};
use crate::key::PredicateKey;
use crate::source::{Source, SourceId, Sources, Span};
use crate::syntax::{self, Term};
use crate::value::{Constant, Constants, Value};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How deep probes may call each other.
const MAX_DEPTH: usize = 200;
/// How many steps a probe may take, if the budget of firings is not less: it keeps what it learns, and is slow.
const MAX_STEPS: u64 = 10_000_000;

/// The answer of a probe. It is no decision, and nothing turns it into one.
///
/// ```
/// use horngate::{Budget, Rulebase, Source};
/// let rules = ":- dynamic blocked/2.\nmay_execute(A, X) :- \\+ blocked(A, X).\n";
/// let rulebase = Rulebase::load([Source::new("open.pl", rules)]).unwrap();
/// let probed = rulebase.probe("may_execute('NOBODY', rm_rf_slash)", &Budget::default()).unwrap();
/// assert!(probed.holds());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Probed(bool);

impl Probed {
    /// Whether Prolog would answer yes.
    #[must_use]
    pub fn holds(self) -> bool {
        self.0
    }
}

/// A goal that cannot be probed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.diagnostics.first().map_or("no answer", |first| &first.message))]
pub struct ProbeError {
    /// The rule texts, and last the goal's.
    pub sources: Sources,
    /// Why, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl Rulebase {
    /// Whether the only faults in the slice of `key` are head variables that no literal binds, and there is one:
    /// the predicate holds for values that occur nowhere.
    #[must_use]
    pub fn is_permissive(&self, key: &PredicateKey) -> bool {
        let faults = self.faults_of(key);
        !faults.is_empty() && faults.iter().all(|fault| is_open(fault))
    }

    /// Answers a ground goal on one predicate the way Prolog would, from left to right, also where the predicate's
    /// head variables are bound by nothing but the call.
    ///
    /// # Errors
    /// [`ProbeError`] when the goal is not ground, its slice has other faults, or a budget runs out.
    pub fn probe(&self, goal: &str, budget: &Budget) -> Result<Probed, ProbeError> {
        let mut sources = self.data.sources.clone();
        let source = Source::new("goal", goal);
        let id = sources.push(source.clone());
        self.probe_source(id, &source, budget)
            .map(Probed)
            .map_err(|diagnostics| ProbeError {
                sources,
                diagnostics,
            })
    }

    fn probe_source(
        &self,
        source: SourceId,
        text: &Source,
        budget: &Budget,
    ) -> Result<bool, Vec<Diagnostic>> {
        let term = syntax::parse_goal(source, text)?;
        self.probe_term(&term, None, budget)
    }

    /// The same of a goal that was read. `model`: one of this rulebase in which the goal's slice was evaluated, as far as
    /// it has no fault.
    pub(crate) fn probe_term(
        &self,
        term: &Term,
        model: Option<&Model>,
        budget: &Budget,
    ) -> Result<bool, Vec<Diagnostic>> {
        let data: &Data = &self.data;
        let refuse = |code, message: String| vec![Diagnostic::new(code, term.span, message)];
        let Some((name, arity)) = term.functor() else {
            return Err(refuse(Code::NotAGoal, "this is no goal".to_owned()));
        };
        let key = PredicateKey::new(name, arity);
        let Some(id) = data.find(&key) else {
            return Err(refuse(
                Code::UndefinedCall,
                format!("`{key}` is called, but nothing defines it"),
            ));
        };
        let faults = self.faults_of(&key);
        if let Some(fault) = faults.iter().find(|fault| !is_open(fault)) {
            return Err(vec![(*fault).clone()]);
        }
        let model = match model {
            Some(model) => model.clone(),
            None => self
                .evaluate_slice(std::slice::from_ref(&key), budget)
                .map_err(|exceeded| vec![exceeded.diagnostic()])?,
        };
        let mut constants = Constants::over(Arc::clone(&model.data.constants));
        let args: Result<Vec<Value>, _> = term
            .args()
            .iter()
            .map(|arg| constants.intern(arg).ok().flatten().ok_or(()))
            .collect();
        let Ok(args) = args else {
            return Err(refuse(
                Code::UnboundInTest,
                "only a goal without variables can be probed".to_owned(),
            ));
        };
        Probe::new(&model, constants, budget.firings.min(MAX_STEPS))
            .complete(id, &args)
            .map_err(|diagnostic| vec![diagnostic])
    }
}

pub(super) fn is_open(fault: &Diagnostic) -> bool {
    matches!(fault.code, Code::OpenFact | Code::UnboundHead)
}

/// A ground subgoal.
type Subgoal = (PredicateId, Vec<Value>);
type Binding = Vec<Option<Value>>;

pub(super) struct Probe<'m> {
    model: &'m Model,
    pub(super) constants: Constants,
    /// What is known of each ground subgoal of the fixpoint at work.
    table: HashMap<Subgoal, bool>,
    steps: u64,
    limit: u64,
    depth: usize,
    assumption: Option<Assumption>,
}

/// Predicates that are taken to hold for whatever they are asked for.
struct Assumption {
    predicates: BTreeSet<PredicateId>,
    /// For each predicate whether it depends on one of them: its relation is then not all that it holds for.
    reopened: Vec<bool>,
    /// What an argument is taken to be that the call leaves open.
    anything: Value,
    /// The first fact that was taken to hold, as text.
    first: Option<(PredicateId, String)>,
}

impl<'m> Probe<'m> {
    pub(super) fn new(model: &'m Model, constants: Constants, limit: u64) -> Self {
        Self {
            model,
            constants,
            table: HashMap::new(),
            steps: 0,
            limit,
            depth: 0,
            assumption: None,
        }
    }

    /// How many steps it may still take.
    pub(super) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.steps)
    }

    /// Takes the predicates to hold for whatever they are asked for, with `anything` where the call leaves it open.
    pub(super) fn assume(&mut self, predicates: BTreeSet<PredicateId>, anything: Value) {
        let graph = &self.model.data.rulebase.data.graph;
        self.assumption = Some(Assumption {
            reopened: graph.tainted(predicates.iter().copied()),
            predicates,
            anything,
            first: None,
        });
    }

    /// The first fact that was taken to hold since the last time, as text.
    pub(super) fn assumed(&mut self) -> Option<(PredicateId, String)> {
        self.assumption.as_mut()?.first.take()
    }
}

impl Probe<'_> {
    /// Answers a subgoal for good: its table is a fixpoint of its own.
    pub(super) fn complete(&mut self, id: PredicateId, args: &[Value]) -> Result<bool, Diagnostic> {
        let outer = std::mem::take(&mut self.table);
        let result = loop {
            let before: usize = self.table.values().filter(|holds| **holds).count();
            let size = self.table.len();
            // Each pass starts from what the last one knew; only truth is kept.
            let known: HashMap<Subgoal, bool> = std::mem::take(&mut self.table)
                .into_iter()
                .filter(|(_, holds)| *holds)
                .collect();
            self.table = known;
            match self.subgoal(id, args) {
                Err(error) => break Err(error),
                Ok(holds) => {
                    let after = self.table.values().filter(|holds| **holds).count();
                    if holds || (after == before && self.table.len() == size) {
                        break Ok(holds);
                    }
                }
            }
        };
        self.table = outer;
        result
    }

    fn subgoal(&mut self, id: PredicateId, args: &[Value]) -> Result<bool, Diagnostic> {
        let key = (id, args.to_vec());
        if let Some(known) = self.table.get(&key) {
            return Ok(*known);
        }
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(id));
        }
        self.table.insert(key.clone(), false);
        self.depth += 1;
        let holds = self.clauses(id, args);
        self.depth -= 1;
        let holds = holds?;
        if holds {
            self.table.insert(key, true);
        }
        Ok(holds)
    }

    fn clauses(&mut self, id: PredicateId, args: &[Value]) -> Result<bool, Diagnostic> {
        let model = self.model;
        let data: &Data = &model.data.rulebase.data;
        // Whatever is a fact is in the model, if there is one.
        let done = matches!(model.data.states.get(id.index()), Some(State::Done));
        let relation = model.data.relations.get(id.index());
        let absent = done && relation.is_some_and(|relation| !relation.contains(args));
        if let (false, Some(facts)) = (absent, data.facts.get(id.index())) {
            self.take(id, u64::try_from(facts.count).unwrap_or(u64::MAX))?;
            if facts.rows(args.len()).any(|row| row == args) {
                return Ok(true);
            }
        }
        for at in data.rules_of.get(id.index()).into_iter().flatten() {
            let Some(rule) = data.rules.get(*at) else {
                continue;
            };
            let mut binding: Binding = vec![None; rule.variables.len()];
            let matched = rule
                .args
                .iter()
                .zip(args)
                .all(|(pattern, value)| self.matches(pattern, *value, &mut binding));
            if matched && self.body(rule, &rule.body, &mut binding)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts steps in a rule or the facts of a predicate.
    fn take(&mut self, id: PredicateId, steps: u64) -> Result<(), Diagnostic> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= self.limit {
            return Ok(());
        }
        let (limit, reached) = (self.limit, self.steps);
        Err(self.out_of_budget(
            id,
            &format!("the probe's budget of {limit} steps ran out at {reached}"),
        ))
    }

    fn too_deep(&self, id: PredicateId) -> Diagnostic {
        let reached = MAX_DEPTH + 1;
        let message = format!("the probe nests {reached} calls deep, and the limit is {MAX_DEPTH}");
        self.out_of_budget(id, &message)
    }

    fn out_of_budget(&self, id: PredicateId, message: &str) -> Diagnostic {
        let predicates = &self.model.data.rulebase.data.predicates;
        let key = predicates.key(id);
        let place = predicates.get(id).and_then(|known| known.place());
        Diagnostic::new(
            Code::Budget,
            place.unwrap_or_default(),
            format!("{message} in `{key}`"),
        )
        .of(&key)
    }

    /// Whether the literals hold, from left to right, for some binding of what is open.
    fn body(
        &mut self,
        rule: &Rule,
        body: &[Literal],
        binding: &mut Binding,
    ) -> Result<bool, Diagnostic> {
        self.take(rule.head, 1)?;
        let Some((literal, rest)) = body.split_first() else {
            return Ok(true);
        };
        let holds = match &literal.kind {
            LiteralKind::Call(callee, args) => {
                return self.call(rule, *callee, args, literal.span, rest, binding);
            }
            LiteralKind::Member(item, list, listness) => {
                let Some(list) = self.value(list, binding) else {
                    return Err(floundered(literal.span));
                };
                let items: Vec<Value> = self.constants.members(list).collect();
                for value in items {
                    let mut inner = binding.clone();
                    if self.matches(item, value, &mut inner) && self.body(rule, rest, &mut inner)? {
                        return Ok(true);
                    }
                }
                let mut rest = list;
                while let Some((_, tail)) = self.constants.cell(rest) {
                    rest = tail;
                }
                if *listness == Listness::Demanded && *self.constants.get(rest) != Constant::Nil {
                    return Err(undefined(
                        literal.span,
                        "`memberchk` needs a list".to_owned(),
                    ));
                }
                return Ok(false);
            }
            LiteralKind::Not(bodies, _) => {
                let mut found = false;
                for body in bodies {
                    found = found || self.body(rule, body, &mut binding.clone())?;
                }
                !found
            }
            LiteralKind::Unify(variable, pattern) => {
                let bound = binding.get(variable.index()).copied().flatten();
                match (bound, self.value(pattern, binding)) {
                    (Some(value), _) => self.matches(pattern, value, binding),
                    (None, Some(value)) => {
                        self.matches(&Pattern::Variable(*variable), value, binding)
                    }
                    (None, None) => return Err(floundered(literal.span)),
                }
            }
            LiteralKind::Identical(equal, left, right) => {
                let (left, right) = self.both(left, right, binding, literal.span)?;
                (left == right) == *equal
            }
            LiteralKind::Order(outcomes, left, right) => {
                let (left, right) = self.both(left, right, binding, literal.span)?;
                outcomes.admit(self.constants.compare(left, right))
            }
            LiteralKind::Compare(outcomes, left, right) => {
                let left = self.number(left, binding, literal.span)?;
                let right = self.number(right, binding, literal.span)?;
                let order = compare_numbers(&left, &right)
                    .map_err(|error| undefined(literal.span, error.to_string()))?;
                outcomes.admit(order)
            }
            LiteralKind::Is(left, right) => {
                let value = self
                    .number(right, binding, literal.span)?
                    .intern(&mut self.constants);
                self.matches(left, value, binding)
            }
            LiteralKind::Fail => false,
        };
        if holds {
            self.body(rule, rest, binding)
        } else {
            Ok(false)
        }
    }

    fn call(
        &mut self,
        rule: &Rule,
        callee: PredicateId,
        args: &[Pattern],
        span: Span,
        rest: &[Literal],
        binding: &mut Binding,
    ) -> Result<bool, Diagnostic> {
        let model = self.model;
        let assumed = |assumption: &Assumption| assumption.predicates.contains(&callee);
        if self.assumption.as_ref().is_some_and(assumed) {
            self.take_to_hold(callee, args, binding);
            return self.body(rule, rest, binding);
        }
        let reopened = self.assumption.as_ref().is_some_and(|assumption| {
            assumption.reopened.get(callee.index()).copied() == Some(true)
        });
        match model.data.states.get(callee.index()) {
            Some(State::Done) if !reopened => {
                let Some(relation) = model.data.relations.get(callee.index()) else {
                    return Ok(false);
                };
                let values: Option<Vec<Value>> =
                    args.iter().map(|arg| self.value(arg, binding)).collect();
                if let Some(values) = values {
                    return Ok(relation.contains(&values) && self.body(rule, rest, binding)?);
                }
                for row in relation.rows() {
                    self.take(rule.head, 1)?;
                    let mut inner = binding.clone();
                    let matched = args
                        .iter()
                        .zip(row)
                        .all(|(pattern, value)| self.matches(pattern, *value, &mut inner));
                    if matched && self.body(rule, rest, &mut inner)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Some(State::Failed(diagnostic)) => Err((**diagnostic).clone()),
            _ => {
                let values: Option<Vec<Value>> =
                    args.iter().map(|arg| self.value(arg, binding)).collect();
                let Some(values) = values else {
                    return Err(floundered(span));
                };
                let recursive = model.data.rulebase.data.graph.component_of(callee)
                    == model.data.rulebase.data.graph.component_of(rule.head);
                let holds = if recursive {
                    self.subgoal(callee, &values)?
                } else {
                    self.nested(callee, &values)?
                };
                if holds {
                    self.body(rule, rest, binding)
                } else {
                    Ok(false)
                }
            }
        }
    }

    /// Binds what the call leaves open, and notes the fact that this comes to.
    fn take_to_hold(&mut self, callee: PredicateId, args: &[Pattern], binding: &mut Binding) {
        let Some(anything) = self.assumption.as_ref().map(|known| known.anything) else {
            return;
        };
        for arg in args {
            arg.each_variable(&mut |variable| {
                if let Some(slot) = binding.get_mut(variable.index()) {
                    slot.get_or_insert(anything);
                }
            });
        }
        let values: Option<Vec<Value>> = args.iter().map(|arg| self.value(arg, binding)).collect();
        let text =
            values.map(|values| (callee, fact(self.model, &self.constants, callee, &values)));
        if let Some(assumption) = &mut self.assumption {
            assumption.first = assumption.first.take().or(text);
        }
    }

    /// A subgoal of a lower component, complete before its caller goes on: a negation may depend on it.
    fn nested(&mut self, id: PredicateId, args: &[Value]) -> Result<bool, Diagnostic> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep(id));
        }
        self.depth += 1;
        let holds = self.complete(id, args);
        self.depth -= 1;
        holds
    }

    fn both(
        &mut self,
        left: &Pattern,
        right: &Pattern,
        binding: &Binding,
        span: Span,
    ) -> Result<(Value, Value), Diagnostic> {
        let left = self.value(left, binding);
        let right = self.value(right, binding);
        left.zip(right).ok_or_else(|| floundered(span))
    }

    fn number(
        &self,
        expression: &Expression,
        binding: &Binding,
        span: Span,
    ) -> Result<Number, Diagnostic> {
        let mut open = false;
        expression.each_variable(&mut |variable| {
            open |= binding.get(variable.index()).copied().flatten().is_none();
        });
        if open {
            return Err(floundered(span));
        }
        let value = |variable: Variable| {
            binding
                .get(variable.index())
                .copied()
                .flatten()
                .unwrap_or(Value(0))
        };
        evaluate_expression(expression, &self.constants, &value)
            .map_err(|error| undefined(span, error.to_string()))
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

/// A tuple of a predicate as it would be written.
pub(super) fn fact(
    model: &Model,
    constants: &Constants,
    id: PredicateId,
    values: &[Value],
) -> String {
    let key = model.data.rulebase.data.predicates.key(id);
    let args: Vec<String> = values.iter().map(|value| constants.text(*value)).collect();
    let name = syntax::quoted_atom(key.name());
    match &*args {
        [] => name.to_string(),
        args => format!("{name}({})", args.join(", ")),
    }
}

fn floundered(span: Span) -> Diagnostic {
    Diagnostic::new(
        Code::UnboundInTest,
        span,
        "the probe comes here with a variable unbound, which Prolog would answer by enumerating or not at all",
    )
}

fn undefined(span: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code::Evaluation, span, message)
}
