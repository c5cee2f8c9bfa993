//! The first pass over a file set: declarations, modules, test blocks, and which file defines what.
//!
//! No directive is ever run: those that change nothing here are noted, all others refuse the whole set.

use super::predicate::Predicates;
use super::prolog;
use super::rule::PredicateId;
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::program::{FactTable, Program};
use crate::source::{SourceId, Span};
use crate::syntax::{Clause, ClauseKind, Term, TermKind};

/// What the first pass found.
#[derive(Debug, Default)]
pub(crate) struct Declared<'p> {
    pub(crate) predicates: Predicates,
    /// The clauses that are policy: no directive, no test.
    pub(crate) clauses: Vec<(PredicateId, &'p Clause)>,
    /// The predicate of each table of facts, in order; as many as there are tables unless one refuses the set.
    pub(crate) tables: Vec<PredicateId>,
    /// The file that is a module.
    pub(crate) module: Option<SourceId>,
    /// Errors of the whole set, and notes.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads all declarations and enters all predicates.
pub(crate) fn declare<'p>(program: &'p Program, tables: &[FactTable]) -> Declared<'p> {
    let mut pass = Pass::default();
    for table in tables {
        pass.table_of_facts(table);
    }
    for (file, clauses) in program.files() {
        let rows = tables.iter().filter(|table| table.first.source == file);
        let first_row = rows.map(|table| table.first).min();
        pass.file(file, clauses, first_row);
    }
    pass.finish();
    pass.declared
}

#[derive(Default)]
pub(super) struct Pass<'p> {
    pub(super) declared: Declared<'p>,
    /// The exports of the module.
    pub(super) exports: Vec<(PredicateKey, Span)>,
    /// Imported by `use_module`, for the whole set.
    pub(super) imports: Vec<(PredicateKey, Span)>,
    /// The test block that is open in the current file.
    pub(super) block: Option<(Term, Span)>,
}

impl<'p> Pass<'p> {
    pub(super) fn refuse(&mut self, diagnostic: Diagnostic) {
        self.declared.diagnostics.push(diagnostic);
    }

    pub(super) fn note(&mut self, span: Span, message: impl Into<String>) {
        self.refuse(Diagnostic::new(Code::NoEffect, span, message));
    }

    /// The facts of one predicate that were read as rows: what holds for one clause of it holds for all.
    fn table_of_facts(&mut self, table: &FactTable) {
        let file = table.first.source;
        if let Some(id) = self.head(file, table.key.name(), table.key.arity(), table.first) {
            self.declared.tables.push(id);
        }
    }

    fn file(&mut self, file: SourceId, clauses: &'p [Clause], first_row: Option<Span>) {
        for (at, clause) in clauses.iter().enumerate() {
            let first = at == 0 && first_row.is_none_or(|row| row > clause.span);
            match &clause.kind {
                ClauseKind::Directive(goal) => self.directive(file, goal, clause.span, first),
                ClauseKind::Query(_) => self.refuse(
                    Diagnostic::new(Code::QueryInFile, clause.span, "a query inside a rule file")
                        .help("remove it; `horngate query` asks questions"),
                ),
                ClauseKind::Fact(head) | ClauseKind::Rule(head, _) => {
                    self.clause(file, head, clause, 0);
                }
                ClauseKind::Grammar(head, _) => {
                    let nonterminal = match &head.kind {
                        TermKind::Conjunction(parts) => parts.first().unwrap_or(head),
                        _ => head,
                    };
                    self.clause(file, nonterminal, clause, 2);
                }
                ClauseKind::SingleSided(head, _) => {
                    let matched = match &head.kind {
                        TermKind::Conjunction(parts) => parts.first().unwrap_or(head),
                        _ => head,
                    };
                    self.clause(file, matched, clause, 0);
                }
            }
        }
        if let Some((name, span)) = self.block.take() {
            self.refuse(
                Diagnostic::new(
                    Code::TestBlock,
                    span,
                    format!("the test block `{name}` is never closed"),
                )
                .help(format!(
                    "write `:- end_tests({name}).` behind its last test"
                )),
            );
        }
    }

    fn clause(&mut self, file: SourceId, head: &Term, clause: &'p Clause, extra: usize) {
        let Some((name, arity)) = head.functor() else {
            return self.refuse(Diagnostic::new(
                Code::NotAClause,
                head.span,
                "this cannot be the head of a clause",
            ));
        };
        if let Some(id) = self.head(file, name, arity + extra, head.span) {
            self.declared.clauses.push((id, clause));
        }
    }

    /// The predicate that a clause defines, unless it is no policy or refuses the set.
    fn head(
        &mut self,
        file: SourceId,
        name: &str,
        arity: usize,
        span: Span,
    ) -> Option<PredicateId> {
        if name == ":" && arity == 2 {
            self.refuse(
                Diagnostic::new(
                    Code::ModuleQualified,
                    span,
                    "a clause for a predicate of another module",
                )
                .help("write the clause without the module, in the file of its own module"),
            );
            return None;
        }
        if name == "end_of_file" && arity == 0 {
            self.refuse(
                Diagnostic::new(
                    Code::EndOfFile,
                    span,
                    "`end_of_file` makes Prolog skip the rest of the file",
                )
                .help("remove it, and what stands behind it if that is meant to be skipped"),
            );
            return None;
        }
        if prolog::hook(name, arity) {
            self.refuse(
                Diagnostic::new(
                    Code::Hook,
                    span,
                    format!(
                        "`{}` is a hook that changes how Prolog loads or runs the program",
                        PredicateKey::new(name, arity)
                    ),
                )
                .help("remove it, or choose another name"),
            );
            return None;
        }
        if self.block.is_some() {
            return None;
        }
        let key = PredicateKey::new(name, arity);
        if is_fixed(&key) {
            self.refuse(redefinition(&key, span));
            return None;
        }
        let id = self.declared.predicates.enter(key);
        if let Some(predicate) = self.declared.predicates.get_mut(id) {
            match predicate
                .defined
                .iter_mut()
                .find(|(known, _)| *known == file)
            {
                Some((_, first)) => *first = span.min(*first),
                None => predicate.defined.push((file, span)),
            }
        }
        Some(id)
    }

    fn finish(&mut self) {
        self.declared.predicates.sort_files();
        for (key, span) in std::mem::take(&mut self.imports) {
            if let Some(id) = self.declared.predicates.find(&key)
                && let Some(place) = self.declared.predicates.get(id).and_then(|p| p.place())
            {
                self.refuse(
                    Diagnostic::new(
                        Code::UseModule,
                        span,
                        format!("this imports `{key}`, which the rules define themselves"),
                    )
                    .label(place, "defined here")
                    .help("import only what is needed, or rename the predicate"),
                );
            }
        }
        let Some(module) = self.declared.module else {
            return;
        };
        for (key, span) in std::mem::take(&mut self.exports) {
            let known = self.declared.predicates.find(&key);
            let inside = known
                .and_then(|id| self.declared.predicates.get(id))
                .is_some_and(|predicate| belongs(predicate, module));
            if !inside {
                self.refuse(
                    Diagnostic::new(
                        Code::UndefinedExport,
                        span,
                        format!("the module exports `{key}`, which it does not define"),
                    )
                    .help("define it, or remove it from the export list"),
                );
            } else if let Some(id) = known {
                exported(&mut self.declared.predicates, id);
            }
        }
        let mut clashes = Vec::new();
        let ids: Vec<PredicateId> = self.declared.predicates.iter().map(|(id, _)| id).collect();
        for id in ids {
            let Some(predicate) = self.declared.predicates.get_mut(id) else {
                continue;
            };
            if !belongs(predicate, module) {
                continue;
            }
            let outside = predicate
                .defined
                .iter()
                .find(|(file, _)| *file != module)
                .map(|(_, span)| *span)
                .or_else(|| {
                    let mut places = predicate.declared.iter().copied();
                    places.find(|span| span.source != module)
                });
            if let Some(span) = outside {
                clashes.push(
                    Diagnostic::new(
                        Code::Module,
                        span,
                        format!(
                            "`{}` is defined in the module and outside it: these are two predicates in Prolog",
                            predicate.key
                        ),
                    )
                    .help("define it in one of the two only, or remove the `module/2` directive"),
                );
            }
            predicate.private = !predicate.private;
        }
        clashes.into_iter().for_each(|clash| self.refuse(clash));
    }
}

/// Marks an exported predicate; the last step of the pass turns the mark into its opposite, `private`.
fn exported(predicates: &mut Predicates, id: PredicateId) {
    if let Some(predicate) = predicates.get_mut(id) {
        predicate.private = true;
    }
}

fn belongs(predicate: &super::predicate::Predicate, module: SourceId) -> bool {
    predicate.defined.iter().any(|(file, _)| *file == module)
        || predicate.declared.iter().any(|span| span.source == module)
}

/// Whether a definition of it is dropped by SWI-Prolog, or obeyed where a built-in of that name is meant here.
pub(super) fn is_fixed(key: &PredicateKey) -> bool {
    let (name, arity) = (key.name(), key.arity());
    (name, arity) == ("not", 1)
        || matches!(prolog::system(name, arity), Some(prolog::System::Locked))
}

pub(super) fn redefinition(key: &PredicateKey, span: Span) -> Diagnostic {
    if let (",", 2) = (key.name(), key.arity()) {
        return Diagnostic::new(Code::RedefinesBuiltin, span, "a clause has one head")
            .help("end it with a dot where a comma stands, and write one clause for each head");
    }
    if let (";", 2) = (key.name(), key.arity()) {
        return Diagnostic::new(Code::RedefinesBuiltin, span, "a clause has one head")
            .help("end it with a dot where a `;` stands; a fact cannot say \"or\"");
    }
    Diagnostic::new(
        Code::RedefinesBuiltin,
        span,
        format!("`{key}` is built into Prolog and cannot be redefined"),
    )
    .help("choose another name")
}
