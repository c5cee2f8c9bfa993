//! What a compiled module derived, ready to be asked.
//!
//! Nothing here answers for a predicate whose slice has a fault or has something without a value.

use super::{Interface, Numbering, Predicate, Run, Symbol, facts};
use crate::analysis::rule::PredicateId;
use crate::analysis::{Data, Rulebase};
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::QueryError;
use crate::key::PredicateKey;
use crate::source::Span;
use crate::value::Constants;
use std::sync::Arc;

/// The tuples that a compiled module derived from the facts of a rulebase: for each of its predicates those that
/// [`Rulebase::evaluate`] derives, or an error.
///
/// Generated code makes one; see [`crate::compile`].
///
/// ```
/// use horngate::compiled::{Entry, Interface, Predicate, Run};
/// use horngate::{Rulebase, Source};
/// // What a module of facts only has.
/// const INTERFACE: Interface = Interface {
///     predicates: &[Entry { name: "may_execute_tool", arity: 2, rules: "", constants: &[] }],
///     constants: &[],
/// };
/// const MAY_EXECUTE_TOOL_2: Predicate<2> = Predicate::new("may_execute_tool");
///
/// let facts = "may_execute_tool('U:Qa', tool_repl).";
/// let rulebase = Rulebase::load([Source::new("facts.pl", facts)])?;
/// let mut derived = Run::new(&rulebase, &INTERFACE)?.finish();
/// derived.take_facts::<2>(0);
/// assert!(derived.holds(MAY_EXECUTE_TOOL_2, ["U:Qa", "tool_repl"])?);
/// assert!(!derived.holds(MAY_EXECUTE_TOOL_2, ["U:Qa", "tool_rm"])?);
/// assert!(derived.holds(Predicate::<1>::new("nosuch"), ["a"]).is_err());
/// assert_eq!(derived.tuples(&MAY_EXECUTE_TOOL_2.key())?, [["'U:Qa'", "tool_repl"]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Derived {
    rulebase: Rulebase,
    interface: &'static Interface,
    numbering: Numbering,
    constants: Constants,
    /// By position of the interface.
    tuples: Vec<Tuples>,
    /// By predicate of the rulebase: why it has no model although its slice has no fault.
    failed: Vec<Option<Arc<Diagnostic>>>,
}

/// The tuples of one predicate: their columns one behind the other, sorted.
#[derive(Debug, Default)]
struct Tuples {
    count: usize,
    columns: Vec<Symbol>,
}

impl Tuples {
    fn row(&self, at: usize) -> &[Symbol] {
        let arity = self.columns.len().checked_div(self.count).unwrap_or(0);
        self.columns
            .get(at * arity..(at + 1) * arity)
            .unwrap_or(&[])
    }

    fn contains(&self, wanted: &[Symbol]) -> bool {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.row(middle).cmp(wanted) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }
}

impl Derived {
    pub(super) fn new(run: Run) -> Self {
        let failed = failed(&run);
        Self {
            tuples: run
                .interface
                .predicates
                .iter()
                .map(|_| Tuples::default())
                .collect(),
            rulebase: run.rulebase,
            interface: run.interface,
            numbering: run.numbering,
            constants: run.constants.into_inner(),
            failed,
        }
    }

    /// Takes over the tuples of the predicate at a position of [`Interface::predicates`], facts included.
    pub fn take<const N: usize>(
        &mut self,
        predicate: usize,
        tuples: impl Iterator<Item = [Symbol; N]>,
    ) {
        let mut tuples: Vec<[Symbol; N]> = tuples.collect();
        tuples.sort_unstable();
        tuples.dedup();
        if let Some(slot) = self.tuples.get_mut(predicate) {
            *slot = Tuples {
                count: tuples.len(),
                columns: tuples.into_flattened(),
            };
        }
    }

    /// The same for a predicate that has facts only.
    pub fn take_facts<const N: usize>(&mut self, predicate: usize) {
        let facts: Vec<[Symbol; N]> =
            facts(&self.rulebase, self.interface, &self.numbering, predicate).collect();
        self.take(predicate, facts.into_iter());
    }

    /// The rulebase that the facts are of.
    #[must_use]
    pub fn rulebase(&self) -> &Rulebase {
        &self.rulebase
    }

    /// Whether the tuple of these atoms was derived, as in `holds(MAY_EXECUTE_TOOL_2, ["U:Qa", "tool_repl"])`; an atom is
    /// given without quotes.
    ///
    /// # Errors
    /// [`QueryError`] when there is no answer: the predicate's slice has a fault in the rulebase that was loaded, nothing
    /// defines it there, it is private to a module, or there is arithmetic without a value. No error is a "no".
    pub fn holds<const N: usize>(
        &self,
        predicate: Predicate<N>,
        atoms: [&str; N],
    ) -> Result<bool, QueryError> {
        let key = predicate.key();
        let (id, tuples) = self.answered(&key)?;
        let data: &Data = &self.rulebase.data;
        if data.predicates.get(id).is_some_and(|known| known.private) {
            let message = format!("`{key}` is private to the module that defines it");
            let found = Diagnostic::new(Code::PrivateCall, self.place(id), message)
                .help("add it to the module's export list");
            return Err(self.error(vec![found]));
        }
        if let Some(place) = data
            .needs
            .get(id.index())
            .and_then(|needs| needs.arithmetic)
        {
            let message = format!(
                "`{key}` does arithmetic with what the call brings, where Prolog may raise an error"
            );
            let found = Diagnostic::new(Code::Evaluation, place, message)
                .help("move the tests behind the literals that bind their variables");
            return Err(self.error(vec![found]));
        }
        let symbols = atoms.map(|atom| {
            self.constants
                .find_atom(atom)
                .map_or(Symbol::NONE, |value| self.numbering.symbol(value))
        });
        Ok(tuples.contains(&symbols))
    }

    /// How many tuples the predicate has.
    ///
    /// # Errors
    /// [`QueryError`] when there is no answer, as for [`Derived::holds`].
    pub fn count(&self, key: &PredicateKey) -> Result<usize, QueryError> {
        self.answered(key).map(|(_, tuples)| tuples.count)
    }

    /// The tuples of a predicate as `writeq` writes them, sorted as text.
    ///
    /// # Errors
    /// [`QueryError`] when there is no answer, as for [`Derived::holds`].
    pub fn tuples(&self, key: &PredicateKey) -> Result<Vec<Vec<String>>, QueryError> {
        let (_, tuples) = self.answered(key)?;
        let text = |symbol: &Symbol| self.constants.text(self.numbering.value(*symbol));
        let mut rows: Vec<Vec<String>> = (0..tuples.count)
            .map(|at| tuples.row(at).iter().map(text).collect())
            .collect();
        rows.sort();
        Ok(rows)
    }

    fn answered(&self, key: &PredicateKey) -> Result<(PredicateId, &Tuples), QueryError> {
        let data: &Data = &self.rulebase.data;
        let compiled = self
            .interface
            .position(key)
            .and_then(|at| self.tuples.get(at));
        let Some(tuples) = compiled else {
            let message = format!("`{key}` is no predicate that the module was compiled for");
            let found = Diagnostic::new(Code::FaultySlice, Span::default(), message).help(
                "a predicate is left out when its slice has a fault; `horngate check` says which",
            );
            return Err(self.error(vec![found]));
        };
        let Some(id) = data.find(key) else {
            let message = format!("nothing defines `{key}`");
            let found = Diagnostic::new(Code::UndefinedCall, Span::default(), message)
                .help(format!("state a fact, or write `:- dynamic {key}.`"));
            return Err(self.error(vec![found]));
        };
        if data.is_tainted(id) {
            let faults = self.rulebase.faults_of(key).into_iter().cloned().collect();
            return Err(self.error(faults));
        }
        match self.failed.get(id.index()) {
            Some(Some(failure)) => Err(self.error(vec![(**failure).clone()])),
            _ => Ok((id, tuples)),
        }
    }

    fn place(&self, id: PredicateId) -> Span {
        let known = self.rulebase.data.predicates.get(id);
        known.and_then(|known| known.place()).unwrap_or_default()
    }

    fn error(&self, diagnostics: Vec<Diagnostic>) -> QueryError {
        QueryError {
            sources: self.rulebase.data.sources.clone(),
            diagnostics,
        }
    }
}

/// For each predicate of the rulebase what in its component, or in one that it depends on, had no value.
fn failed(run: &Run) -> Vec<Option<Arc<Diagnostic>>> {
    let data: &Data = &run.rulebase.data;
    let mut failed: Vec<Option<Arc<Diagnostic>>> = vec![None; data.predicates.len()];
    for (at, (rule, reason)) in &*run.failures.borrow() {
        let Some(entry) = run.interface.predicates.get(*at) else {
            continue;
        };
        let key = PredicateKey::new(entry.name, entry.arity);
        let Some(id) = data.predicates.find(&key) else {
            continue;
        };
        let place = data
            .rules_of
            .get(id.index())
            .and_then(|rules| data.rules.get(*rules.get(*rule)?))
            .map_or_else(Span::default, |rule| rule.span);
        let diagnostic = Diagnostic::new(Code::Evaluation, place, reason.clone())
            .help("put a literal before it that leaves out the values it cannot compute with")
            .of(&key);
        if let Some(slot) = failed.get_mut(id.index()) {
            *slot = Some(Arc::new(diagnostic));
        }
    }
    let of = |failed: &[Option<Arc<Diagnostic>>], id: PredicateId| {
        failed.get(id.index()).and_then(Option::clone)
    };
    for component in data.graph.components() {
        let mut found = component.iter().find_map(|id| of(&failed, *id));
        let rules = component
            .iter()
            .filter_map(|id| data.rules_of.get(id.index()))
            .flatten()
            .filter_map(|at| data.rules.get(*at));
        for literal in rules.flat_map(|rule| &rule.body) {
            literal.each_call(&mut |callee, _, _| {
                if found.is_none() {
                    found = of(&failed, callee);
                }
            });
        }
        for id in component {
            if let Some(slot) = failed.get_mut(id.index()) {
                slot.clone_from(&found);
            }
        }
    }
    failed
}
