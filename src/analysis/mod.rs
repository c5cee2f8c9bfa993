//! From a parsed program to a rulebase: predicates over the whole file set, safety, the order rule,
//! stratification. Faults belong to predicates; whatever changes how files read refuses the whole set.
//!
//! Nothing here is evaluated, and no directive is run.

mod check;
mod declare;
mod directives;
mod goals;
pub(crate) mod graph;
mod lints;
pub(crate) mod near;
mod order;
mod predicate;
mod prolog;
mod recursion;
pub(crate) mod rule;
pub(crate) mod shape;
mod translate;

pub use lints::Silenced;

use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::program::{Facts, Program};
use crate::source::{Source, Sources};
use crate::syntax::Term;
use crate::value::{Constants, Value};
use check::Check;
use graph::Graph;
use predicate::Predicates;
use rule::{LiteralKind, PredicateId, Rule};
use std::sync::Arc;

/// All that checking a program found, and the rulebase if it can be loaded.
///
/// ```
/// use horngate::{Program, Rulebase, Source};
/// let program = Program::parse([Source::new("a.pl", "p(X) :- q(X). q(a). open(X).")]);
/// let checked = Rulebase::check(program);
/// assert_eq!(checked.diagnostics[0].predicate.as_deref(), Some("open/1"));
/// assert!(checked.rulebase.is_ok(), "p/1 and q/1 still load");
/// ```
#[derive(Debug)]
pub struct Checked {
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// Every error, fault, lint and note that the texts alone give rise to, in their order; also what comments
    /// silence. [`Checked::review`] says what there is to say in all.
    pub diagnostics: Vec<Diagnostic>,
    /// The comments that silence lints.
    pub(crate) silences: lints::Silences,
    /// The rulebase, or why the whole set is refused.
    pub rulebase: Result<Rulebase, Refused>,
}

/// A file set that is refused whole.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.summary())]
pub struct Refused {
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// The errors that refuse the set, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl Refused {
    fn summary(&self) -> String {
        let more = match self.diagnostics.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        match self.diagnostics.first() {
            Some(first) => format!(
                "{}:{}: {}{more}",
                self.sources.name(first.span),
                self.sources.start(first.span),
                first.message
            ),
            None => "the rules are refused".to_owned(),
        }
    }
}

/// The checked clauses of one or several files.
///
/// Faulty predicates are part of it, but cannot be evaluated, bound or queried, and neither can what depends
/// on them.
#[derive(Clone, Debug)]
pub struct Rulebase {
    pub(crate) data: Arc<Data>,
}

#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) sources: Sources,
    pub(crate) constants: Arc<Constants>,
    pub(crate) predicates: Predicates,
    pub(crate) rules: Vec<Rule>,
    /// The rules of each predicate, as positions in `rules`.
    pub(crate) rules_of: Vec<Vec<usize>>,
    /// The ground facts of each predicate.
    pub(crate) facts: Vec<Facts>,
    pub(crate) graph: Graph,
    /// For each predicate whether its slice has a fault.
    pub(crate) tainted: Vec<bool>,
    /// What each predicate needs from its callers.
    pub(crate) needs: Vec<order::Needs>,
    diagnostics: Vec<Diagnostic>,
}

impl Rulebase {
    /// Parses and checks sources.
    ///
    /// # Errors
    /// [`Refused`] when any text does not parse or would change how the set reads: then nothing is loaded.
    /// Faults of single predicates are no error here; see [`Rulebase::diagnostics`]. Accidents that are legal are not
    /// looked for; that is what [`Rulebase::check`] is for.
    ///
    /// ```
    /// use horngate::{Rulebase, Source};
    /// let error = Rulebase::load([
    ///     Source::new("deny.pl", "blocked(b.\n"),
    ///     Source::new("allow.pl", "p(a).\n"),
    /// ]).unwrap_err();
    /// assert!(error.to_string().starts_with("deny.pl:1:10: "));
    /// ```
    pub fn load(sources: impl IntoIterator<Item = Source>) -> Result<Self, Refused> {
        Self::without_lints(Program::parse(sources))
    }

    /// Checks a parsed program and says all there is to say about it.
    pub fn check(program: Program) -> Checked {
        Check::run(program, true)
    }

    /// Checks without looking for accidents that are legal.
    pub(crate) fn without_lints(program: Program) -> Result<Self, Refused> {
        Check::run(program, false).rulebase
    }

    /// The texts.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.data.sources
    }

    /// The faults and notes; and the lints, if it comes from [`Rulebase::check`].
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.data.diagnostics
    }

    /// The predicates that are defined: with a clause or a declaration, in order of appearance.
    pub fn predicates(&self) -> impl Iterator<Item = &PredicateKey> {
        self.data
            .predicates
            .iter()
            .filter(|(_, known)| known.is_defined())
            .map(|(_, known)| &known.key)
    }

    /// The atoms that the rules know as constants, unquoted, in no order that means anything.
    ///
    /// ```
    /// use horngate::{Rulebase, Source};
    /// let rulebase = Rulebase::load([Source::new("a.pl", "p('U:Qa'). q(X) :- p(X), X \\= b.")]).unwrap();
    /// let mut atoms: Vec<&str> = rulebase.atoms().collect();
    /// atoms.sort_unstable();
    /// assert_eq!(atoms, ["U:Qa", "b"]);
    /// ```
    pub fn atoms(&self) -> impl Iterator<Item = &str> {
        let constants = &self.data.constants;
        (0..constants.len()).filter_map(|at| constants.atom_text(Value(at)))
    }

    /// The predicates that `key` depends on, itself included, sorted; empty if it is not defined.
    #[must_use]
    pub fn slice(&self, key: &PredicateKey) -> Vec<&PredicateKey> {
        let data = &self.data;
        let root = data.predicates.find(key);
        let flags = data.graph.slice(root.into_iter());
        let mut keys: Vec<&PredicateKey> = data
            .predicates
            .iter()
            .filter(|(id, _)| flags.get(id.index()).copied().unwrap_or(false))
            .map(|(_, known)| &known.key)
            .collect();
        keys.sort();
        keys
    }

    /// The faults of all that `key` depends on, itself included, in the order of the texts.
    pub fn faults_of(&self, key: &PredicateKey) -> Vec<&Diagnostic> {
        let data = &self.data;
        let flags = data.graph.slice(data.predicates.find(key).into_iter());
        let mut faults: Vec<&Diagnostic> = data
            .predicates
            .iter()
            .filter(|(id, _)| flags.get(id.index()).copied().unwrap_or(false))
            .flat_map(|(_, known)| &known.faults)
            .collect();
        faults.sort_by(|a, b| a.by_place(b));
        faults
    }
}

impl Data {
    pub(crate) fn find(&self, key: &PredicateKey) -> Option<PredicateId> {
        let id = self.predicates.find(key)?;
        self.predicates.get(id)?.is_defined().then_some(id)
    }

    /// The rules of the predicates of a component.
    pub(crate) fn rules_of_component(&self, component: &[PredicateId]) -> Vec<&Rule> {
        component
            .iter()
            .filter_map(|id| self.rules_of.get(id.index()))
            .flatten()
            .filter_map(|at| self.rules.get(*at))
            .collect()
    }

    pub(crate) fn is_tainted(&self, id: PredicateId) -> bool {
        self.tainted.get(id.index()).copied().unwrap_or(true)
    }

    /// Judges the rules of a goal. A goal may leave open what a rule must bind: the answers are then Datalog's.
    pub(crate) fn judge_goal(&self, rules: &[Rule]) -> Vec<Diagnostic> {
        rules
            .iter()
            .flat_map(|rule| order::judge(rule, &[]).faults)
            .collect()
    }

    /// Judges the rules of a goal that Prolog runs as it stands, so that nothing is bound before. Then its solutions are
    /// those of Datalog.
    pub(crate) fn judge_run(&self, rules: &[Rule]) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        // Where the called predicate does arithmetic with what the call brings, only numbers are safe, and only where
        // they stand in the goal itself: see the checks of goals.
        for literal in rules.iter().flat_map(|rule| &rule.body) {
            let LiteralKind::Call(callee, args) = &literal.kind else {
                continue;
            };
            let Some(needs) = self.needs.get(callee.index()) else {
                continue;
            };
            let brought = |(need, arg): (&Option<_>, &rule::Pattern)| {
                need.is_some() && !matches!(arg, rule::Pattern::Constant(_))
            };
            if let Some(span) = needs.arithmetic
                && needs.bound.iter().zip(args).any(brought)
            {
                let message = "the called predicate does arithmetic with a variable of this goal";
                faults.push(
                    Diagnostic::new(Code::CallBoundOpen, literal.span, message)
                        .label(span, "Prolog may raise an error here that Datalog does not see")
                        .help("write the number itself, or move the tests in the called rule behind the literals that bind their variables"),
                );
            }
        }
        let without_arithmetic = |needs: &order::Needs| order::Needs {
            arithmetic: None,
            ..needs.clone()
        };
        let needs: Vec<order::Needs> = self.needs.iter().map(without_arithmetic).collect();
        for rule in rules {
            let alone = Rule {
                args: Box::default(),
                ..rule.clone()
            };
            faults.extend(order::judge(&alone, &needs).faults);
        }
        faults
    }

    /// Translates a goal over this rulebase; new constants go to `constants`.
    pub(crate) fn goal_rules(
        &self,
        goal: &Term,
        constants: &mut Constants,
    ) -> (Vec<Rule>, Vec<Diagnostic>, Vec<Box<str>>) {
        let id = PredicateId(u32::try_from(self.predicates.len()).unwrap_or(u32::MAX));
        let (translated, names) =
            translate::Translation::new(&self.predicates, constants).query(id, goal);
        (translated.rules, translated.faults, names)
    }
}

/// Whether a rule calls its own component.
pub(crate) fn is_recursive(rule: &Rule, graph: &Graph) -> bool {
    let own = graph.component_of(rule.head);
    let mut recursive = false;
    for literal in &rule.body {
        literal.each_call(&mut |callee, _, _| recursive |= graph.component_of(callee) == own);
    }
    recursive
}

/// Whether a literal can bind variables by itself.
pub(crate) fn is_call(kind: &LiteralKind) -> bool {
    matches!(kind, LiteralKind::Call(..))
}
