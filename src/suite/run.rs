//! Runs tests: each goal against the model, and what it gives against what the test expects.
//!
//! Nothing here guesses: where Prolog's verdict depends on what the model does not tell, the test is refused.

use super::coverage::Used;
use super::order::Prolog;
use super::read::{Asked, Blocks, Expects, Run, Test};
use super::terms::{self, Names};
use super::{Explanation, Failure, Report, TestResult, Verdict};
use crate::analysis::rule::PredicateId;
use crate::analysis::{Data, Rulebase};
use crate::budget::{Budget, BudgetExceeded};
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::{Answers, Model};
use crate::explain::Explainer;
use crate::key::PredicateKey;
use crate::source::Span;
use crate::syntax::{Term, TermKind};
use crate::value::Constants;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many explanations a failed test has.
const MAX_EXPLANATIONS: usize = 3;

type Faults = Vec<Diagnostic>;

/// Runs the tests of a program on a model of all that they ask for.
pub(super) struct Runner<'s> {
    rulebase: &'s Rulebase,
    model: Model,
    blocks: &'s Blocks,
    budget: &'s Budget,
    tabled: BTreeSet<PredicateId>,
}

impl<'s> Runner<'s> {
    pub(super) fn new(
        rulebase: &'s Rulebase,
        blocks: &'s Blocks,
        budget: &'s Budget,
    ) -> Result<Self, BudgetExceeded> {
        let mut keys = BTreeSet::new();
        for test in &blocks.tests {
            if let Asked::Runs(run) = &test.asked {
                let own = match &run.expects {
                    Expects::True(goal) => Some(goal),
                    _ => None,
                };
                let goals = [Some(&run.goal), own, run.generator.as_ref()];
                for goal in goals.into_iter().flatten().chain(&run.conditions) {
                    mentioned(goal, &mut keys);
                }
            }
        }
        let keys: Vec<PredicateKey> = keys.into_iter().collect();
        let tabled = blocks.tabled.iter();
        Ok(Self {
            rulebase,
            model: rulebase.evaluate_slice(&keys, budget)?,
            blocks,
            budget,
            tabled: tabled.filter_map(|key| rulebase.data.find(key)).collect(),
        })
    }

    /// Runs all tests; `used` takes in the proofs of what holds.
    pub(super) fn report(&self, mut used: Option<&mut Used>) -> Report {
        let sources = self.rulebase.sources();
        let results = self.blocks.tests.iter().map(|test| TestResult {
            block: test.block.clone(),
            name: test.name.clone(),
            file: sources.name(test.span).to_owned(),
            line: sources.start(test.span).line,
            verdict: self.verdict(test, used.as_deref_mut()),
        });
        Report {
            results: results.collect(),
            faults: self.blocks.faults.clone(),
        }
    }

    fn data(&self) -> &Data {
        &self.rulebase.data
    }

    fn verdict(&self, test: &Test, used: Option<&mut Used>) -> Verdict {
        match &test.asked {
            Asked::Refused(faults) => Verdict::Refused(faults.clone()),
            Asked::Blocked(reason) => Verdict::Blocked(reason.clone()),
            Asked::Runs(run) => {
                let mut single = Single {
                    runner: self,
                    test,
                    used,
                };
                single.all_instances(run).unwrap_or_else(Verdict::Refused)
            }
        }
    }
}

/// All that looks like a predicate in a goal: at least the predicates that it calls.
fn mentioned(term: &Term, keys: &mut BTreeSet<PredicateKey>) {
    if let Some((name, arity)) = term.functor() {
        keys.insert(PredicateKey::new(name, arity));
    }
    match &term.kind {
        TermKind::Compound(_, parts)
        | TermKind::Conjunction(parts)
        | TermKind::Disjunction(parts) => parts.iter().for_each(|part| mentioned(part, keys)),
        _ => {}
    }
}

/// One test that is run.
struct Single<'r, 's, 'u> {
    runner: &'r Runner<'s>,
    test: &'r Test,
    used: Option<&'u mut Used>,
}

/// What a goal with a template gives, and what is expected.
struct Listed {
    expected: Vec<String>,
    /// Sorted, each once, with the term.
    found: Vec<(String, Term)>,
}

impl Single<'_, '_, '_> {
    fn refuse(&self, message: impl Into<String>, help: impl Into<String>) -> Faults {
        vec![Diagnostic::new(Code::UnsupportedTest, self.test.span, message).help(help)]
    }

    /// Runs the test for every solution of its generator, if it has one.
    fn all_instances(&mut self, run: &Run) -> Result<Verdict, Faults> {
        let Some(generator) = &run.generator else {
            return self.instance(run);
        };
        let answers = self.query(generator)?;
        if !answers.holds() {
            return Err(self.refuse(
                "the test has a `forall` without a solution, so that nothing is tested",
                "remove it, or state what it is to range over",
            ));
        }
        let mut skipped = None;
        for row in answers.terms(generator.span) {
            let names = answers.names().iter().map(|name| name.to_string());
            let values: BTreeMap<String, Term> = names.zip(row).collect();
            match self.instance(&instance(run, &values))? {
                Verdict::Passed => {}
                Verdict::Skipped(condition) => skipped = Some(condition),
                Verdict::Failed(mut failure) => {
                    let with: Vec<String> = values
                        .iter()
                        .map(|(name, value)| format!("{name} = {value}"))
                        .collect();
                    failure.message = format!("{}: with {}", failure.message, with.join(", "));
                    return Ok(Verdict::Failed(failure));
                }
                other => return Ok(other),
            }
        }
        Ok(skipped.map_or(Verdict::Passed, Verdict::Skipped))
    }

    fn instance(&mut self, run: &Run) -> Result<Verdict, Faults> {
        for condition in &run.conditions {
            if !self.ask(condition)? {
                return Ok(Verdict::Skipped(condition.to_string()));
            }
        }
        let goal = &run.goal;
        match &run.expects {
            Expects::Success => {
                if self.ask(goal)? {
                    self.cover(goal);
                    return Ok(Verdict::Passed);
                }
                Ok(self.failed(format!("`{goal}` does not hold"), &[], &[goal]))
            }
            Expects::Failure => {
                if !self.ask(goal)? {
                    return Ok(Verdict::Passed);
                }
                self.cover(goal);
                Ok(self.failed(format!("`{goal}` holds and should not"), &[goal], &[]))
            }
            Expects::True(check) => self.first(goal, check),
            Expects::All(template, items) => self.listed(goal, template, items, true),
            Expects::Set(template, items) => self.listed(goal, template, items, false),
        }
    }

    /// Whether the check holds of the first solution that Prolog finds.
    fn first(&mut self, goal: &Term, check: &Term) -> Result<Verdict, Faults> {
        if !self.ask(goal)? {
            return Ok(self.failed(format!("`{goal}` does not hold"), &[], &[goal]));
        }
        let span = check.span;
        let both = |check: Term| terms::conjunction([goal.clone(), check], goal.span);
        let negated = terms::compound("\\+", vec![check.clone()], span);
        if !self.ask(&both(negated))? {
            self.cover(&both(check.clone()));
            return Ok(Verdict::Passed);
        }
        let (mut solution, mut holds) = (None, false);
        if self.ask(&both(check.clone()))? {
            let values = self.first_solution(goal)?;
            holds = self.ask(&terms::substitute(check, &values))?;
            solution = Some(terms::substitute(goal, &values));
        }
        let goal = solution.as_ref().unwrap_or(goal);
        self.cover(goal);
        if holds {
            return Ok(Verdict::Passed);
        }
        let message = match &solution {
            Some(solution) => {
                format!("`{check}` does not hold of the first solution, `{solution}`")
            }
            None => format!("`{check}` does not hold"),
        };
        Ok(self.failed(message, &[goal], &[]))
    }

    /// The values of the goal's variables in the first solution that Prolog finds.
    fn first_solution(&self, goal: &Term) -> Result<BTreeMap<String, Term>, Faults> {
        let model = &self.runner.model;
        let mut constants = Constants::over(Arc::clone(&model.data.constants));
        let (rules, faults, names) = self.runner.data().goal_rules(goal, &mut constants);
        if !faults.is_empty() {
            return Err(faults);
        }
        let (tabled, firings) = (&self.runner.tabled, self.runner.budget.firings);
        let mut prolog = Prolog::new(model, constants, tabled, firings);
        let rows = prolog.solutions(&rules).map_err(|found| {
            let help = "let the goal have one solution, or expect `set(X == [a, b])`";
            vec![at_goal(*found, goal).help(help)]
        })?;
        let Some(first) = rows.first() else {
            return Err(self.differs());
        };
        let values = first
            .iter()
            .map(|value| prolog.constants.term(*value, goal.span));
        let names = names.iter().map(|name| name.to_string());
        Ok(names.zip(values).collect())
    }

    fn differs(&self) -> Faults {
        self.refuse(
            "the answers in Prolog's order are not those of the model: please report it",
            "expect `set(X == [a, b])`, which does not depend on the order",
        )
    }

    /// Whether the solutions of the template are the items: as a list if `ordered`, else as a set.
    fn listed(
        &mut self,
        goal: &Term,
        template: &Term,
        items: &[Term],
        ordered: bool,
    ) -> Result<Verdict, Faults> {
        let name = Names::of([goal, template]).fresh("Answer");
        let answer = terms::variable(&name, template.span);
        let equation = terms::compound("=", vec![answer, template.clone()], template.span);
        let asked = terms::conjunction([equation.clone(), goal.clone()], goal.span);
        let Listed { expected, found } = self.compare(&asked, &name, items)?;
        for (_, value) in &found {
            if self.used.is_none() {
                break;
            }
            if let Some(values) = terms::matching(template, value) {
                self.cover(&terms::substitute(goal, &values));
            }
        }
        let wanted: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        let has: BTreeSet<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
        let solution = |value: &Term| {
            let values = terms::matching(template, value)?;
            Some(terms::substitute(goal, &values))
        };
        if wanted != has {
            let surplus = found
                .iter()
                .filter(|(text, _)| !wanted.contains(text.as_str()));
            let surplus: Vec<Term> = surplus.filter_map(|(_, value)| solution(value)).collect();
            let texts = expected.iter().zip(items);
            let mut seen = BTreeSet::new();
            let missing = texts
                .filter(|(text, _)| !has.contains(text.as_str()) && seen.insert(text.as_str()));
            let missing: Vec<Term> = missing.filter_map(|(_, value)| solution(value)).collect();
            let message = match (missing.is_empty(), surplus.is_empty()) {
                (true, _) => "there are more answers than expected",
                (_, true) => "there are fewer answers than expected",
                _ => "there are other answers than expected",
            };
            let found = found.iter().map(|(text, _)| text.clone()).collect();
            let surplus: Vec<&Term> = surplus.iter().collect();
            let missing: Vec<&Term> = missing.iter().collect();
            return Ok(self.wrong(message, expected, found, &surplus, &missing));
        }
        if !ordered || expected.is_empty() {
            return Ok(Verdict::Passed);
        }
        let asked = terms::conjunction([goal.clone(), equation], goal.span);
        let list = self.in_order(&asked, &name)?;
        if list.iter().map(String::as_str).collect::<BTreeSet<_>>() != has {
            return Err(self.differs());
        }
        if list == expected {
            return Ok(Verdict::Passed);
        }
        let sorted = |list: &[String]| {
            let mut sorted = list.to_vec();
            sorted.sort();
            sorted
        };
        let message = match sorted(&list) == sorted(&expected) {
            true => "the answers come in another order; `set(X == [a, b])` does not depend on it",
            false => {
                "an answer comes more or less often than expected; `set(X == [a, b])` does not depend on it"
            }
        };
        Ok(self.wrong(message, expected, list, &[], &[]))
    }

    /// The expected items as they would be written, and what there is of the variable `name`.
    fn compare(&self, goal: &Term, name: &str, items: &[Term]) -> Result<Listed, Faults> {
        let answers = self.query(goal)?;
        let mut constants = Constants::over(Arc::clone(&self.runner.model.data.constants));
        let mut expected = Vec::with_capacity(items.len());
        for item in items {
            let Ok(Some(value)) = constants.intern(item) else {
                let message = "an expected answer nests too deep";
                return Err(vec![Diagnostic::new(
                    Code::UnsupportedTest,
                    item.span,
                    message,
                )]);
            };
            expected.push(constants.text(value));
        }
        let column = answers.names().iter().position(|known| &**known == name);
        let mut found: Vec<(String, Term)> = Vec::new();
        let mut seen = BTreeSet::new();
        for (row, terms) in answers.iter().zip(answers.terms(goal.span)) {
            let cell = column.and_then(|column| row.get(column).cloned().zip(terms.get(column)));
            if let Some((text, term)) = cell
                && seen.insert(text.clone())
            {
                found.push((text, term.clone()));
            }
        }
        Ok(Listed { expected, found })
    }

    /// What Prolog finds for the variable `name`, in its order.
    fn in_order(&self, goal: &Term, name: &str) -> Result<Vec<String>, Faults> {
        let model = &self.runner.model;
        let mut constants = Constants::over(Arc::clone(&model.data.constants));
        let (rules, faults, names) = self.runner.data().goal_rules(goal, &mut constants);
        if !faults.is_empty() {
            return Err(faults);
        }
        let column = names.iter().position(|known| &**known == name);
        let (tabled, firings) = (&self.runner.tabled, self.runner.budget.firings);
        let mut prolog = Prolog::new(model, constants, tabled, firings);
        let rows = prolog
            .solutions(&rules)
            .map_err(|found| vec![at_goal(*found, goal)])?;
        let cells = rows
            .iter()
            .filter_map(|row| column.and_then(|column| row.get(column)));
        Ok(cells.map(|value| prolog.constants.text(*value)).collect())
    }

    fn query(&self, goal: &Term) -> Result<Answers, Faults> {
        self.runner.model.query_run(goal, self.test.inside)
    }

    /// Whether the goal holds. A goal without variables may also ask a predicate that only a probe can answer.
    fn ask(&self, goal: &Term) -> Result<bool, Faults> {
        let faults = match self.query(goal) {
            Ok(answers) => return Ok(answers.holds()),
            Err(faults) => faults,
        };
        if !terms::is_ground(goal) {
            return Err(faults);
        }
        match (&goal.kind, goal.functor()) {
            (TermKind::Conjunction(parts), _) => {
                for part in parts {
                    if !self.ask(part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (TermKind::Compound(name, args), _) if matches!(&**name, "\\+" | "not") => {
                match &**args {
                    [inner] => Ok(!self.ask(inner)?),
                    _ => Err(faults),
                }
            }
            (_, Some((name, arity))) if self.may_probe(&PredicateKey::new(name, arity)) => {
                let runner = self.runner;
                let model = Some(&runner.model);
                runner.rulebase.probe_term(goal, model, runner.budget)
            }
            _ => Err(faults),
        }
    }

    fn may_probe(&self, key: &PredicateKey) -> bool {
        let data = self.runner.data();
        let known = data.find(key).and_then(|id| data.predicates.get(id));
        known.is_some_and(|known| !known.private || self.test.inside)
            && self.runner.rulebase.is_permissive(key)
    }

    /// Takes in the proof of a goal that holds.
    fn cover(&mut self, goal: &Term) {
        let Some(used) = &mut self.used else {
            return;
        };
        let mut explainer = Explainer::new(&self.runner.model).inside_module(self.test.inside);
        if let Ok(Some(proof)) = explainer.why(&goal.to_string()) {
            used.take_in(&proof);
        }
    }

    fn failed(&self, message: String, holding: &[&Term], missing: &[&Term]) -> Verdict {
        Verdict::Failed(Box::new(Failure {
            message,
            explanations: self.explanations(holding, missing),
            ..Failure::default()
        }))
    }

    fn wrong(
        &self,
        message: &str,
        expected: Vec<String>,
        found: Vec<String>,
        holding: &[&Term],
        missing: &[&Term],
    ) -> Verdict {
        Verdict::Failed(Box::new(Failure {
            message: message.to_owned(),
            expected: Some(expected),
            found: Some(found),
            explanations: self.explanations(holding, missing),
        }))
    }

    fn explanations(&self, holding: &[&Term], missing: &[&Term]) -> Vec<Explanation> {
        let mut explainer = Explainer::new(&self.runner.model).inside_module(self.test.inside);
        let mut found = Vec::new();
        for goal in holding.iter().take(MAX_EXPLANATIONS) {
            let why = explainer.why(&goal.to_string()).ok().flatten();
            found.extend(why.map(Explanation::Why));
        }
        for goal in missing.iter().take(MAX_EXPLANATIONS) {
            let why_not = explainer.why_not(&goal.to_string()).ok().flatten();
            found.extend(why_not.map(Explanation::WhyNot));
        }
        found
    }
}

/// The finding as one about the goal, where it is one about a clause that the goal comes to.
fn at_goal(mut found: Diagnostic, goal: &Term) -> Diagnostic {
    let within = |at: Span| {
        at.source == goal.span.source && goal.span.start <= at.start && at.end <= goal.span.end
    };
    if within(found.span) {
        return found;
    }
    let place = std::mem::replace(&mut found.span, goal.span);
    found.label(place, "here")
}

/// The test with values in the place of the generator's variables.
fn instance(run: &Run, values: &BTreeMap<String, Term>) -> Run {
    let with = |term: &Term| terms::substitute(term, values);
    Run {
        goal: with(&run.goal),
        expects: match &run.expects {
            Expects::Success => Expects::Success,
            Expects::Failure => Expects::Failure,
            Expects::True(check) => Expects::True(with(check)),
            Expects::All(template, items) => Expects::All(with(template), items.clone()),
            Expects::Set(template, items) => Expects::Set(with(template), items.clone()),
        },
        conditions: run.conditions.iter().map(with).collect(),
        generator: None,
    }
}
