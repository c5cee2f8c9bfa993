//! The first pass over a file set: declarations, modules, test blocks, and which file defines what.
//!
//! No directive is ever run: those that change nothing here are noted, all others refuse the whole set.

use super::predicate::Predicates;
use super::prolog;
use super::rule::{PredicateId, PredicateKey};
use crate::diagnostic::{Code, Diagnostic};
use crate::number::Integer;
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
struct Pass<'p> {
    declared: Declared<'p>,
    /// The exports of the module.
    exports: Vec<(PredicateKey, Span)>,
    /// Imported by `use_module`, for the whole set.
    imports: Vec<(PredicateKey, Span)>,
    /// The test block that is open in the current file.
    block: Option<(Term, Span)>,
}

impl<'p> Pass<'p> {
    fn refuse(&mut self, diagnostic: Diagnostic) {
        self.declared.diagnostics.push(diagnostic);
    }

    fn note(&mut self, span: Span, message: impl Into<String>) {
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

    fn directive(&mut self, file: SourceId, goal: &Term, span: Span, first: bool) {
        let args = goal.args();
        let (name, arity) = match &goal.kind {
            TermKind::Atom(name) => (&**name, 0),
            TermKind::Compound(name, args) => (&**name, args.len()),
            TermKind::List(..) | TermKind::Nil => {
                return self.refuse(loads_files(span, "a list as a directive loads files"));
            }
            _ => ("", 0),
        };
        match (name, args) {
            ("dynamic" | "discontiguous" | "multifile", [list]) => {
                self.declaration(file, name, list);
            }
            ("table", [list]) => self.table(list),
            ("dynamic" | "discontiguous" | "multifile" | "table", []) => {
                self.refuse(Diagnostic::new(
                    Code::DeclarationArity,
                    span,
                    format!("`{name}` without a predicate"),
                ));
            }
            ("module", [name, exports]) => self.module(file, name, exports, span, first),
            ("use_module", [library]) => self.use_module(library, None, span),
            ("use_module", [library, imports]) => self.use_module(library, Some(imports), span),
            ("style_check", [_]) => self.note(span, "`style_check` changes nothing here"),
            ("encoding", [encoding]) => match &encoding.kind {
                TermKind::Atom(name) if &**name == "utf8" => {
                    self.note(span, "rule files are always UTF-8");
                }
                _ => self.refuse(
                    Diagnostic::new(Code::Encoding, span, "an encoding that is not UTF-8")
                        .help("save the file as UTF-8 and remove the directive"),
                ),
            },
            ("begin_tests", [name] | [name, _]) => {
                if let Some((open, place)) = &self.block {
                    let diagnostic = Diagnostic::new(
                        Code::TestBlock,
                        span,
                        format!("a test block inside the test block `{open}`"),
                    )
                    .label(*place, "opened here")
                    .help(format!("close it first: `:- end_tests({open}).`"));
                    self.refuse(diagnostic);
                }
                self.block = Some((name.clone(), span));
            }
            ("end_tests", [name]) => match self.block.take() {
                Some((open, _)) if open == *name => {}
                Some((open, place)) => self.refuse(
                    Diagnostic::new(
                        Code::TestBlock,
                        span,
                        format!("this closes `{name}`, but `{open}` is open"),
                    )
                    .label(place, "opened here")
                    .help(format!("write `:- end_tests({open}).`")),
                ),
                None => self.refuse(
                    Diagnostic::new(
                        Code::TestBlock,
                        span,
                        format!("`end_tests({name})` closes no test block"),
                    )
                    .help(format!(
                        "remove it, or write `:- begin_tests({name}).` before the first test"
                    )),
                ),
            },
            ("op", [_, _, _]) => self.refuse(
                Diagnostic::new(
                    Code::ChangesSyntax,
                    span,
                    "`op/3` changes how the rest of the file reads",
                )
                .help("write the terms with brackets: `says(ann, ok)`"),
            ),
            (
                "set_prolog_flag" | "expects_dialect" | "if" | "elif" | "else" | "endif"
                | "char_conversion",
                _,
            ) => self.refuse(
                Diagnostic::new(
                    Code::ChangesSyntax,
                    span,
                    format!("`{name}/{arity}` changes how the rest of the file reads"),
                )
                .help("remove it, and write the file in Prolog's default syntax"),
            ),
            (
                "consult" | "include" | "ensure_loaded" | "load_files" | "reexport" | "autoload",
                _,
            ) => {
                self.refuse(loads_files(span, &format!("`{name}/{arity}` loads files")));
            }
            _ => self.refuse(
                Diagnostic::new(
                    Code::Directive,
                    span,
                    if name.is_empty() || arity == 0 {
                        "this directive would run code".to_owned()
                    } else if prolog::system(name, arity).is_some()
                        || prolog::autoloaded(name, arity).is_some()
                    {
                        format!("the directive `{name}/{arity}` would run code")
                    } else {
                        format!("the directive `{name}/{arity}` is unknown here")
                    },
                )
                .help(match &goal.kind {
                    TermKind::Conjunction(_) => {
                        "a rule needs a head; directives never run here".to_owned()
                    }
                    _ => {
                        "remove it; a rule file states facts and rules, it does not act".to_owned()
                    }
                }),
            ),
        }
    }

    fn declaration(&mut self, file: SourceId, directive: &str, list: &Term) {
        for term in indicators(list) {
            let Some(key) = self.indicator(directive, term) else {
                continue;
            };
            if self.block.is_some() {
                continue;
            }
            if prolog::hook(key.name(), key.arity()) {
                self.refuse(Diagnostic::new(
                    Code::Hook,
                    term.span,
                    format!("`{key}` is a hook that changes how Prolog loads or runs the program"),
                ));
                continue;
            }
            if is_fixed(&key) {
                self.refuse(redefinition(&key, term.span));
                continue;
            }
            let id = self.declared.predicates.enter(key);
            if let Some(predicate) = self.declared.predicates.get_mut(id) {
                predicate.declared.get_or_insert(term.span);
                match directive {
                    "dynamic" => predicate.dynamic = true,
                    "multifile" => predicate.multifile.push(file),
                    _ => {}
                }
            }
        }
    }

    /// The predicate that an item of a declaration names; refuses the item if it names none.
    fn indicator(&mut self, directive: &str, term: &Term) -> Option<PredicateKey> {
        let name_of = |term: &Term| match &term.kind {
            TermKind::Atom(name) => Some(name.clone()),
            TermKind::Nil => Some("[]".into()),
            _ => None,
        };
        let diagnostic = match &term.kind {
            TermKind::Compound(slash, args) if &**slash == "/" => {
                if let [name, arity] = &**args
                    && let Some(name) = name_of(name)
                    && let TermKind::Integer(Integer::Small(arity)) = &arity.kind
                    && let Ok(arity) = usize::try_from(*arity)
                    && arity <= 1024
                {
                    return Some(PredicateKey::new(&name, arity));
                }
                Diagnostic::new(
                    Code::DeclarationArity,
                    term.span,
                    format!("`{term}` names no predicate: the arity is a number from 0 to 1024"),
                )
            }
            TermKind::Atom(name) => Diagnostic::new(
                Code::DeclarationArity,
                term.span,
                format!("`{directive}` needs the number of arguments"),
            )
            .help(format!(
                "write `:- {directive} {name}/1.` with the right number"
            )),
            TermKind::Compound(colon, _) if &**colon == ":" => Diagnostic::new(
                Code::Module,
                term.span,
                "a declaration for a predicate of another module",
            )
            .help("write it without the module, in the file of its own module"),
            _ => Diagnostic::new(
                Code::Directive,
                term.span,
                format!("`{directive}` takes predicates as `name/arity`"),
            ),
        };
        self.refuse(diagnostic);
        None
    }

    fn table(&mut self, list: &Term) {
        if let TermKind::List(..) | TermKind::Nil = &list.kind {
            return self.refuse(
                Diagnostic::new(Code::TableMode, list.span, "`table` takes no list")
                    .help("write `:- table p/1, q/1.`, or leave the directive out"),
            );
        }
        let before = self.declared.diagnostics.len();
        for term in indicators(list) {
            match &term.kind {
                TermKind::Compound(slash, _) if &**slash == "/" => {
                    self.indicator("table", term);
                }
                TermKind::Atom(_) => {
                    self.indicator("table", term);
                }
                _ => self.refuse(
                    Diagnostic::new(
                        Code::TableMode,
                        term.span,
                        "tabling with modes or options keeps some answers and drops others",
                    )
                    .help("table the predicate as `name/arity`, or leave the directive out"),
                ),
            }
        }
        if self.declared.diagnostics.len() == before {
            self.note(
                list.span,
                "`table` changes nothing here: recursion always ends",
            );
        }
    }

    fn module(&mut self, file: SourceId, name: &Term, exports: &Term, span: Span, first: bool) {
        if !first {
            return self.refuse(
                Diagnostic::new(
                    Code::Module,
                    span,
                    "`module/2` must be the first clause of its file",
                )
                .help("move it to the top"),
            );
        }
        if self.declared.module.is_some() {
            return self.refuse(
                Diagnostic::new(Code::Module, span, "a second module in one rulebase")
                    .help("keep the rules of one rulebase in one module, or in none"),
            );
        }
        if !matches!(name.kind, TermKind::Atom(_)) {
            return self.refuse(Diagnostic::new(
                Code::Module,
                name.span,
                "a module's name is an atom",
            ));
        }
        self.declared.module = Some(file);
        let items = match &exports.kind {
            TermKind::Nil => &[][..],
            TermKind::List(items, None) => items,
            _ => {
                return self.refuse(Diagnostic::new(
                    Code::Module,
                    exports.span,
                    "a module's exports are a list of `name/arity`",
                ));
            }
        };
        for item in items {
            match item.functor() {
                Some(("op", 3)) => self.refuse(
                    Diagnostic::new(
                        Code::ChangesSyntax,
                        item.span,
                        "an exported operator changes how files read",
                    )
                    .help("remove it, and write the terms with brackets"),
                ),
                _ => {
                    if let Some(key) = self.indicator("module", item) {
                        self.exports.push((key, item.span));
                    }
                }
            }
        }
        self.note(
            span,
            "the module changes nothing but what other files may call",
        );
    }

    fn use_module(&mut self, library: &Term, imports: Option<&Term>, span: Span) {
        let name = match &library.kind {
            TermKind::Compound(name, args) if &**name == "library" && args.len() == 1 => {
                args.first().map(ToString::to_string).unwrap_or_default()
            }
            _ => {
                return self.refuse(loads_files(
                    span,
                    "`use_module` of a file loads what that file says",
                ));
            }
        };
        let Some(exports) = prolog::library_exports(&name) else {
            let reason = prolog::rewriting(&name).map_or_else(
                || "it is not one of those known to leave clauses as they are".to_owned(),
                ToOwned::to_owned,
            );
            return self.refuse(
                Diagnostic::new(
                    Code::UseModule,
                    span,
                    format!("`library({name})` is not accepted: {reason}"),
                )
                .help("remove the directive, and what needs the library"),
            );
        };
        let before = self.declared.diagnostics.len();
        match imports {
            // What the set defines wins over an import of all that a library has.
            None => {}
            Some(imports) => {
                let items = match &imports.kind {
                    TermKind::Nil => &[][..],
                    TermKind::List(items, None) => items,
                    _ => {
                        return self.refuse(
                            Diagnostic::new(
                                Code::UseModule,
                                imports.span,
                                "only a plain list of imports is accepted",
                            )
                            .help("list what is imported, as in `[member/2]`"),
                        );
                    }
                };
                for item in items {
                    match &item.kind {
                        TermKind::Compound(slash, _) if &**slash == "/" => {
                            let Some(key) = self.indicator("use_module", item) else {
                                continue;
                            };
                            if exports
                                .iter()
                                .any(|(name, arity)| *name == key.name() && *arity == key.arity())
                            {
                                self.imports.push((key, item.span));
                            } else {
                                self.refuse(Diagnostic::new(
                                    Code::UseModule,
                                    item.span,
                                    format!("`library({name})` does not export `{key}`"),
                                ));
                            }
                        }
                        _ => self.refuse(
                            Diagnostic::new(
                                Code::UseModule,
                                item.span,
                                "an import that renames is not accepted",
                            )
                            .help("import the predicate by its own name"),
                        ),
                    }
                }
            }
        }
        if self.declared.diagnostics.len() == before {
            self.note(
                span,
                format!("`library({name})` changes nothing here; what it defines is not here"),
            );
        }
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
                .or_else(|| predicate.declared.filter(|span| span.source != module));
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
        || predicate.declared.is_some_and(|span| span.source == module)
}

fn loads_files(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::LoadsFiles, span, message)
        .help("give every file to horngate instead: `--rules` may be repeated")
}

/// Whether a definition of it is dropped by SWI-Prolog, or obeyed where a built-in of that name is meant here.
fn is_fixed(key: &PredicateKey) -> bool {
    let (name, arity) = (key.name(), key.arity());
    (name, arity) == ("not", 1)
        || matches!(prolog::system(name, arity), Some(prolog::System::Locked))
}

fn redefinition(key: &PredicateKey, span: Span) -> Diagnostic {
    if let (",", 2) = (key.name(), key.arity()) {
        return Diagnostic::new(Code::RedefinesBuiltin, span, "a clause has one head")
            .help("write one clause for each head");
    }
    Diagnostic::new(
        Code::RedefinesBuiltin,
        span,
        format!("`{key}` is built into Prolog and cannot be redefined"),
    )
    .help("choose another name")
}

/// The items of a declaration: a single one, a comma list or a list.
fn indicators(term: &Term) -> Vec<&Term> {
    match &term.kind {
        TermKind::Conjunction(parts) => parts.iter().flat_map(indicators).collect(),
        TermKind::List(items, None) => items.iter().flat_map(indicators).collect(),
        TermKind::Nil => Vec::new(),
        _ => vec![term],
    }
}
