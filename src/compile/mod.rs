//! From a rulebase to a Rust module whose rules are a `crepe!` program; its facts are loaded at run time.
//!
//! No fact is compiled in, nothing is evaluated, and no file is written: the caller puts the text where it is compiled.
//! A rule that the program would answer differently is refused, never approximated.
//!
//! A `build.rs` compiles the rules, with `horngate` among the `[build-dependencies]`:
//!
//! ```no_run
//! use horngate::{Rulebase, Source, compile};
//! use std::path::Path;
//!
//! println!("cargo::rerun-if-changed=rules/roles.pl");
//! let rules = Source::new("roles.pl", std::fs::read_to_string("rules/roles.pl")?);
//! let module = compile::module(&Rulebase::load([rules])?)?;
//! std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("roles.rs"), module)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The package then has the rules as a module, with `horngate` among its `[dependencies]`:
//!
//! ```ignore
//! mod roles {
//!     include!(concat!(env!("OUT_DIR"), "/roles.rs"));
//! }
//!
//! let facts = Source::new("facts.pl", std::fs::read_to_string("facts.pl")?);
//! let derived = roles::evaluate(&roles::load([facts])?)?;
//! let allowed = derived.holds(roles::MAY_EXECUTE_TOOL_2, ["sre:lead", "tool_stop_container"])?;
//! ```
//!
//! - `load` reads facts with the module's own rules: `RULES` has their text without a fact. Everything is checked again as a
//!   rulebase of several files is, so facts of a predicate that also has rules need `:- multifile` in both places.
//! - `evaluate` takes any rulebase whose rules are the compiled ones, also one that was loaded from the rule files as they
//!   are, and refuses every other.
//! - What it derives is what [`Rulebase::evaluate`] derives. Where that refuses a predicate, so does [`crate::compiled::Derived`];
//!   it also refuses where a negated conjunction does arithmetic without a value that the engine does not come to,
//!   because it stops at an earlier match.
//! - There is no budget for evaluating: a compiled program runs to its end.

mod module;
mod names;
mod negation;
mod rule;
mod split;
mod step;
mod term;

use crate::analysis::rule::PredicateId;
use crate::analysis::{Data, Rulebase};
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::source::{Sources, Span};

/// Why rules cannot be compiled.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.summary())]
pub struct CompileError {
    /// The texts that the diagnostics point into.
    pub sources: Sources,
    /// Why, at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl CompileError {
    fn summary(&self) -> String {
        let more = match self.diagnostics.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        match self.diagnostics.first() {
            Some(first) if first.span == Span::default() => format!("{}{more}", first.message),
            Some(first) => format!(
                "{}:{}: {}{more}",
                self.sources.name(first.span),
                self.sources.start(first.span),
                first.message
            ),
            None => "the rules cannot be compiled".to_owned(),
        }
    }
}

/// The Rust text of a module for all predicates whose slice has no fault; the others are left out.
///
/// # Errors
/// [`CompileError`] for rules that a `crepe!` program cannot express, and for a rulebase whose texts were not kept
/// ([`crate::Loader`]).
///
/// ```
/// use horngate::{Rulebase, Source, compile};
/// let rules = "p(X) :- q(X). q(a).";
/// let module = compile::module(&Rulebase::load([Source::new("a.pl", rules)]).unwrap())?;
/// assert!(module.contains("P0P(x_0) <- P1Q(x_0);"), "{module}");
/// # Ok::<(), horngate::compile::CompileError>(())
/// ```
pub fn module(rulebase: &Rulebase) -> Result<String, CompileError> {
    let data: &Data = &rulebase.data;
    let included: Vec<bool> = data
        .predicates
        .iter()
        .map(|(id, known)| known.is_defined() && !data.is_tainted(id))
        .collect();
    compile(rulebase, &included)
}

/// The Rust text of a module for the slices of some predicates.
///
/// # Errors
/// As [`module`], and when one of the predicates is not defined or has a fault in its slice.
///
/// ```
/// use horngate::{Rulebase, Source, compile};
/// let rulebase = Rulebase::load([Source::new("a.pl", "p(a). open(X).")]).unwrap();
/// assert!(compile::slice(&rulebase, &["p/1".parse().unwrap()]).is_ok());
/// let error = compile::slice(&rulebase, &["open/1".parse().unwrap()]).unwrap_err();
/// assert!(error.to_string().starts_with("a.pl:1:7: `X` is a variable"), "{error}");
/// ```
pub fn slice(rulebase: &Rulebase, roots: &[PredicateKey]) -> Result<String, CompileError> {
    let data: &Data = &rulebase.data;
    let mut wanted: Vec<PredicateId> = Vec::new();
    let mut found: Vec<Diagnostic> = Vec::new();
    for root in roots {
        match data.find(root) {
            Some(id) if data.is_tainted(id) => {
                found.extend(rulebase.faults_of(root).into_iter().cloned());
            }
            Some(id) => wanted.push(id),
            None => found.push(
                Diagnostic::new(
                    Code::UndefinedCall,
                    Span::default(),
                    format!("nothing defines `{root}`"),
                )
                .help(format!(
                    "state a fact, or write `:- dynamic {root}.` if there are none yet"
                )),
            ),
        }
    }
    if !found.is_empty() {
        return Err(error(data, found));
    }
    compile(rulebase, &data.graph.slice(wanted.into_iter()))
}

fn compile(rulebase: &Rulebase, included: &[bool]) -> Result<String, CompileError> {
    let data: &Data = &rulebase.data;
    if data
        .sources
        .iter()
        .any(|(_, source)| source.text_is_missing())
    {
        let found = Diagnostic::new(
            Code::NotCompiled,
            Span::default(),
            "the rules were loaded piece by piece, and their text was not kept",
        )
        .help("load them with `Rulebase::load`");
        return Err(error(data, vec![found]));
    }
    module::write(data, included).map_err(|found| error(data, found))
}

fn error(data: &Data, diagnostics: Vec<Diagnostic>) -> CompileError {
    CompileError {
        sources: data.sources.clone(),
        diagnostics,
    }
}
