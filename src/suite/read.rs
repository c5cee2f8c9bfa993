//! From the test blocks of a program to tests: what each one asks, and what it expects.
//!
//! Nothing here runs a test, and none is left out: one that cannot be understood says why instead of running.

use super::terms::{self, Names};
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::number::Integer;
use crate::program::Program;
use crate::source::{SourceId, Sources, Span};
use crate::syntax::{Clause, ClauseKind, Term, TermKind};
use std::collections::HashMap;

/// How the name of a file ends that has tests beside a file of rules: its clauses are no policy.
const TESTS: &str = "_tests.pl";

/// A test as it was read.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) block: String,
    pub(super) name: String,
    /// The whole clause.
    pub(super) span: Span,
    /// It stands in the file of a module, and may call what that does not export.
    pub(super) inside: bool,
    pub(super) asked: Asked,
}

/// What a test comes to.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    /// It runs.
    Runs(Box<Run>),
    /// It is blocked, for this reason.
    Blocked(String),
    /// It is not understood, or plunit would not run it either.
    Refused(Vec<Diagnostic>),
}

/// A test that runs.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) goal: Term,
    pub(super) expects: Expects,
    /// Goals that must hold, or the test is left out: the block's and its own.
    pub(super) conditions: Vec<Term>,
    /// It runs for every solution of this.
    pub(super) generator: Option<Term>,
}

/// What a test expects of its goal.
#[derive(Clone, Debug)]
pub(super) enum Expects {
    Success,
    Failure,
    /// That this holds of the first solution.
    True(Term),
    /// That the solutions of the template are these, in this order and as often.
    All(Term, Vec<Term>),
    /// That the solutions of the template are these, whatever their order.
    Set(Term, Vec<Term>),
}

/// The tests of a program, and what is wrong with their blocks beside them.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pub(super) tests: Vec<Test>,
    /// Faults of blocks that have no test.
    pub(super) faults: Vec<Diagnostic>,
    /// The predicates that a `table` directive names.
    pub(super) tabled: Vec<PredicateKey>,
    /// The clauses that are policy.
    pub(super) clauses: Vec<Span>,
}

/// Reads all blocks. Where blocks are not paired the program is refused anyway.
pub(super) fn read(program: &Program) -> Blocks {
    let mut blocks = Blocks::default();
    let mut opened: HashMap<String, (SourceId, Option<Term>)> = HashMap::new();
    for (file, clauses) in program.files() {
        let is_policy = program
            .sources()
            .get(file)
            .is_some_and(|source| !source.name().ends_with(TESTS));
        let inside = clauses.first().is_some_and(is_module);
        let mut open: Option<Block<'_>> = None;
        for clause in clauses {
            match &clause.kind {
                ClauseKind::Directive(goal) => match (goal.functor(), goal.args(), &mut open) {
                    (Some(("begin_tests", _)), [name, rest @ ..], None) => {
                        let options = rest.first();
                        let mut block = Block::new(name, options, inside);
                        block.reopened(&mut opened, file, options);
                        open = Some(block);
                    }
                    (Some(("end_tests", 1)), _, _) => {
                        if let Some(block) = open.take() {
                            block.close(program.sources(), &mut blocks);
                        }
                    }
                    (_, _, Some(block)) => block.alien(
                        clause.span,
                        "a directive inside a test block is one of the block's own module",
                    ),
                    (Some(("table", 1)), [list], None) => tabled(list, &mut blocks.tabled),
                    _ => {}
                },
                _ => match &mut open {
                    Some(block) => block.clause(clause),
                    None if is_policy => blocks.clauses.push(clause.span),
                    None => {}
                },
            }
        }
        if let Some(block) = open {
            block.close(program.sources(), &mut blocks);
        }
    }
    blocks
}

fn is_module(clause: &Clause) -> bool {
    matches!(&clause.kind, ClauseKind::Directive(goal) if goal.functor() == Some(("module", 2)))
}

/// The predicates of a `table` directive: one, or a list of them.
fn tabled(term: &Term, keys: &mut Vec<PredicateKey>) {
    match &term.kind {
        TermKind::Conjunction(parts) => parts.iter().for_each(|part| tabled(part, keys)),
        TermKind::Compound(slash, args) if &**slash == "/" => {
            if let [name, arity] = &**args
                && let (TermKind::Atom(name), TermKind::Integer(Integer::Small(arity))) =
                    (&name.kind, &arity.kind)
                && let Ok(arity) = usize::try_from(*arity)
            {
                keys.push(PredicateKey::new(name, arity));
            }
        }
        _ => {}
    }
}

fn refused(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::UnsupportedTest, span, message)
}

/// A block that is being read.
struct Block<'p> {
    name: String,
    span: Span,
    inside: bool,
    blocked: Option<String>,
    conditions: Vec<Term>,
    /// What keeps all of its tests from running.
    faults: Vec<Diagnostic>,
    tests: Vec<&'p Clause>,
}

impl<'p> Block<'p> {
    fn new(name: &Term, options: Option<&Term>, inside: bool) -> Self {
        let mut block = Self {
            name: name.to_string(),
            span: name.span,
            inside,
            blocked: None,
            conditions: Vec::new(),
            faults: Vec::new(),
            tests: Vec::new(),
        };
        match &name.kind {
            TermKind::Atom(text) => block.name = text.to_string(),
            _ => block
                .faults
                .push(refused(name.span, "the name of a test block is an atom")),
        }
        let options = match options.map(|options| (&options.kind, options.span)) {
            None | Some((TermKind::Nil, _)) => &[][..],
            Some((TermKind::List(items, None), _)) => items,
            Some((_, span)) => {
                let fault = refused(span, "the options of a test block are a list");
                block.faults.push(fault);
                &[]
            }
        };
        for option in options {
            block.option(option);
        }
        block
    }

    fn option(&mut self, option: &Term) {
        match (option.functor(), option.args()) {
            (Some(("blocked", 1)), [reason]) => {
                self.blocked.get_or_insert_with(|| reason.to_string());
            }
            (Some(("condition", 1)), [goal]) => self.conditions.push(goal.clone()),
            // The order of tests is nothing that a rule could see.
            (Some(("concurrent", 1)), _) => {}
            _ => self.faults.push(unknown(option)),
        }
    }

    /// A block of one name may be continued in its file.
    fn reopened(
        &mut self,
        opened: &mut HashMap<String, (SourceId, Option<Term>)>,
        file: SourceId,
        options: Option<&Term>,
    ) {
        match opened.get(&self.name) {
            Some((other, _)) if *other != file => self.faults.push(
                refused(
                    self.span,
                    format!("two files have a test block `{}`", self.name),
                )
                .help("give each block a name of its own: Prolog would keep the second only"),
            ),
            Some((_, before)) if before.as_ref() != options => self.faults.push(
                refused(
                    self.span,
                    format!(
                        "the test block `{}` is opened again with other options",
                        self.name
                    ),
                )
                .help(
                    "give each block a name of its own: Prolog would use the last options for both",
                ),
            ),
            Some(_) => {}
            None => {
                opened.insert(self.name.clone(), (file, options.cloned()));
            }
        }
    }

    fn alien(&mut self, span: Span, message: &str) {
        self.faults.push(refused(span, message).help(format!(
            "move it out, before `:- begin_tests({}).`",
            self.name
        )));
    }

    fn clause(&mut self, clause: &'p Clause) {
        let head = match &clause.kind {
            ClauseKind::Rule(head, _) | ClauseKind::Fact(head) => head.functor(),
            _ => None,
        };
        match head {
            Some(("test", 1 | 2)) => self.tests.push(clause),
            _ => self.alien(
                clause.span,
                "a clause inside a test block that is no test belongs to the block's own module",
            ),
        }
    }

    fn close(self, sources: &Sources, blocks: &mut Blocks) {
        if self.tests.is_empty() {
            blocks.faults.extend(self.faults);
            return;
        }
        let mut seen: HashMap<(String, usize), Span> = HashMap::new();
        for clause in &self.tests {
            let (name, mut asked) = self.test(clause);
            let line = sources.start(clause.span).line;
            if let Some(first) = seen.insert((name.clone(), line), clause.span) {
                let fault = refused(clause.span, format!("a second test `{name}` on one line"));
                asked = Asked::Refused(vec![fault.label(first, "the first").help(
                    "write each test on a line of its own: Prolog would run the first for both",
                )]);
            }
            let asked = match (&self.faults[..], asked, &self.blocked) {
                ([], Asked::Refused(faults), _) => Asked::Refused(faults),
                ([], _, Some(reason)) => Asked::Blocked(reason.clone()),
                ([], asked, None) => asked,
                (faults, Asked::Refused(own), _) => Asked::Refused([faults, &own].concat()),
                (faults, ..) => Asked::Refused(faults.to_vec()),
            };
            blocks.tests.push(Test {
                block: self.name.clone(),
                name,
                span: clause.span,
                inside: self.inside,
                asked,
            });
        }
    }

    fn test(&self, clause: &Clause) -> (String, Asked) {
        let (head, body) = match &clause.kind {
            ClauseKind::Rule(head, body) => (head, Some(body)),
            ClauseKind::Fact(head) => (head, None),
            _ => return (String::new(), Asked::Refused(Vec::new())),
        };
        let (name, options) = match head.args() {
            [name] => (name, None),
            [name, options] => (name, Some(options)),
            _ => return (String::new(), Asked::Refused(Vec::new())),
        };
        let shown = match &name.kind {
            TermKind::Atom(text) => text.to_string(),
            _ => name.to_string(),
        };
        let mut faults = Vec::new();
        if let TermKind::Variable(_)
        | TermKind::Compound(..)
        | TermKind::List(..)
        | TermKind::Conjunction(_)
        | TermKind::Disjunction(_) = &name.kind
        {
            faults.push(refused(
                name.span,
                "the name of a test is an atom or a number",
            ));
        }
        let Some(body) = body else {
            faults.push(
                refused(clause.span, format!("the test `{shown}` has no goal"))
                    .help(format!("write it as in `test({shown}) :- goal.`")),
            );
            return (shown, Asked::Refused(faults));
        };
        let mut names = Names::of([Some(body), options].into_iter().flatten());
        let mut body = body.clone();
        let mut options: Vec<Term> = match options.map(|options| (&options.kind, options)) {
            None | Some((TermKind::Nil, _)) => Vec::new(),
            Some((TermKind::List(items, None), _)) => items.clone(),
            Some((_, single)) => vec![single.clone()],
        };
        names.show_hidden(&mut options, &mut body);
        let mut read = Options {
            blocked: None,
            conditions: self.conditions.clone(),
            generator: None,
            mode: None,
            faults,
        };
        for option in &options {
            read.option(option);
        }
        let asked = match (read.faults.is_empty(), read.blocked) {
            (false, _) => Asked::Refused(read.faults),
            (true, Some(reason)) => Asked::Blocked(reason),
            (true, None) => Asked::Runs(Box::new(Run {
                goal: body,
                expects: read.mode.map_or(Expects::Success, |(expects, _)| expects),
                conditions: read.conditions,
                generator: read.generator,
            })),
        };
        (shown, asked)
    }
}

/// The options of a test, as far as they are read.
struct Options {
    blocked: Option<String>,
    conditions: Vec<Term>,
    generator: Option<Term>,
    mode: Option<(Expects, Span)>,
    faults: Vec<Diagnostic>,
}

impl Options {
    fn option(&mut self, option: &Term) {
        let span = option.span;
        match (option.functor(), option.args()) {
            (Some(("nondet", 0)), _) => {}
            (Some(("true", 0)), _) => self.mode(Expects::Success, span),
            (Some(("fail", 0)), _) => self.mode(Expects::Failure, span),
            (Some(("true", 1)), [goal]) => self.mode(Expects::True(goal.clone()), span),
            (Some(("==" | "=" | "=:=", 2)), _) => self.mode(Expects::True(option.clone()), span),
            (Some((kind @ ("all" | "set"), 1)), [comparison]) => {
                let all = kind == "all";
                if let Some(expects) = self.answers(comparison, all) {
                    self.mode(expects, span);
                }
            }
            (Some(("blocked", 1)), [reason]) => {
                self.blocked.get_or_insert_with(|| reason.to_string());
            }
            (Some(("condition", 1)), [goal]) => self.conditions.push(goal.clone()),
            (Some(("forall", 1)), [goal]) => match self.generator {
                None => self.generator = Some(goal.clone()),
                Some(_) => self.faults.push(refused(span, "a second `forall`")),
            },
            _ => self.faults.push(unknown(option)),
        }
    }

    fn mode(&mut self, expects: Expects, span: Span) {
        match &self.mode {
            None => self.mode = Some((expects, span)),
            Some((_, first)) => self.faults.push(
                refused(span, "a test expects one thing: this is the second")
                    .label(*first, "the first")
                    .help("write two tests"),
            ),
        }
    }

    /// `Template == [item, …]`
    fn answers(&mut self, comparison: &Term, all: bool) -> Option<Expects> {
        let kind = if all { "all" } else { "set" };
        let (Some(("==" | "=" | "=@=", 2)), [template, list]) =
            (comparison.functor(), comparison.args())
        else {
            self.faults.push(
                refused(
                    comparison.span,
                    format!("`{kind}` compares what is found with a list"),
                )
                .help(format!("write it as in `{kind}(X == [a, b])`")),
            );
            return None;
        };
        let items = match &list.kind {
            TermKind::Nil => &[][..],
            TermKind::List(items, None) => items,
            _ => {
                let fault = refused(list.span, "the expected answers are a list");
                self.faults
                    .push(fault.help(format!("write it as in `{kind}(X == [a, b])`")));
                return None;
            }
        };
        if let Some(open) = items.iter().find(|item| !terms::is_ground(item)) {
            let fault = refused(open.span, "an expected answer with a variable in it");
            self.faults
                .push(fault.help("write the values that are expected"));
            return None;
        }
        let (template, items) = (template.clone(), items.to_vec());
        Some(match all {
            true => Expects::All(template, items),
            false => Expects::Set(template, items),
        })
    }
}

/// An option that is not understood.
fn unknown(option: &Term) -> Diagnostic {
    let help = match option.functor() {
        Some(("throws" | "error" | "exception", _)) => {
            "test that the goal fails, with `[fail]`: rules raise no errors here"
        }
        Some(("setup" | "cleanup", 1)) => {
            "state the facts that the tests need in a file of their own, before the test block"
        }
        Some(("fixme", 1)) => "write `blocked(Reason)` to leave a test out",
        Some(("=@=", 2)) => "use `==`",
        Some(("bag", 1)) => {
            "use `all(X == [a, b])`, or `set(X == [a, b])` if the order does not count"
        }
        _ => {
            "there are `true`, `fail`, `X == value`, `true(Goal)`, `all(X == [a, b])`, `set(X == [a, b])`, `nondet`, `forall(Goal)`, `condition(Goal)` and `blocked(Reason)`"
        }
    };
    refused(
        option.span,
        format!("the option `{option}` is not supported"),
    )
    .help(help)
}
