//! From a parsed program to a rulebase: predicates over the whole file set, safety, the order rule,
//! stratification. Faults belong to predicates; whatever changes how files read refuses the whole set.
//!
//! Nothing here is evaluated, and no directive is run.

mod declare;
mod goals;
mod graph;
mod lints;
pub(crate) mod near;
mod order;
mod predicate;
mod prolog;
mod recursion;
pub(crate) mod rule;
mod translate;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::program::Program;
use crate::source::{Source, SourceId, Sources, Span};
use crate::syntax::{Clause, ClauseKind, Term};
use crate::value::{Constants, Value};
use declare::Declared;
use graph::{Edge, Graph};
use order::Needs;
use predicate::Predicates;
use rule::{LiteralKind, PredicateId, PredicateKey, Rule};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The ground facts of one predicate, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Row after row.
    pub(crate) values: Vec<Value>,
    /// How many rows there are.
    pub(crate) count: usize,
    /// The clause of each row; empty when the text was not kept.
    pub(crate) spans: Vec<Span>,
}

impl Facts {
    fn take_in(&mut self, other: Self) {
        if self.count == 0 {
            *self = other;
        } else {
            self.values.extend(other.values);
            self.count += other.count;
            self.spans.extend(other.spans);
        }
    }

    /// The rows; of a predicate without arguments as many empty ones as it has facts.
    pub(crate) fn rows(&self, arity: usize) -> impl Iterator<Item = &[Value]> {
        (0..self.count)
            .map(move |at| self.values.get(at * arity..(at + 1) * arity).unwrap_or(&[]))
    }
}

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
    /// Every error, fault, lint and note, in the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
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
    diagnostics: Vec<Diagnostic>,
}

impl Rulebase {
    /// Parses and checks sources.
    ///
    /// # Errors
    /// [`Refused`] when any text does not parse or would change how the set reads: then nothing is loaded.
    /// Faults of single predicates are no error here; see [`Rulebase::diagnostics`].
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
        Self::check(Program::parse(sources)).rulebase
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

    /// The faults, lints and notes.
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

    /// The faults of all that `key` depends on, itself included.
    pub fn faults_of(&self, key: &PredicateKey) -> Vec<&Diagnostic> {
        let data = &self.data;
        let flags = data.graph.slice(data.predicates.find(key).into_iter());
        data.predicates
            .iter()
            .filter(|(id, _)| flags.get(id.index()).copied().unwrap_or(false))
            .flat_map(|(_, known)| &known.faults)
            .collect()
    }
}

impl Data {
    pub(crate) fn find(&self, key: &PredicateKey) -> Option<PredicateId> {
        let id = self.predicates.find(key)?;
        self.predicates.get(id)?.is_defined().then_some(id)
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

/// One run over a program.
struct Check {
    predicates: Predicates,
    constants: Constants,
    rules: Vec<Rule>,
    facts: Vec<Facts>,
    /// Errors of the whole set, lints and notes.
    diagnostics: Vec<Diagnostic>,
    /// The clauses that have a fault: what else they seem to lack may only follow from it.
    faulty: HashSet<Span>,
}

impl Check {
    fn run(mut program: Program, lint: bool) -> Checked {
        let (constants, tables) = program.take_rows();
        let Declared {
            predicates,
            clauses,
            tables: predicates_of_tables,
            module,
            diagnostics,
        } = declare::declare(&program, &tables);
        let mut check = Self {
            facts: vec![Facts::default(); predicates.len()],
            predicates,
            constants,
            rules: Vec::new(),
            diagnostics: program.diagnostics().to_vec(),
            faulty: HashSet::new(),
        };
        check.diagnostics.extend(diagnostics);
        for (id, table) in predicates_of_tables.into_iter().zip(tables) {
            if let Some(facts) = check.facts.get_mut(id.index()) {
                facts.take_in(table.facts);
            }
        }
        for (id, clause) in &clauses {
            check.clause(*id, clause);
        }
        check.split_definitions();
        if let Some(module) = module {
            check.private_calls(module);
        }
        let graph = check.graph();
        check.order(&graph);
        recursion::check(&graph, &check.rules, &mut check.predicates);
        let faulty = check
            .predicates
            .iter()
            .filter(|(_, known)| !known.faults.is_empty())
            .map(|(id, _)| id);
        let tainted = graph.tainted(faulty);
        let mut rules_of = vec![Vec::new(); check.predicates.len()];
        for (at, rule) in check.rules.iter().enumerate() {
            if let Some(list) = rules_of.get_mut(rule.head.index()) {
                list.push(at);
            }
        }
        if lint {
            let lints = lints::all(&lints::Subject {
                program: &program,
                clauses: &clauses,
                predicates: &check.predicates,
                facts: &check.facts,
                constants: &check.constants,
                faulty: &check.faulty,
            });
            check.diagnostics.extend(lints);
        }
        let faults = check.predicates.iter().flat_map(|(_, known)| &known.faults);
        let mut diagnostics: Vec<Diagnostic> =
            faults.chain(&check.diagnostics).cloned().collect();
        diagnostics.sort_by_key(|found| (found.span, found.code));
        let sources = program.sources().clone();
        let whole: Vec<Diagnostic> = diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error && found.predicate.is_none())
            .cloned()
            .collect();
        let rulebase = if whole.is_empty() {
            Ok(Rulebase {
                data: Arc::new(Data {
                    sources: sources.clone(),
                    constants: Arc::new(check.constants),
                    predicates: check.predicates,
                    rules: check.rules,
                    rules_of,
                    facts: check.facts,
                    graph,
                    tainted,
                    diagnostics: diagnostics.clone(),
                }),
            })
        } else {
            Err(Refused {
                sources: sources.clone(),
                diagnostics: whole,
            })
        };
        Checked {
            sources,
            diagnostics,
            rulebase,
        }
    }

    fn clause(&mut self, id: PredicateId, clause: &Clause) {
        let (head, body) = match &clause.kind {
            ClauseKind::Fact(head) => (head, None),
            ClauseKind::Rule(head, body) => (head, Some(body)),
            ClauseKind::Grammar(..) => {
                return self.other_rule(id, clause, "a grammar rule (`-->`)");
            }
            ClauseKind::SingleSided(..) => {
                return self.other_rule(id, clause, "a single-sided unification rule (`=>`)");
            }
            ClauseKind::Directive(_) | ClauseKind::Query(_) => return,
        };
        if body.is_none()
            && let Some(row) = self.ground(head.args())
        {
            if let Some(facts) = self.facts.get_mut(id.index()) {
                facts.values.extend(row);
                facts.spans.push(clause.span);
                facts.count += 1;
            }
            return;
        }
        let translated = translate::Translation::new(&self.predicates, &mut self.constants)
            .clause(id, head, body, clause.span);
        if !translated.faults.is_empty() {
            self.faulty.insert(clause.span);
        }
        for mut fault in translated.faults {
            if fault.code == Code::DirectiveInBody {
                // The clause whose dot is missing is the place to look at.
                let place = fault.span;
                fault = fault.label(place, "read as part of the clause's body");
                fault.span = head.span;
            }
            self.predicates.fault(id, fault);
        }
        self.rules.extend(translated.rules);
    }

    fn ground(&mut self, args: &[Term]) -> Option<Vec<Value>> {
        args.iter()
            .map(|arg| self.constants.intern(arg).ok().flatten())
            .collect()
    }

    fn other_rule(&mut self, id: PredicateId, clause: &Clause, what: &str) {
        let fault = Diagnostic::new(
            Code::OtherRule,
            clause.span,
            format!("{what} is not supported"),
        )
        .help("write rules with `:-`");
        self.predicates.fault(id, fault);
    }

    /// Clauses in two files, which SWI-Prolog lets the second file replace.
    fn split_definitions(&mut self) {
        let ids: Vec<PredicateId> = self.predicates.iter().map(|(id, _)| id).collect();
        for id in ids {
            let Some(known) = self.predicates.get(id) else {
                continue;
            };
            let bare = known
                .defined
                .iter()
                .find(|(file, _)| !known.multifile.contains(file));
            let [(_, first), (_, second), ..] = &*known.defined else {
                continue;
            };
            let Some((_, bare)) = bare else { continue };
            let fault = Diagnostic::new(
                Code::SplitDefinition,
                *second,
                format!("`{}` has clauses in two files", known.key),
            )
            .label(*first, "and here; Prolog lets the second file replace the first")
            .label(*bare, "this file does not declare it `multifile`")
            .help(format!(
                "write `:- multifile {}.` in each of the files, or keep its clauses in one",
                known.key
            ));
            self.predicates.fault(id, fault);
        }
    }

    /// Calls from outside the module to what it does not export.
    fn private_calls(&mut self, module: SourceId) {
        for rule in &self.rules {
            if rule.span.source == module {
                continue;
            }
            for literal in &rule.body {
                literal.each_call(&mut |callee, _, span| {
                    if let Some(known) = self.predicates.get(callee)
                        && known.private
                    {
                        self.diagnostics.push(
                            Diagnostic::new(
                                Code::PrivateCall,
                                span,
                                format!("`{}` is private to the module that defines it", known.key),
                            )
                            .help("add it to the module's export list"),
                        );
                    }
                });
            }
        }
    }

    fn graph(&self) -> Graph {
        let mut edges = Vec::new();
        for rule in &self.rules {
            for literal in &rule.body {
                literal.each_call(&mut |callee, negative, _| {
                    edges.push(Edge {
                        caller: rule.head,
                        callee,
                        negative,
                    });
                });
            }
        }
        Graph::new(self.predicates.len(), edges)
    }

    /// Judges every rule, until no predicate asks more of its callers.
    fn order(&mut self, graph: &Graph) {
        let mut needs = vec![Needs::default(); self.predicates.len()];
        let mut found = HashSet::new();
        let mut rules_of: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, rule) in self.rules.iter().enumerate() {
            rules_of
                .entry(graph.component_of(rule.head))
                .or_default()
                .push(at);
        }
        for number in 0..graph.components().len() {
            let Some(rules) = u32::try_from(number)
                .ok()
                .and_then(|number| rules_of.get(&number))
            else {
                continue;
            };
            // Callees come first, so that only recursion needs another round.
            let mut changed = true;
            while changed {
                changed = false;
                for rule in rules.iter().filter_map(|at| self.rules.get(*at)) {
                    let verdict = order::judge(rule, &needs);
                    if let Some(slot) = needs.get_mut(rule.head.index()) {
                        changed |= slot.merge(&verdict.needs);
                    }
                }
            }
            for rule in rules.iter().filter_map(|at| self.rules.get(*at)) {
                if self.faulty.contains(&rule.span) {
                    continue;
                }
                let verdict = order::judge(rule, &needs);
                let clean = verdict.faults.is_empty();
                if !clean {
                    found.insert(rule.span);
                }
                for fault in verdict.faults {
                    self.predicates.fault(rule.head, fault);
                }
                if let Some(span) = verdict.needs.bound.iter().flatten().next()
                    && clean
                {
                    self.diagnostics.push(lints::negation_before_binding(
                        rule,
                        *span,
                        &self.predicates.key(rule.head),
                    ));
                }
            }
        }
        self.faulty.extend(found);
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
