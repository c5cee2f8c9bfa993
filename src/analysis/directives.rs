//! Directives: those that declare, those that change nothing here, and all others, which refuse the whole set.
//!
//! Nothing here runs a directive.

use super::declare::{Pass, is_fixed, redefinition};
use super::prolog;
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::number::Integer;
use crate::source::{SourceId, Span};
use crate::syntax::{Term, TermKind};

impl Pass<'_> {
    pub(super) fn directive(&mut self, file: SourceId, goal: &Term, span: Span, first: bool) {
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
                predicate.declared.push(term.span);
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
            )
            .help(format!("write `:- {directive} name/1.`, without options")),
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
}

fn loads_files(span: Span, message: &str) -> Diagnostic {
    Diagnostic::new(Code::LoadsFiles, span, message)
        .help("give every file to horngate instead: `--rules` may be repeated")
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
