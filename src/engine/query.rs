//! Goals: all solutions over a model.
//!
//! A goal never changes the model, and one that cannot be answered is an error, not "no".

use super::Model;
use super::evaluate::{Evaluator, Failure, Member};
use super::relation::Relation;
use crate::analysis::rule::{LiteralKind, Pattern, PredicateId, Rule};
use crate::analysis::{Data, Rulebase};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Facts;
use crate::source::{Source, Sources, Span};
use crate::syntax::{self, Term};
use crate::value::{Constant, Constants, Value};
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

/// The solutions of a goal.
#[derive(Clone, Debug)]
pub struct Answers {
    names: Vec<Box<str>>,
    constants: Constants,
    /// The rows, and for each name its column.
    relation: Arc<Relation>,
    columns: Vec<usize>,
    /// The rows in the order of solutions, once that was asked for.
    order: OnceLock<Box<[u32]>>,
}

/// A goal that cannot be answered.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.summary())]
pub struct QueryError {
    /// The rule texts, and last the goal's.
    pub sources: Sources,
    /// Why, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl QueryError {
    fn summary(&self) -> String {
        self.diagnostics
            .first()
            .map_or_else(|| "no answer".to_owned(), |first| first.message.clone())
    }
}

impl Answers {
    /// Whether there is a solution.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.count() > 0
    }

    /// How many solutions there are, without duplicates.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::from(self.relation.len())
    }

    /// The names of the goal's variables in order of appearance; those that start with `_` are left out.
    #[must_use]
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }

    /// The solutions, sorted by the standard order of terms: for each name the constant as `writeq` writes it.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source};
    /// let rulebase = Rulebase::load([Source::new("a.pl", "p('U:Qa'). p(b).")]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// let answers = model.query("p(X)").unwrap();
    /// assert_eq!(answers.solutions(), [["'U:Qa'"], ["b"]]);
    /// ```
    #[must_use]
    pub fn solutions(&self) -> Vec<Vec<String>> {
        self.iter().collect()
    }

    /// The solutions one by one, in the order of [`Answers::solutions`], with room for no more than one at a time.
    /// They are sorted when this is first called.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source};
    /// let rulebase = Rulebase::load([Source::new("a.pl", "p(c). p(b).")]).unwrap();
    /// let answers = rulebase.query("p(X)", &Budget::default()).unwrap();
    /// assert_eq!(answers.iter().next().unwrap(), ["b"]);
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Vec<String>> {
        self.order.get_or_init(|| self.sorted()).iter().map(|at| {
            let row = self.relation.row(*at);
            let cells = self.columns.iter().filter_map(|column| row.get(*column));
            cells.map(|value| self.constants.text(*value)).collect()
        })
    }

    /// The positions of the rows, sorted.
    fn sorted(&self) -> Box<[u32]> {
        let mut order: Box<[u32]> = self.relation.positions().collect();
        order.sort_unstable_by(|a, b| self.compare(self.relation.row(*a), self.relation.row(*b)));
        order
    }

    /// Compares two rows by the columns of the names.
    fn compare(&self, a: &[Value], b: &[Value]) -> Ordering {
        self.columns
            .iter()
            .filter_map(|column| a.get(*column).zip(b.get(*column)))
            .map(|(x, y)| self.constants.compare(*x, *y))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The solutions as terms, in the order of [`Answers::solutions`].
    pub(crate) fn terms(&self, span: Span) -> impl Iterator<Item = Vec<Term>> {
        self.order
            .get_or_init(|| self.sorted())
            .iter()
            .map(move |at| {
                let row = self.relation.row(*at);
                let cells = self.columns.iter().filter_map(|column| row.get(*column));
                cells
                    .map(|value| self.constants.term(*value, span))
                    .collect()
            })
    }

    /// The values of the first solution, in the order of the names.
    pub(crate) fn first(&self) -> Option<Vec<Value>> {
        let row = self.relation.rows().min_by(|a, b| self.compare(a, b))?;
        let cells = self.columns.iter();
        Some(
            cells
                .filter_map(|column| row.get(*column).copied())
                .collect(),
        )
    }

    /// The pool that the values of [`Answers::first`] are of.
    pub(crate) fn constants(&self) -> &Constants {
        &self.constants
    }
}

impl Model {
    /// All solutions of a goal, as in `may_execute_tool(Who, tool_repl), \+ blocked(Who)`.
    ///
    /// # Errors
    /// [`QueryError`] when the goal does not parse, is not safe, calls what is not defined or has no model, or
    /// costs more than the budget that the model was derived with.
    ///
    /// ```
    /// use horngate::{Budget, Rulebase, Source};
    /// let rulebase = Rulebase::load([Source::new("a.pl", "p(a). p(b). q(b).")]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// assert_eq!(model.query("p(X), \\+ q(X)").unwrap().solutions(), [["a"]]);
    /// assert!(model.query("r(X)").is_err());
    /// ```
    pub fn query(&self, goal: &str) -> Result<Answers, QueryError> {
        self.query_as(goal, false)
    }

    /// The same; `inside`: as if the goal stood in the file of the rules' module.
    pub(crate) fn query_as(&self, goal: &str, inside: bool) -> Result<Answers, QueryError> {
        let mut asked = Asked::over(&self.data.rulebase, &self.data.constants, goal)?;
        asked.inside = inside;
        match self.answer(&asked) {
            Ok((constants, relation, columns)) => Ok(Answers {
                columns,
                ..asked.answers(constants, relation)
            }),
            Err(diagnostics) => Err(asked.refused(diagnostics)),
        }
    }

    /// The same of a goal that was read with the rules and that Prolog runs as it stands, so that its solutions must not
    /// depend on what is bound before. `inside`: it stands in the file of their module, so that it may call what that
    /// does not export.
    pub(crate) fn query_run(&self, goal: &Term, inside: bool) -> Result<Answers, Vec<Diagnostic>> {
        let mut constants = Constants::over(Arc::clone(&self.data.constants));
        let data = &self.data.rulebase.data;
        let (rules, faults, names) = data.goal_rules(goal, &mut constants);
        if !faults.is_empty() {
            return Err(faults);
        }
        let asked = Asked {
            sources: Sources::default(),
            span: goal.span,
            rules,
            names,
            constants,
            inside,
        };
        let (constants, relation, columns) = self.answer(&asked)?;
        let faults = data.judge_run(&asked.rules);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Answers {
            columns,
            ..asked.answers(constants, relation)
        })
    }

    /// The rows that answer a goal, and the column of each of its names.
    fn answer(&self, asked: &Asked) -> Result<Answered, Vec<Diagnostic>> {
        let data = &self.data.rulebase.data;
        self.check_calls(&asked.rules, asked.inside)?;
        let faults = asked.calls_that_compute(data);
        if !faults.is_empty() {
            return Err(faults);
        }
        let faults = data.judge_goal(&asked.rules);
        if !faults.is_empty() {
            return Err(faults);
        }
        let constants = asked.constants.clone();
        if let Some((id, columns)) = whole_relation(&asked.rules)
            && let Some(relation) = self.data.relations.get(id.index())
        {
            return Ok((constants, Arc::clone(relation), columns));
        }
        let goal = PredicateId(u32::try_from(self.data.relations.len()).unwrap_or(u32::MAX));
        let mut relations = self.data.relations.clone();
        relations.push(Arc::new(Relation::new(asked.names.len())));
        let name_of = |id| {
            if id == goal {
                "the goal".to_owned()
            } else {
                data.predicates.key(id).to_string()
            }
        };
        let evaluator = match names_constants(&asked.rules) {
            true => Evaluator::over_model,
            false => Evaluator::new,
        };
        let mut evaluator = evaluator(constants, relations, &self.data.budget, &name_of);
        let member = Member {
            id: goal,
            arity: asked.names.len(),
            facts: &Facts::default(),
        };
        let rules: Vec<&Rule> = asked.rules.iter().collect();
        evaluator
            .component(&[member], &rules)
            .map_err(|failure| vec![failed(failure, asked.span)])?;
        let (constants, mut relations) = evaluator.finish();
        let relation = relations.pop().unwrap_or_default();
        Ok((constants, relation, (0..asked.names.len()).collect()))
    }

    /// Refuses a goal that calls what cannot be answered.
    fn check_calls(&self, rules: &[Rule], inside: bool) -> Result<(), Vec<Diagnostic>> {
        let data = &self.data.rulebase.data;
        let mut found: Vec<Diagnostic> = Vec::new();
        for literal in rules.iter().flat_map(|rule| &rule.body) {
            literal.each_call(&mut |callee, _, span| {
                let Some(known) = data.predicates.get(callee) else {
                    return;
                };
                if known.private && !inside {
                    found.push(
                        Diagnostic::new(
                            Code::PrivateCall,
                            span,
                            format!("`{}` is private to the module that defines it", known.key),
                        )
                        .help("add it to the module's export list"),
                    );
                } else if let Some(faults) = self.refusal(callee) {
                    found.extend(faults);
                }
            });
        }
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}

type Answered = (Constants, Arc<Relation>, Vec<usize>);

/// A goal that was read: its rules, over the numbers of a rulebase's predicates and constants.
pub(super) struct Asked {
    /// The rule texts, and last the goal's.
    sources: Sources,
    span: Span,
    pub(super) rules: Vec<Rule>,
    names: Vec<Box<str>>,
    /// The constants that it is over, and its own.
    pub(super) constants: Constants,
    /// It may call what the module does not export.
    inside: bool,
}

impl Asked {
    /// Reads a goal.
    pub(super) fn over(
        rulebase: &Rulebase,
        constants: &Arc<Constants>,
        goal: &str,
    ) -> Result<Self, QueryError> {
        let data = &rulebase.data;
        let mut sources = data.sources.clone();
        let source = Source::new("goal", goal);
        let id = sources.push(source.clone());
        let mut constants = Constants::over(Arc::clone(constants));
        let read = syntax::parse_goal(id, &source).and_then(|term| {
            let (rules, faults, names) = data.goal_rules(&term, &mut constants);
            if faults.is_empty() {
                Ok((term.span, rules, names))
            } else {
                Err(faults)
            }
        });
        match read {
            Ok((span, rules, names)) => Ok(Self {
                sources,
                span,
                rules,
                names,
                constants,
                inside: false,
            }),
            Err(diagnostics) => Err(QueryError {
                sources,
                diagnostics,
            }),
        }
    }

    pub(super) fn refused(self, diagnostics: Vec<Diagnostic>) -> QueryError {
        QueryError {
            sources: self.sources,
            diagnostics,
        }
    }

    /// The answers that stand in the rows of the goal's own predicate.
    pub(super) fn answers(self, constants: Constants, relation: Arc<Relation>) -> Answers {
        Answers {
            columns: (0..self.names.len()).collect(),
            names: self.names,
            constants,
            relation,
            order: OnceLock::new(),
        }
    }

    /// The predicates that it calls.
    pub(super) fn callees(&self) -> Vec<PredicateId> {
        let mut callees = Vec::new();
        for literal in self.rules.iter().flat_map(|rule| &rule.body) {
            literal.each_call(&mut |callee, _, _| callees.push(callee));
        }
        callees
    }

    /// Whether nothing but an evaluation can refuse it.
    pub(super) fn is_clean(&self, data: &Data) -> bool {
        let answerable = |id: PredicateId| {
            let known = data.predicates.get(id);
            known.is_some_and(|known| !known.private) && !data.is_tainted(id)
        };
        self.callees().into_iter().all(answerable)
            && self.calls_that_compute(data).is_empty()
            && data.judge_goal(&self.rules).is_empty()
    }

    /// Where Prolog may raise an error that Datalog does not see: a call of a predicate that does arithmetic with what
    /// the call brings, with something that is no number or under a negation.
    fn calls_that_compute(&self, data: &Data) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for literal in self.rules.iter().flat_map(|rule| &rule.body) {
            literal.each_call(&mut |callee, negative, span| {
                let Some(needs) = data.needs.get(callee.index()) else {
                    return;
                };
                let no_number = |pattern: &Pattern| match pattern {
                    Pattern::Constant(value) => {
                        let number = matches!(
                            self.constants.get(*value),
                            Constant::Integer(_) | Constant::Float(_)
                        );
                        needs.computes || !number
                    }
                    Pattern::Variable(_) => false,
                    Pattern::Compound(..) => true,
                };
                let brought = match &literal.kind {
                    LiteralKind::Call(_, args) => args
                        .iter()
                        .zip(&needs.bound)
                        .any(|(arg, need)| need.is_some() && no_number(arg)),
                    _ => true,
                };
                if needs.arithmetic.is_some() && (negative || brought) {
                    let key = data.predicates.key(callee);
                    found.push(
                        Diagnostic::new(
                            Code::Evaluation,
                            span,
                            format!("`{key}` does arithmetic with what the call brings, where Prolog may raise an error"),
                        )
                        .help("move the tests in its rules behind the literals that bind their variables"),
                    );
                }
            });
        }
        found
    }
}

fn failed(failure: Failure, goal: Span) -> Diagnostic {
    match failure {
        Failure::Evaluation(span, message) => Diagnostic::new(Code::Evaluation, span, message),
        Failure::Budget(mut exceeded) => {
            exceeded.span = goal;
            exceeded.diagnostic()
        }
    }
}

/// Whether a call of the goal names a constant: few tuples are wanted then.
fn names_constants(rules: &[Rule]) -> bool {
    rules
        .iter()
        .flat_map(|rule| &rule.body)
        .any(|literal| match &literal.kind {
            LiteralKind::Call(_, args) => {
                args.iter().any(|arg| matches!(arg, Pattern::Constant(_)))
            }
            _ => false,
        })
}

/// The relation that is the answer as it stands: the goal is one call with different variables. The columns are
/// in the order of the names.
fn whole_relation(rules: &[Rule]) -> Option<(PredicateId, Vec<usize>)> {
    let [rule] = rules else { return None };
    let [literal] = &*rule.body else { return None };
    let LiteralKind::Call(id, args) = &literal.kind else {
        return None;
    };
    if rule.args.len() != args.len() {
        return None;
    }
    let columns: Option<Vec<usize>> = rule
        .args
        .iter()
        .map(|wanted| {
            let mut places = args.iter().enumerate().filter(|(_, arg)| *arg == wanted);
            match (places.next(), places.next()) {
                (Some((column, Pattern::Variable(_))), None) => Some(column),
                _ => None,
            }
        })
        .collect();
    Some((*id, columns?))
}
