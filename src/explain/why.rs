//! Why something holds: one derivation, found from the conclusion down to the facts.
//!
//! Nothing was recorded for it while the model was derived, and nothing here adds to the model. What makes it end is
//! the order of derivation: among the premises of a step, those of its own component are older than its conclusion.

use super::given::{Given, GivenFacts};
use super::proof::{Claim, Draft, Proof};
use super::solve::{Older, Scope, Search};
use super::written::{self, Binding, Support, Writer};
use crate::analysis::rule::{Literal, LiteralKind, PredicateId, Rule};
use crate::analysis::{Data, is_recursive};
use crate::engine::relation::Birth;
use crate::engine::{Model, QueryError};
use crate::policy::Allowlist;
use crate::source::{Source, Sources, Span};
use crate::syntax::{self, Term};
use crate::value::{Constants, Value};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// How many more rows are looked at for a shorter derivation of one step, once there is one.
const REFINEMENT: u64 = 2_000;

/// Explains what a model has and what it has not. It keeps what it has looked up, so that the next explanation is
/// cheaper than the first.
///
/// ```
/// use horngate::{Budget, Rulebase, Source, explain::Explainer};
/// let rulebase = Rulebase::load([Source::new("a.pl", "p(a). q(X) :- p(X).")]).unwrap();
/// let model = rulebase.evaluate(&Budget::default()).unwrap();
/// let mut explainer = Explainer::new(&model);
/// assert_eq!(explainer.why("q(a)").unwrap().unwrap().steps().len(), 2);
/// assert!(explainer.why("q(b)").unwrap().is_none());
/// ```
pub struct Explainer<'m> {
    pub(super) model: &'m Model,
    pub(super) given: GivenFacts,
    /// The texts of the rules, if the model's own were not kept.
    texts: Option<Sources>,
    /// Goals may call what the rules' module does not export.
    pub(super) inside: bool,
}

/// Why there is no explanation.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// The goal cannot be answered.
    #[error(transparent)]
    Goal(#[from] QueryError),
    /// The model has what nothing derives, which is a fault of horngate's. It is no "no".
    #[error("`{0}` holds, but no derivation of it was found")]
    Unexplained(String),
}

/// Why the goal holds; `None` if it does not. See [`Explainer::why`].
///
/// # Errors
/// As [`Explainer::why`].
pub fn why(model: &Model, goal: &str) -> Result<Option<Proof>, ExplainError> {
    Explainer::new(model).why(goal)
}

impl std::fmt::Debug for Explainer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explainer").finish_non_exhaustive()
    }
}

impl<'m> Explainer<'m> {
    /// An explainer of the model.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        Self {
            model,
            given: GivenFacts::default(),
            texts: None,
            inside: false,
        }
    }

    /// As if goals stood in the file of the rules' module.
    pub(crate) fn inside_module(mut self, inside: bool) -> Self {
        self.inside = inside;
        self
    }

    /// With the texts of the rules, read again, for a model of rules that were loaded piece by piece
    /// ([`crate::Loader::with_places`]). Texts that are not those that were loaded are left aside.
    #[must_use]
    pub fn with_texts(mut self, texts: &Sources) -> Self {
        let mut kept = self.data().sources.iter();
        let same = kept.all(|(id, source)| {
            let read = texts.get(id);
            read.is_some_and(|read| read.is_same_text(source))
        });
        self.texts = same.then(|| texts.clone());
        self
    }

    fn texts(&self) -> &Sources {
        self.texts.as_ref().unwrap_or(&self.data().sources)
    }

    /// Why the goal holds; `None` if it does not. Of a goal with variables the first solution is explained, in the
    /// order of [`crate::Answers::solutions`].
    ///
    /// The derivation is well-founded and, as far as that costs little, a short one: a fact is its own reason, and of
    /// the derivations of a tuple that one is taken whose premises were derived first. For a closure that is a path
    /// with the fewest edges. No tuple is derived twice.
    ///
    /// # Errors
    /// [`ExplainError`] if the goal cannot be answered: see [`Model::query`].
    pub fn why(&mut self, goal: &str) -> Result<Option<Proof>, ExplainError> {
        let answers = self.model.query_as(goal, self.inside)?;
        let Some(first) = answers.first() else {
            return Ok(None);
        };
        let (term, rules, constants) = self.parsed(goal, answers.constants())?;
        let mut search = Search::new(self.model, constants);
        let goal = goal.trim();
        let proof = match single_call(&mut search, &rules, &first) {
            Some((predicate, row)) => self.tuple(search, goal.to_owned(), predicate, row),
            None => rules
                .iter()
                .find_map(|rule| self.goal(&mut search, goal, &term, rule, &first)),
        };
        let unexplained = || ExplainError::Unexplained(goal.to_owned());
        proof.map(Some).ok_or_else(unexplained)
    }

    /// The goal as a term and as rules, with a pool that knows its constants.
    pub(super) fn parsed(
        &self,
        goal: &str,
        constants: &Constants,
    ) -> Result<(Term, Vec<Rule>, Constants), QueryError> {
        let mut sources = self.data().sources.clone();
        let source = Source::new("goal", goal);
        let id = sources.push(source.clone());
        let term = syntax::parse_goal(id, &source).map_err(|diagnostics| QueryError {
            sources,
            diagnostics,
        })?;
        let mut constants = constants.clone();
        let (rules, _, _) = self.data().goal_rules(&term, &mut constants);
        Ok((term, rules, constants))
    }

    pub(super) fn data(&self) -> &'m Data {
        &self.model.rulebase().data
    }

    /// Why the allowlist allows; `None` if it does not, or if it is not one of this explainer's model.
    ///
    /// # Errors
    /// [`ExplainError::Unexplained`], which should not be.
    ///
    /// ```
    /// use horngate::{Allowlist, Budget, Rulebase, Source, explain::Explainer};
    /// let rules = "may_execute_tool('U:Qa', tool_repl).";
    /// let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
    /// let model = rulebase.evaluate(&Budget::default()).unwrap();
    /// let gate = Allowlist::bind(&model, "may_execute_tool/2").unwrap();
    /// let mut explainer = Explainer::new(gate.model());
    /// let proof = explainer.why_allowed(&gate, "U:Qa", "repl").unwrap().unwrap();
    /// assert_eq!(proof.goal(), "may_execute_tool('U:Qa',tool_repl)");
    /// assert!(explainer.why_allowed(&gate, "U:Qa", "shell").unwrap().is_none());
    /// ```
    pub fn why_allowed(
        &mut self,
        allowlist: &Allowlist,
        actor: &str,
        tool: &str,
    ) -> Result<Option<Proof>, ExplainError> {
        let Some((predicate, row, constants)) = self.pair(allowlist, actor, tool) else {
            return Ok(None);
        };
        if !allowlist.decide(actor, tool).is_allow() {
            return Ok(None);
        }
        let search = Search::new(self.model, constants);
        let goal = written::fact(self.data(), &search.constants, predicate, &row);
        let proof = self.tuple(search, goal.clone(), predicate, row.into());
        proof.map(Some).ok_or(ExplainError::Unexplained(goal))
    }

    fn tuple(
        &mut self,
        search: Search<'m>,
        goal: String,
        predicate: PredicateId,
        row: Box<[Value]>,
    ) -> Option<Proof> {
        let mut derivation = Derivation::new(self, search);
        let root = derivation.node(predicate, row);
        derivation.complete()?;
        let texts = derivation.explainer.texts();
        derivation.draft.finish(goal, root, texts)
    }

    /// Why a goal holds that is more than one call, by one of its alternatives.
    fn goal(
        &mut self,
        search: &mut Search<'m>,
        goal: &str,
        term: &Term,
        rule: &Rule,
        first: &[Value],
    ) -> Option<Proof> {
        let mut binding: Binding = vec![None; rule.variables.len()];
        if !search.matches_row(&rule.args, first, &mut binding) {
            return None;
        }
        let scope = Scope::new(rule, None);
        let mut holds = None;
        let _ = search.solve(&scope, &rule.body, &binding, &mut |_, binding| {
            holds = Some(binding.clone());
            ControlFlow::Break(())
        });
        let binding = holds?;
        let claim = written::instance(term, rule, &binding, &search.constants);
        let own = Search::new(self.model, search.constants.clone());
        let mut derivation = Derivation::new(self, own);
        let root = derivation.draft.push(Claim::Fact(claim), None);
        let because = derivation.premises(&scope, &rule.body, &binding)?;
        derivation.draft.nodes.get_mut(root)?.because = because;
        derivation.complete()?;
        let texts = derivation.explainer.texts();
        derivation.draft.finish(goal.to_owned(), root, texts)
    }
}

/// The tuple that the goal is about, if it is one call.
fn single_call(
    search: &mut Search<'_>,
    rules: &[Rule],
    first: &[Value],
) -> Option<(PredicateId, Box<[Value]>)> {
    let [rule] = rules else { return None };
    let [literal] = &*rule.body else { return None };
    let LiteralKind::Call(callee, args) = &literal.kind else {
        return None;
    };
    let mut binding: Binding = vec![None; rule.variables.len()];
    if !search.matches_row(&rule.args, first, &mut binding) {
        return None;
    }
    // What is left are `_` and its like: any tuple will do.
    let known: Vec<Option<Value>> = args.iter().map(|arg| search.value(arg, &binding)).collect();
    let mut least: Option<Box<[Value]>> = None;
    let model = search.model;
    let _ = model.matching(*callee, &known, &mut |_, row| {
        let less = |least: &[Value]| {
            let pairs = row.iter().zip(least);
            pairs
                .map(|(a, b)| search.constants.compare(*a, *b))
                .find(|order| order.is_ne())
                .is_some_and(std::cmp::Ordering::is_lt)
        };
        if search.matches_row(args, row, &mut binding.clone()) && least.as_deref().is_none_or(less)
        {
            least = Some(row.into());
        }
        ControlFlow::Continue(())
    });
    Some((*callee, least?))
}

/// A derivation under way: the nodes so far, and which of them are not explained yet.
struct Derivation<'e, 'm> {
    explainer: &'e mut Explainer<'m>,
    search: Search<'m>,
    draft: Draft,
    nodes: HashMap<(PredicateId, Box<[Value]>), usize>,
    pending: Vec<(usize, PredicateId, Box<[Value]>)>,
}

/// How good a derivation is; the least is the best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// The birth of the youngest premise of the same component.
    own: Option<Birth>,
    /// How many premises are derived themselves.
    derived: usize,
    /// The births of these.
    births: Vec<Birth>,
}

impl<'e, 'm> Derivation<'e, 'm> {
    fn new(explainer: &'e mut Explainer<'m>, search: Search<'m>) -> Self {
        Self {
            explainer,
            search,
            draft: Draft::default(),
            nodes: HashMap::new(),
            pending: Vec::new(),
        }
    }

    /// The node of a tuple, a new one if it has none.
    fn node(&mut self, predicate: PredicateId, row: Box<[Value]>) -> usize {
        let key = (predicate, row);
        if let Some(node) = self.nodes.get(&key) {
            return *node;
        }
        let data = self.explainer.data();
        let text = written::fact(data, &self.search.constants, predicate, &key.1);
        let node = self.draft.push(Claim::Fact(text), None);
        self.pending.push((node, predicate, key.1.clone()));
        self.nodes.insert(key, node);
        node
    }

    /// Explains every node; `None` if that cannot be, which would be a fault of the model.
    fn complete(&mut self) -> Option<()> {
        while let Some((node, predicate, row)) = self.pending.pop() {
            let (clause, because) = self.explain(predicate, &row)?;
            let slot = self.draft.nodes.get_mut(node)?;
            (slot.clause, slot.because) = (clause, because);
        }
        Some(())
    }

    fn explain(
        &mut self,
        predicate: PredicateId,
        row: &[Value],
    ) -> Option<(Option<Span>, Vec<usize>)> {
        let model = self.explainer.model;
        if let Some(Given { clause }) = self.explainer.given.find(model, predicate, row) {
            return Some((clause, Vec::new()));
        }
        let data = self.explainer.data();
        let component = data.graph.component_of(predicate);
        let rules = data.rules_of.get(predicate.index())?;
        let rules: Vec<&'m Rule> = rules.iter().filter_map(|at| data.rules.get(*at)).collect();
        let older = match rules.iter().any(|rule| is_recursive(rule, &data.graph)) {
            true => Some(Older {
                component,
                birth: self.search.birth(predicate, row)?,
            }),
            false => None,
        };
        let mut best: Option<(Rank, &'m Rule, Binding)> = None;
        for rule in rules {
            let mut binding: Binding = vec![None; rule.variables.len()];
            if !self.search.matches_row(&rule.args, row, &mut binding) {
                continue;
            }
            let scope = Scope::new(rule, older);
            self.search.fuel = best.is_some().then_some(REFINEMENT);
            let given = &mut self.explainer.given;
            let _ = self
                .search
                .solve(&scope, &rule.body, &binding, &mut |search, binding| {
                    search.fuel.get_or_insert(REFINEMENT);
                    if let Some(rank) = rank(search, given, component, rule, binding)
                        && best.as_ref().is_none_or(|(known, ..)| rank < *known)
                    {
                        best = Some((rank, rule, binding.clone()));
                    }
                    ControlFlow::Continue(())
                });
        }
        self.search.fuel = None;
        let (_, rule, binding) = best?;
        let because = self.premises(&Scope::new(rule, None), &rule.body, &binding)?;
        Some((Some(rule.span), because))
    }

    /// The nodes that the literals of a body come to under a binding that satisfies them.
    fn premises(
        &mut self,
        scope: &Scope<'_>,
        body: &[Literal],
        binding: &Binding,
    ) -> Option<Vec<usize>> {
        let mut nodes = Vec::new();
        for literal in body {
            let writer = Writer {
                data: self.explainer.data(),
                constants: &self.search.constants,
                rule: scope.rule,
                binding,
            };
            let claim = match written::support(literal) {
                Support::Fact(callee, args) => {
                    let row: Option<Box<[Value]>> = args
                        .iter()
                        .map(|arg| self.search.value(arg, binding))
                        .collect();
                    nodes.push(self.node(callee, row?));
                    continue;
                }
                Support::Witness(bodies) => {
                    nodes.extend(self.witness(scope, bodies, binding)?);
                    continue;
                }
                Support::Absence(bodies) => Claim::Absent(writer.absent(bodies).to_string()),
                Support::Test | Support::ClosedTest => {
                    Claim::Test(written::test(&writer.literal(literal)))
                }
            };
            nodes.push(self.draft.push(claim, None));
        }
        Some(nodes)
    }

    /// The premises of the first alternative that holds.
    fn witness(
        &mut self,
        scope: &Scope<'_>,
        bodies: &[Vec<Literal>],
        binding: &Binding,
    ) -> Option<Vec<usize>> {
        for body in bodies {
            let mut holds = None;
            let _ = self.search.solve(scope, body, binding, &mut |_, binding| {
                holds = Some(binding.clone());
                ControlFlow::Break(())
            });
            if let Some(binding) = holds {
                return self.premises(scope, body, &binding);
            }
        }
        None
    }
}

/// How good a derivation by the rule under the binding is; `None` if a premise is not there.
fn rank(
    search: &mut Search<'_>,
    given: &mut GivenFacts,
    component: u32,
    rule: &Rule,
    binding: &Binding,
) -> Option<Rank> {
    let model = search.model;
    let data = &model.rulebase().data;
    let mut rank = Rank {
        own: None,
        derived: 0,
        births: Vec::new(),
    };
    for literal in &rule.body {
        let LiteralKind::Call(callee, args) = &literal.kind else {
            continue;
        };
        if data.rules_of.get(callee.index()).is_none_or(Vec::is_empty) {
            continue;
        }
        let row: Option<Vec<Value>> = args.iter().map(|arg| search.value(arg, binding)).collect();
        let row = row?;
        let birth = search.birth(*callee, &row)?;
        if data.graph.component_of(*callee) == component {
            rank.own = rank.own.max(Some(birth));
        }
        if given.find(model, *callee, &row).is_none() {
            rank.derived += 1;
            rank.births.push(birth);
        }
    }
    Some(rank)
}
