//! One run over a program: declarations, translation, the order rule, recursion, lints.
//!
//! Nothing here is evaluated.

use super::declare::{self, Declared};
use super::graph::{Edge, Graph};
use super::order::{self, Needs};
use super::predicate::Predicates;
use super::rule::{Literal, LiteralKind, PredicateId, Rule};
use super::{Checked, Data, Facts, Refused, Rulebase, lints, recursion, translate};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::program::Program;
use crate::source::{SourceId, Span};
use crate::syntax::{Clause, ClauseKind, Term, TermKind};
use crate::value::{Constants, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How many literals the alternatives of all clauses may have, where a clause has more than one.
const MAX_LITERALS: usize = 2_000_000;

/// One run over a program.
pub(super) struct Check {
    predicates: Predicates,
    constants: Constants,
    rules: Vec<Rule>,
    facts: Vec<Facts>,
    /// Errors of the whole set, lints and notes.
    diagnostics: Vec<Diagnostic>,
    /// The clauses that have a fault: what else they seem to lack may only follow from it.
    faulty: HashSet<Span>,
    /// How many literals clauses with several alternatives have come to.
    multiplied: usize,
    /// The clauses that are not, or not wholly, among the rules.
    unread: HashSet<Span>,
    /// The predicates of these.
    unread_of: HashSet<PredicateId>,
}

impl Check {
    pub(super) fn run(mut program: Program, lint: bool) -> Checked {
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
            multiplied: 0,
            unread: HashSet::new(),
            unread_of: HashSet::new(),
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
        let needs = check.order(&graph);
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
        let mut silences = lints::Silences::default();
        if lint {
            let ids = check.predicates.iter().map(|(id, _)| id);
            let unread: Vec<bool> = ids.map(|id| check.unread_of.contains(&id)).collect();
            let refuses =
                |found: &Diagnostic| found.severity == Severity::Error && found.predicate.is_none();
            let lints = lints::all(&lints::Subject {
                program: &program,
                complete: !check.diagnostics.iter().any(refuses),
                clauses: &clauses,
                predicates: &check.predicates,
                facts: &check.facts,
                rules: &check.rules,
                rules_of: &rules_of,
                graph: &graph,
                constants: &check.constants,
                module,
                faulty: &check.faulty,
                unread_clauses: &check.unread,
                unread: &unread,
            });
            check.diagnostics.extend(lints);
            let (read, problems) = lints::Silences::read(&program);
            silences = read;
            check.diagnostics.extend(problems);
        }
        let faults = check.predicates.iter().flat_map(|(_, known)| &known.faults);
        let mut diagnostics: Vec<Diagnostic> = faults.chain(&check.diagnostics).cloned().collect();
        diagnostics.sort_by(Diagnostic::by_place);
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
                    needs,
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
            silences,
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
        let splits = body.is_some_and(splits);
        if splits && self.multiplied > MAX_LITERALS {
            return self.multiplied(id, clause);
        }
        let translated = translate::Translation::new(&self.predicates, &mut self.constants).clause(
            id,
            head,
            body,
            clause.span,
        );
        if !translated.faults.is_empty() {
            self.faulty.insert(clause.span);
            self.unread.insert(clause.span);
            self.unread_of.insert(id);
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
        if splits {
            let literals = translated.rules.iter().map(|rule| literals(&rule.body));
            self.multiplied = self.multiplied.saturating_add(literals.sum());
            if self.multiplied > MAX_LITERALS {
                return self.multiplied(id, clause);
            }
        }
        self.rules.extend(translated.rules);
    }

    fn multiplied(&mut self, id: PredicateId, clause: &Clause) {
        self.faulty.insert(clause.span);
        self.unread.insert(clause.span);
        self.unread_of.insert(id);
        let fault = Diagnostic::new(
            Code::TooManyAlternatives,
            clause.span,
            format!(
                "with this clause the alternatives of all clauses multiply to more than {MAX_LITERALS} literals"
            ),
        )
        .help("give each disjunction a predicate of its own");
        self.predicates.fault(id, fault);
    }

    fn ground(&mut self, args: &[Term]) -> Option<Vec<Value>> {
        args.iter()
            .map(|arg| self.constants.intern(arg).ok().flatten())
            .collect()
    }

    fn other_rule(&mut self, id: PredicateId, clause: &Clause, what: &str) {
        self.unread_of.insert(id);
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
            let Some((file, place)) = bare else { continue };
            let Some((_, other)) = known.defined.iter().find(|(known, _)| known != file) else {
                continue;
            };
            let prolog = match known.multifile.is_empty() {
                true => "; Prolog lets the file that it loads last replace them",
                false => "",
            };
            let fault = Diagnostic::new(
                Code::SplitDefinition,
                *place,
                format!(
                    "`{}` has clauses in two files, and this one does not declare it `multifile`",
                    known.key
                ),
            )
            .label(*other, format!("the other clauses are here{prolog}"))
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
    fn order(&mut self, graph: &Graph) -> Vec<Needs> {
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
            for at in rules {
                let Some(rule) = self.rules.get_mut(*at) else {
                    continue;
                };
                if self.faulty.contains(&rule.span) {
                    continue;
                }
                let verdict = order::judge(rule, &needs);
                let clean = verdict.faults.is_empty();
                if !clean {
                    found.insert(rule.span);
                }
                for mut fault in verdict.faults {
                    let key = self.predicates.key(rule.head);
                    if let ("member" | "memberchk", 2) = (key.name(), key.arity()) {
                        fault.help = Some(format!(
                            "delete this definition: `{key}` over lists is there without it"
                        ));
                    }
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
                    rule.postponed = verdict.postponed;
                }
            }
        }
        self.faulty.extend(found);
        needs
    }
}

/// Whether a body has alternatives, so that its clause may come to several rules.
fn splits(body: &Term) -> bool {
    match &body.kind {
        TermKind::Disjunction(_) => true,
        TermKind::Conjunction(parts) => parts.iter().any(splits),
        TermKind::Compound(name, args) if matches!(&**name, "->" | "\\+" | "not") => {
            args.iter().any(splits)
        }
        _ => false,
    }
}

/// How many literals a body has, those under negations and the head included.
fn literals(body: &[Literal]) -> usize {
    let inner = body.iter().map(|literal| match &literal.kind {
        LiteralKind::Not(bodies, _) => bodies.iter().map(|body| literals(body)).sum(),
        _ => 1,
    });
    inner.sum::<usize>() + 1
}
