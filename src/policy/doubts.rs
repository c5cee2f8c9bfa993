//! What makes a predicate doubtful as the authority of a gate, although nothing in it is refused.
//!
//! Nothing here depends on how the rules were loaded, or on comments in them; all but the witnesses is read off the
//! rules.

use super::probe::{Probe, fact, is_open};
use super::ties;
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule, Variable};
use crate::analysis::{Data, shape};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::engine::{Model, State};
use crate::source::Span;
use crate::value::{Constants, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many steps the search for a witness takes for one predicate.
const MAX_STEPS: u64 = 2_000_000;
/// How many rules of a predicate are tried for a witness.
const MAX_RULES: usize = 256;
/// How many witnesses of one rule are tried.
const MAX_WITNESSES: usize = 64;
/// How many constants are tried where a literal says which they may be.
const MAX_CANDIDATES: usize = 4;

/// Looks for doubts about predicates of one model.
pub(super) struct Doubts<'m> {
    model: &'m Model,
    /// For each predicate whether its slice has a fault beside head variables that nothing binds; empty for none.
    beyond: Vec<bool>,
    /// How many steps all searches for witnesses may still take.
    steps: u64,
    /// Names that the rules do not have, by what they are to stand for.
    names: BTreeMap<usize, String>,
}

impl<'m> Doubts<'m> {
    pub(super) fn new(model: &'m Model, steps: u64) -> Self {
        let data: &Data = &model.data.rulebase.data;
        let mut others = data
            .predicates
            .iter()
            .filter(|(_, known)| !known.faults.iter().all(is_open))
            .map(|(id, _)| id)
            .peekable();
        Self {
            model,
            beyond: match others.peek() {
                Some(_) => data.graph.tainted(others),
                None => Vec::new(),
            },
            steps,
            names: BTreeMap::new(),
        }
    }

    /// The doubts about one predicate: `default-allow` with a witness; and, if it is one that grants, `always-true` and
    /// `cartesian-grant`.
    pub(super) fn of(&mut self, id: PredicateId, grants: bool) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = self.default_allow(id, grants).into_iter().collect();
        if grants {
            let data: &Data = &self.model.data.rulebase.data;
            found.extend(always_true(data, id));
            // Of a variable that nothing binds the fault is told.
            if !data.is_tainted(id) {
                found.extend(ties::cartesian(data, id));
            }
        }
        found
    }

    /// Whether the predicate holds for constants that occur nowhere, and for which.
    fn default_allow(&mut self, id: PredicateId, grants: bool) -> Option<Diagnostic> {
        let model = self.model;
        let data: &Data = &model.data.rulebase.data;
        let known = data.predicates.get(id)?;
        let key = &known.key;
        let own = known.faults.iter().find(|fault| is_open(fault));
        let clean = !data.is_tainted(id);
        let unfounded = match clean {
            true if grants => unfounded(data, id),
            _ => BTreeSet::new(),
        };
        let beyond = self.beyond.get(id.index()).copied().unwrap_or(false);
        let doubtful = match clean {
            true => !unfounded.is_empty(),
            false => !beyond && (own.is_some() || grants),
        };
        if !doubtful || key.arity() == 0 {
            return None;
        }
        let constants = Constants::over(Arc::clone(&model.data.constants));
        let mut search = Search {
            model,
            id,
            probe: Probe::new(model, constants, self.steps.min(MAX_STEPS)),
            names: &mut self.names,
            fresh: BTreeMap::new(),
            ran_out: false,
        };
        if clean {
            let anything = search.fresh(usize::MAX);
            search.probe.assume(unfounded, anything);
        }
        let before = search.probe.left();
        let witness = rules_of(data, id)
            .take(MAX_RULES)
            .find_map(|rule| Some((search.rule(rule, grants)?, rule.head_span)));
        let (taken, ran_out) = (before - search.probe.left(), search.ran_out);
        self.steps = self.steps.saturating_sub(taken);
        let (message, place) = match witness {
            Some((witness, place)) => (witness.message(key), place),
            // What could not be settled is no clean bill for what a gate would be bound to.
            None if clean && ran_out => {
                let place = rules_of(data, id).next().map(|rule| rule.head_span);
                let message = format!(
                    "whether `{key}` holds for names that occur nowhere could not be settled within the budget"
                );
                (message, place.unwrap_or_default())
            }
            None => return None,
        };
        let place = own.map_or(place, |own| own.span);
        let found = Diagnostic::new(Code::DefaultAllow, place, message).of(key);
        Some(match clean {
            false => found.help("never use it as an allowlist; it cannot be bound as one"),
            true => Diagnostic {
                severity: Severity::Warning,
                ..found.help("ask for what somebody decided, such as a grant or a role: that a call was asked for, and that nobody is known or blocked, is no reason to allow it")
            },
        })
    }
}

fn rules_of(data: &Data, id: PredicateId) -> impl Iterator<Item = &Rule> {
    let rules = data.rules_of.get(id.index()).into_iter().flatten();
    rules.filter_map(|at| data.rules.get(*at))
}

/// The predicates whose facts no decision stands behind: those that say what a caller asks for, and those in front of
/// the claim that an actor is not known.
fn unfounded(data: &Data, id: PredicateId) -> BTreeSet<PredicateId> {
    let mut found: BTreeSet<PredicateId> = data
        .predicates
        .iter()
        .filter(|(other, known)| *other != id && shape::is_request(&known.key))
        .map(|(id, _)| id)
        .collect();
    if !found.is_empty() {
        let slice = data.graph.slice(std::iter::once(id));
        found.retain(|id| slice.get(id.index()).copied().unwrap_or(false));
    }
    for rule in rules_of(data, id) {
        let Some(Pattern::Variable(actor)) = rule.args.first() else {
            continue;
        };
        let negates_registration = rule.body.iter().any(|literal| {
            let LiteralKind::Not(bodies, _) = &literal.kind else {
                return false;
            };
            bodies.iter().any(|body| match &**body {
                [
                    Literal {
                        kind: LiteralKind::Call(callee, args),
                        ..
                    },
                ] => {
                    shape::is_registration(&data.predicates.key(*callee))
                        && args.contains(&Pattern::Variable(*actor))
                }
                _ => false,
            })
        });
        if !negates_registration {
            continue;
        }
        for literal in &rule.body {
            if let LiteralKind::Call(callee, args) = &literal.kind
                && data.rules_of.get(callee.index()).is_none_or(Vec::is_empty)
                && args.contains(&Pattern::Variable(*actor))
            {
                found.insert(*callee);
            }
        }
    }
    found
}

/// A tuple that holds, with constants that occur nowhere.
struct Witness {
    tuple: String,
    /// Those of its constants that occur nowhere.
    fresh: Vec<String>,
    /// Whether these are all that it has.
    all: bool,
    /// What was taken to be stated, and whether it says what a caller asks for.
    given: Option<(String, bool)>,
}

impl Witness {
    fn message(&self, key: &crate::PredicateKey) -> String {
        let Self {
            tuple,
            fresh,
            all,
            given,
        } = self;
        let values = match all {
            true => "any values",
            false => "values that occur nowhere",
        };
        let nowhere = match &**fresh {
            [name] => format!("`{name}` occurs nowhere"),
            _ => "these names occur nowhere".to_owned(),
        };
        let (when, with) = match given {
            None => ("", String::new()),
            Some((given, true)) => (" as soon as it is asked for", format!("with `{given}`, ")),
            Some((given, false)) => (" that nobody registered", format!("with `{given}`, ")),
        };
        format!("`{key}` holds for {values}{when}: {with}`{tuple}` holds, though {nowhere}")
    }
}

struct Search<'m, 'd> {
    model: &'m Model,
    id: PredicateId,
    probe: Probe<'m>,
    names: &'d mut BTreeMap<usize, String>,
    /// The constants that the rules do not have, as far as they were needed.
    fresh: BTreeMap<usize, Value>,
    ran_out: bool,
}

impl Search<'_, '_> {
    /// The first tuple of the rule that holds with a constant that occurs nowhere: in all of its arguments, or if
    /// `some` will do in some.
    fn rule(&mut self, rule: &Rule, some: bool) -> Option<Witness> {
        // Each variable by the column in which it first stands; of several in one the others are numbered on.
        let mut variables: Vec<Variable> = Vec::new();
        let mut numbers: Vec<usize> = Vec::new();
        for (column, arg) in rule.args.iter().enumerate() {
            arg.each_variable(&mut |variable| {
                if !variables.contains(&variable) {
                    variables.push(variable);
                    let free = (column..).find(|number| !numbers.contains(number));
                    numbers.push(free.unwrap_or(column));
                }
            });
        }
        let candidates: Vec<Vec<Value>> = variables
            .iter()
            .zip(numbers)
            .map(|(variable, number)| {
                let mut candidates = vec![self.fresh(number)];
                if some {
                    candidates.extend(self.known(rule, *variable));
                }
                candidates
            })
            .collect();
        if candidates.is_empty() {
            return None;
        }
        let mut choice = vec![0; candidates.len()];
        for _ in 0..MAX_WITNESSES {
            let values: BTreeMap<Variable, Value> = variables
                .iter()
                .zip(candidates.iter().zip(&choice))
                .filter_map(|(variable, (candidates, at))| Some((*variable, *candidates.get(*at)?)))
                .collect();
            if choice.contains(&0)
                && let Some(witness) = self.tuple(rule, &values, some)
            {
                return Some(witness);
            }
            // The next choice: the first constants of all are the fresh ones.
            let room = |(at, candidates): (&usize, &Vec<Value>)| at + 1 < candidates.len();
            let next = choice.iter().zip(&candidates).position(room)?;
            for (at, slot) in choice.iter_mut().enumerate().take(next + 1) {
                *slot = if at == next { *slot + 1 } else { 0 };
            }
        }
        None
    }

    fn tuple(
        &mut self,
        rule: &Rule,
        values: &BTreeMap<Variable, Value>,
        some: bool,
    ) -> Option<Witness> {
        let args: Option<Vec<Value>> = rule
            .args
            .iter()
            .map(|arg| instance(arg, values, &mut self.probe.constants))
            .collect();
        let args = args?;
        let is_fresh = |value: &Value| self.fresh.values().any(|fresh| fresh == value);
        let all = args.iter().all(is_fresh);
        if !all && !some {
            return None;
        }
        let holds = match self.probe.complete(self.id, &args) {
            Ok(holds) => holds,
            Err(problem) => {
                self.ran_out |= problem.code == Code::Budget;
                false
            }
        };
        let data: &Data = &self.model.data.rulebase.data;
        let given = self.probe.assumed().map(|(id, fact)| {
            let asked = shape::is_request(&data.predicates.key(id));
            (fact, asked)
        });
        if !holds {
            return None;
        }
        let constants = &self.probe.constants;
        let mut fresh: Vec<String> = values
            .values()
            .filter(|value| is_fresh(value))
            .map(|value| constants.text(*value))
            .collect();
        fresh.sort();
        Some(Witness {
            tuple: fact(self.model, constants, self.id, &args),
            fresh,
            all,
            given,
        })
    }

    /// An atom that the rules do not have, in any column or anywhere else.
    fn fresh(&mut self, number: usize) -> Value {
        let constants = &mut self.probe.constants;
        let name = self.names.entry(number).or_insert_with(|| {
            let stem = match number {
                0 => "nobody".to_owned(),
                1 => "anything".to_owned(),
                usize::MAX => "whatever".to_owned(),
                _ => format!("something{number}"),
            };
            let mut name = stem.clone();
            let mut count = 1;
            while constants.find_atom(&name).is_some() {
                count += 1;
                name = format!("{stem}{count}");
            }
            name
        });
        let value = constants.atom(name);
        self.fresh.insert(number, value);
        value
    }

    /// Some constants that a literal of the rule has in the variable's place.
    fn known(&self, rule: &Rule, variable: Variable) -> Vec<Value> {
        let mut found = Vec::new();
        for literal in &rule.body {
            let LiteralKind::Call(callee, args) = &literal.kind else {
                continue;
            };
            let column = args
                .iter()
                .position(|arg| *arg == Pattern::Variable(variable));
            let done = matches!(
                self.model.data.states.get(callee.index()),
                Some(State::Done)
            );
            let relation = self.model.data.relations.get(callee.index());
            if let (Some(column), Some(relation), true) = (column, relation, done) {
                let cells = relation.rows().filter_map(|row| row.get(column).copied());
                for value in cells.take(MAX_WITNESSES) {
                    if !found.contains(&value) && found.len() < MAX_CANDIDATES {
                        found.push(value);
                    }
                }
            }
        }
        found
    }
}

/// The pattern with values for its variables.
fn instance(
    pattern: &Pattern,
    values: &BTreeMap<Variable, Value>,
    constants: &mut Constants,
) -> Option<Value> {
    match pattern {
        Pattern::Constant(value) => Some(*value),
        Pattern::Variable(variable) => values.get(variable).copied(),
        Pattern::Compound(name, args) => {
            let args: Option<Vec<Value>> = args
                .iter()
                .map(|arg| instance(arg, values, constants))
                .collect();
            constants.compound(name, &args?).ok()
        }
    }
}

/// A rule that asks for nothing but to be asked: no fact narrows it.
fn always_true(data: &Data, id: PredicateId) -> Option<Diagnostic> {
    let known = data.predicates.get(id)?;
    let rule = rules_of(data, id).find(|rule| {
        let mut variables: Vec<Variable> = Vec::new();
        let open = rule.args.iter().all(|arg| match arg {
            Pattern::Variable(variable) if !variables.contains(variable) => {
                variables.push(*variable);
                true
            }
            _ => false,
        });
        open && rule.body.iter().all(|literal| match &literal.kind {
            LiteralKind::Call(callee, args) => {
                let asked = shape::is_request(&data.predicates.key(*callee));
                let mut seen: Vec<&Pattern> = Vec::new();
                asked
                    && args.iter().all(|arg| {
                        let again = seen.contains(&arg);
                        seen.push(arg);
                        matches!(arg, Pattern::Variable(_)) && !again
                    })
            }
            _ => false,
        })
    })?;
    let place: Span = rule.head_span;
    let mut found = Diagnostic::new(
        Code::AlwaysTrue,
        place,
        format!(
            "`{}` is always true: nothing that could be stated takes a pair out",
            known.key
        ),
    )
    .help("say who may do what: state grants, or join the actor's team or role with the tool's")
    .of(&known.key);
    if data.is_tainted(id) {
        found.severity = Severity::Note;
    }
    Some(found)
}
