//! Loading piece by piece: facts go from bytes to rows, and no text is kept.
//!
//! Nothing here explains: a set that is not clean is left to [`Rulebase::check`], which reads the whole text.

use crate::analysis::Rulebase;
use crate::budget::Budget;
use crate::diagnostic::Diagnostic;
use crate::key::PredicateKey;
use crate::program::{FactTable, Program};
use crate::source::{Source, SourceId, Span};
use crate::syntax::{self, Argument, Clause, ClauseKind, NextClause};
use crate::value::{Constants, Value};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The set cannot be loaded as it stands; [`Rulebase::check`] of the whole texts says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.exceeded.as_ref().map_or("the rules are refused; check the whole texts to see why", |found| &found.message))]
#[non_exhaustive]
pub struct NotClean {
    /// The budget of clauses ran out here: reading the whole texts says no more.
    pub exceeded: Option<Box<Diagnostic>>,
}

/// Takes the texts of a file set piece by piece. Only rules are kept as text would be; a million facts are rows.
///
/// ```
/// use horngate::{Budget, Loader};
/// let mut loader = Loader::new();
/// loader.begin("grants.pl");
/// loader.feed(b"may_execute_tool(a, too");
/// loader.feed(b"l_x).\n");
/// let rulebase = loader.finish()?;
/// let model = rulebase.evaluate(&Budget::default()).unwrap();
/// assert!(model.query("may_execute_tool(a, tool_x)").unwrap().holds());
/// # Ok::<(), horngate::NotClean>(())
/// ```
#[derive(Default)]
pub struct Loader {
    constants: Constants,
    program: Program,
    /// Facts of the current file by predicate.
    tables: Vec<FactTable>,
    index: HashMap<(Box<str>, usize), usize>,
    /// The table of the last fact: facts of one predicate stand together.
    last: usize,
    current: Option<File>,
    /// Room for the values of the names of some facts.
    found: Vec<Option<Value>>,
    clean: bool,
    budget: Budget,
    /// How many clauses were taken.
    taken: u64,
    exceeded: Option<Box<Diagnostic>>,
    /// Whether the place of each fact is kept.
    places: bool,
    /// Whether texts are taken without their digests.
    undigested: bool,
}

/// How many facts are interned together.
const FACTS_AT_ONCE: usize = 64;

struct File {
    id: SourceId,
    name: String,
    digest: Option<Sha256>,
    /// Bytes that no clause has taken yet, and where they stand in the file.
    pending: Vec<u8>,
    base: usize,
    /// How long `pending` must be before a clause that had no end is tried again.
    retry: usize,
    clauses: Vec<Clause>,
    in_tests: bool,
}

impl Loader {
    /// A loader without any text.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clean: true,
            ..Self::default()
        }
    }

    /// A loader that takes clauses and nesting within a budget.
    ///
    /// ```
    /// use horngate::{Budget, Loader};
    /// let budget = Budget { clauses: 1, ..Budget::default() };
    /// let mut loader = Loader::within(&budget);
    /// loader.begin("grants.pl");
    /// loader.feed(b"p(a). p(b).\n");
    /// let error = loader.finish().unwrap_err();
    /// assert_eq!(error.to_string(), "the budget of 1 clauses ran out at 2");
    /// ```
    #[must_use]
    pub fn within(budget: &Budget) -> Self {
        Self {
            budget: budget.clone(),
            ..Self::new()
        }
    }

    /// Keeps the place of each fact, which takes 12 bytes a fact: see [`crate::GrantingClauses`].
    #[must_use]
    pub fn with_places(mut self) -> Self {
        self.places = true;
        self
    }

    /// Spares the digests of the texts, about a twelfth of the time that loading takes. Rules without digests decide as
    /// others do, but their policy has no name: [`crate::Allowlist::policy_hash`] is `None`, and no gate takes them.
    ///
    /// ```
    /// use horngate::{Allowlist, Budget, Loader};
    /// let mut loader = Loader::new().without_digests();
    /// loader.begin("grants.pl");
    /// loader.feed(b"may_execute_tool(a, tool_x).\n");
    /// let model = loader.finish()?.evaluate(&Budget::default())?;
    /// let allowlist = Allowlist::bind(&model, "may_execute_tool/2")?;
    /// assert!(allowlist.decide("a", "x").is_allow());
    /// assert_eq!(allowlist.policy_hash(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn without_digests(mut self) -> Self {
        self.undigested = true;
        self
    }

    /// Ends the text before, if there is one, and begins another.
    pub fn begin(&mut self, name: impl Into<String>) {
        self.end();
        let name = name.into();
        self.current = Some(File {
            id: self.program.next_id(),
            name,
            digest: (!self.undigested).then(Sha256::new),
            pending: Vec::new(),
            base: 0,
            retry: 0,
            clauses: Vec::new(),
            in_tests: false,
        });
    }

    /// The next bytes of the text that was begun; a piece may end anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Some(mut file) = self.current.take() else {
            self.clean = false;
            return;
        };
        if let Some(digest) = &mut file.digest {
            digest.update(bytes);
        }
        if self.clean {
            self.take_piece(&mut file, bytes);
        }
        self.current = Some(file);
    }

    fn end(&mut self) {
        let Some(mut file) = self.current.take() else {
            return;
        };
        if self.clean {
            self.take_pending(&mut file, true);
        }
        let digest = file.digest.map(|digest| digest.finalize().into());
        let source = Source::without_text(file.name, digest);
        self.index.clear();
        self.last = 0;
        self.program
            .push(source, file.clauses, std::mem::take(&mut self.tables));
    }

    /// The rulebase of all texts.
    ///
    /// # Errors
    /// [`NotClean`] when any text has an error that refuses the set.
    pub fn finish(mut self) -> Result<Rulebase, NotClean> {
        self.end();
        let refused = NotClean {
            exceeded: self.exceeded,
        };
        if !self.clean {
            return Err(refused);
        }
        self.program.set_constants(self.constants);
        Rulebase::without_lints(self.program).map_err(|_| refused)
    }

    /// Takes the clauses of a piece from where it stands; only what is cut in two at its ends is copied.
    fn take_piece(&mut self, file: &mut File, mut bytes: &[u8]) {
        if !file.pending.is_empty() {
            let line = bytes.iter().position(|byte| *byte == b'\n');
            let (first, rest) = bytes.split_at(line.map_or(bytes.len(), |at| at + 1));
            file.pending.extend_from_slice(first);
            if file.pending.len() >= file.retry {
                self.take_pending(file, false);
            }
            bytes = rest;
        }
        if file.pending.is_empty() {
            let taken = self.take_clauses(file, bytes, false);
            bytes = bytes.get(taken..).unwrap_or(&[]);
            file.pending.extend_from_slice(bytes);
        } else {
            file.pending.extend_from_slice(bytes);
            if file.pending.len() >= file.retry {
                self.take_pending(file, false);
            }
        }
    }

    fn take_pending(&mut self, file: &mut File, complete: bool) {
        let mut pending = std::mem::take(&mut file.pending);
        let taken = self.take_clauses(file, &pending, complete);
        pending.drain(..taken);
        file.pending = pending;
    }

    /// Takes the clauses at the start of `bytes`, which come next in the file; says how many bytes they are.
    fn take_clauses(&mut self, file: &mut File, bytes: &[u8], complete: bool) -> usize {
        let valid = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // A character may be cut in two by the end of a piece.
            Err(error) if error.error_len().is_none() && !complete => bytes
                .get(..error.valid_up_to())
                .and_then(|valid| std::str::from_utf8(valid).ok())
                .unwrap_or(""),
            Err(_) => {
                self.clean = false;
                return 0;
            }
        };
        let taken = self.clauses(file, valid, complete);
        let rest = bytes.len().saturating_sub(taken);
        file.base += taken;
        file.retry = if taken == 0 { rest * 2 } else { 0 };
        if file.base > crate::MAX_SOURCE_BYTES {
            self.clean = false;
        }
        taken
    }

    /// Reads the clauses that are complete; says how many bytes they take.
    fn clauses(&mut self, file: &mut File, text: &str, complete: bool) -> usize {
        let mut at = 0;
        let mut facts: Vec<syntax::Fact<'_>> = Vec::with_capacity(FACTS_AT_ONCE);
        let mut arguments: Vec<Argument<'_>> = Vec::new();
        while self.clean {
            if !file.in_tests && (file.base > 0 || at > 0) {
                while let Some(fact) = syntax::scan_fact(text, at, complete, &mut arguments) {
                    if !self.count(|| place(file, fact.start, fact.end)) {
                        return at;
                    }
                    at = fact.end;
                    facts.push(fact);
                    if facts.len() == FACTS_AT_ONCE {
                        self.facts(file, &facts, &arguments);
                        facts.clear();
                        arguments.clear();
                    }
                }
                self.facts(file, &facts, &arguments);
                facts.clear();
                arguments.clear();
            }
            let first = file.base == 0 && at == 0;
            let depth = self.budget.nesting();
            match syntax::next_clause(file.id, text, at, file.base, first, complete, depth) {
                NextClause::Clause(clause, end) => {
                    if !self.count(|| clause.span) {
                        break;
                    }
                    if let ClauseKind::Directive(goal) = &clause.kind {
                        match goal.functor() {
                            Some(("begin_tests", _)) => file.in_tests = true,
                            Some(("end_tests", _)) => file.in_tests = false,
                            _ => {}
                        }
                    }
                    file.clauses.push(*clause);
                    at = end;
                }
                NextClause::Nothing => return text.len(),
                NextClause::Incomplete => return at,
                NextClause::Refused => self.clean = false,
            }
        }
        at
    }

    /// Counts a clause; says whether there may be one more.
    fn count(&mut self, span: impl FnOnce() -> Span) -> bool {
        if self.taken >= self.budget.clauses {
            let found = syntax::out_of_clauses(span(), self.budget.clauses);
            self.exceeded = Some(Box::new(found));
            self.clean = false;
        }
        self.taken += 1;
        self.clean
    }

    /// Takes in some facts. All their names are interned together.
    fn facts(&mut self, file: &File, facts: &[syntax::Fact<'_>], mut arguments: &[Argument<'_>]) {
        let names = arguments.iter().filter_map(|argument| match argument {
            Argument::Atom(name) => Some(*name),
            _ => None,
        });
        self.found.clear();
        self.constants.atoms(names, &mut self.found);
        let found = std::mem::take(&mut self.found);
        let mut atoms = found.iter().flatten().copied();
        for fact in facts {
            let (own, others) = arguments.split_at_checked(fact.arity).unwrap_or_default();
            self.fact(file, fact, own, &mut atoms);
            arguments = others;
        }
        self.found = found;
    }

    fn fact(
        &mut self,
        file: &File,
        fact: &syntax::Fact<'_>,
        arguments: &[Argument<'_>],
        atoms: &mut impl Iterator<Item = Value>,
    ) {
        let known = self
            .tables
            .get(self.last)
            .is_some_and(|table| table.is(fact.name, fact.arity));
        if !known {
            self.last = self.table(file, fact);
        }
        let Some(table) = self.tables.get_mut(self.last) else {
            return;
        };
        for argument in arguments {
            let value = match argument {
                Argument::Atom(_) => atoms.next(),
                Argument::String(text) => Some(self.constants.string(text)),
                Argument::Integer(value) => Some(self.constants.integer((*value).into())),
            };
            table.facts.values.extend(value);
        }
        table.facts.count += 1;
        if self.places {
            table.facts.spans.push(place(file, fact.start, fact.end));
        }
    }

    fn table(&mut self, file: &File, fact: &syntax::Fact<'_>) -> usize {
        let key = (Box::from(fact.name), fact.arity);
        if let Some(at) = self.index.get(&key) {
            return *at;
        }
        self.tables.push(FactTable {
            key: PredicateKey::new(fact.name, key.1),
            // Without the dot, as a clause's head is.
            first: place(file, fact.start, fact.end - 1),
            facts: crate::program::Facts::default(),
        });
        self.index.insert(key, self.tables.len() - 1);
        self.tables.len() - 1
    }
}

/// A stretch of the bytes that are pending, as a place in the file.
fn place(file: &File, start: usize, end: usize) -> Span {
    let offset = |at: usize| u32::try_from(file.base + at).unwrap_or(u32::MAX);
    Span::new(file.id, offset(start), offset(end))
}
