//! What the name of a goal means: a predicate of the set, a built-in of the profile, or something refused
//! with advice.
//!
//! Nothing here looks at arguments, except to word the advice.

use super::predicate::Predicates;
use super::prolog;
use super::rule::{Outcomes, PredicateId};
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::syntax::{Term, TermKind};

/// What a goal's name and arity stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Predicate(PredicateId),
    True,
    Fail,
    Unify,
    NotUnify,
    Identical(bool),
    Order(Outcomes),
    Compare(Outcomes),
    Is,
    Member,
    Memberchk,
}

/// Resolves a goal that is no control construct of the profile.
pub(crate) fn resolve(
    predicates: &Predicates,
    name: &str,
    arity: usize,
    term: &Term,
) -> Result<Goal, Box<Diagnostic>> {
    let key = PredicateKey::new(name, arity);
    if let Some(id) = predicates.find(&key)
        && predicates.get(id).is_some_and(|known| known.is_defined())
    {
        return Ok(Goal::Predicate(id));
    }
    if let Some(goal) = profile(name, arity) {
        return Ok(goal);
    }
    Err(Box::new(refusal(predicates, &key, term)))
}

fn profile(name: &str, arity: usize) -> Option<Goal> {
    let order = |less, equal, greater| Goal::Order(Outcomes::new(less, equal, greater));
    let compare = |less, equal, greater| Goal::Compare(Outcomes::new(less, equal, greater));
    Some(match (name, arity) {
        ("true", 0) => Goal::True,
        ("fail" | "false", 0) => Goal::Fail,
        ("=", 2) => Goal::Unify,
        ("\\=", 2) => Goal::NotUnify,
        ("==", 2) => Goal::Identical(true),
        ("\\==", 2) => Goal::Identical(false),
        ("@<", 2) => order(true, false, false),
        ("@=<", 2) => order(true, true, false),
        ("@>", 2) => order(false, false, true),
        ("@>=", 2) => order(false, true, true),
        ("<", 2) => compare(true, false, false),
        ("=<", 2) => compare(true, true, false),
        (">", 2) => compare(false, false, true),
        (">=", 2) => compare(false, true, true),
        ("=:=", 2) => compare(false, true, false),
        ("=\\=", 2) => compare(true, false, true),
        ("is", 2) => Goal::Is,
        ("member", 2) => Goal::Member,
        ("memberchk", 2) => Goal::Memberchk,
        _ => return None,
    })
}

/// A goal that is a variable, number, string or list.
pub(crate) fn not_a_goal(term: &Term) -> Diagnostic {
    match &term.kind {
        TermKind::Variable(name) => Diagnostic::new(
            Code::VariableGoal,
            term.span,
            format!("the variable `{name}` as a goal: it would run whatever it is bound to"),
        )
        .help("name the predicate that is meant"),
        TermKind::List(..) | TermKind::Nil => Diagnostic::new(
            Code::Builtin,
            term.span,
            "a list as a goal: Prolog would load files of these names",
        )
        .help("use `member(X, [a, b])` to try several values"),
        _ => Diagnostic::new(
            Code::NotAGoal,
            term.span,
            format!("`{term}` cannot be a goal"),
        ),
    }
}

fn refusal(predicates: &Predicates, key: &PredicateKey, term: &Term) -> Diagnostic {
    let (name, arity) = (key.name(), key.arity());
    let span = term.span;
    match (name, arity) {
        ("!", 0) => {
            return Diagnostic::new(Code::Cut, span, "the cut `!` makes answers depend on clause order")
                .help("remove it if it only ends the clause; else state the condition: `( Test -> A ; B )`, or `\\+ Test` in the other clause");
        }
        ("*->", 2) => {
            return Diagnostic::new(Code::SoftCut, span, "the soft cut `*->` is not supported")
                .help("write `( A, B ; \\+ A, C )`");
        }
        (":", 2) => {
            return Diagnostic::new(Code::ModuleQualified, span, "a goal of another module")
                .help("give the other file with `--rules` and call the predicate by its name");
        }
        (
            "dynamic" | "discontiguous" | "multifile" | "table" | "initialization" | "use_module"
            | "module",
            _,
        ) => {
            return Diagnostic::new(
                Code::DirectiveInBody,
                span,
                format!("the dot behind this clause is missing: the directive `{name}` is read as its body"),
            )
            .help("end the clause with a dot before the line that starts with `:-`");
        }
        (",", _) | ("|", 2) => {
            return Diagnostic::new(
                Code::Builtin,
                span,
                format!("`{term}` is not a goal that is supported here"),
            )
            .help("write `;` for \"or\" and `,` for \"and\"");
        }
        _ => {}
    }
    let help = advice(name, arity);
    if prolog::system(name, arity).is_some() {
        return Diagnostic::new(
            Code::Builtin,
            span,
            format!("`{key}` is built into Prolog and not supported here"),
        )
        .help(help.unwrap_or("state what is needed as facts, and derive the rest by rules"));
    }
    let others: Vec<usize> = predicates
        .arities(name)
        .iter()
        .copied()
        .filter(|other| *other != arity)
        .collect();
    if let Some(other) = others.first() {
        return Diagnostic::new(
            Code::CallArity,
            span,
            format!(
                "`{key}` is called, but only {} is defined",
                arities(name, &others)
            ),
        )
        .help(format!(
            "give it {other} argument{}",
            if *other == 1 { "" } else { "s" }
        ));
    }
    if let Some(library) = prolog::autoloaded(name, arity) {
        return Diagnostic::new(
            Code::Builtin,
            span,
            format!("`{key}` of library({library}) is not supported here"),
        )
        .help(help.unwrap_or("state what is needed as facts, and derive the rest by rules"));
    }
    let mut known: Vec<usize> = prolog::system_arities(name).collect();
    known.sort_unstable();
    if profile_arity(name).is_some_and(|other| other != arity) || !known.is_empty() {
        if known.is_empty() {
            known.extend(profile_arity(name));
        }
        let diagnostic = Diagnostic::new(
            Code::CallArity,
            span,
            format!(
                "`{key}` is called, but only {} exists",
                arities(name, &known)
            ),
        );
        return match (name, arity, &*known) {
            ("\\+", 2.., _) => diagnostic.help(
                "write `\\+ ( a, b )` with a blank before the bracket to negate both together",
            ),
            (_, _, [one]) => diagnostic.help(format!(
                "give it {one} argument{}",
                if *one == 1 { "" } else { "s" }
            )),
            _ => diagnostic,
        };
    }
    let diagnostic = Diagnostic::new(
        Code::UndefinedCall,
        span,
        format!("`{key}` is called, but nothing defines it"),
    );
    match predicates.nearest(name, arity) {
        Some(near) => diagnostic.help(format!(
            "did you mean `{}`?",
            PredicateKey::new(near, arity)
        )),
        None => diagnostic.help(format!(
            "define it, or write `:- dynamic {key}.` if it may have no clauses"
        )),
    }
}

fn profile_arity(name: &str) -> Option<usize> {
    (0..=2).find(|arity| profile(name, *arity).is_some())
}

fn arities(name: &str, arities: &[usize]) -> String {
    let keys: Vec<String> = arities
        .iter()
        .map(|arity| format!("`{}`", PredicateKey::new(name, *arity)))
        .collect();
    keys.join(", ")
}

fn advice(name: &str, arity: usize) -> Option<&'static str> {
    Some(match (name, arity) {
        ("forall", 2) => "write `\\+ ( Condition, \\+ Action )`",
        ("findall" | "bagof" | "setof" | "aggregate_all", _) => {
            "derive one fact for each solution; a gate needs no lists of them"
        }
        ("once" | "ignore", 1) => {
            "write the goal itself: all that counts is whether there is a solution"
        }
        ("call", _) | ("apply", 2) => "name the predicate that is meant",
        ("=..", 2) | ("functor", 3) | ("arg", 3) | ("copy_term", 2) => {
            "take the term apart with a pattern, as in `ev(E, at(Hour, _))`"
        }
        ("between", 3) => "state the numbers as facts, or compare: `Low =< N, N =< High`",
        ("assert" | "asserta" | "assertz" | "retract" | "retractall", _) => {
            "rules do not change rules; state the fact, or load it from a file of its own"
        }
        ("get_time" | "date_time_stamp" | "stamp_date_time", _) => {
            "state the date as a fact, as in `today(20261130)`, in a file that the operator writes"
        }
        ("write" | "writeln" | "print" | "format" | "nl" | "print_message" | "writeq", _) => {
            "remove it; deriving a grant prints nothing"
        }
        ("atom_concat" | "atomic_list_concat" | "string_concat" | "concat_atom", _) => {
            "state the names as facts: rules make no new names"
        }
        (
            "sub_atom" | "atom_length" | "atom_codes" | "atom_chars" | "sub_string"
            | "string_length",
            _,
        ) => "state what the name stands for as a fact: rules do not look into names",
        (
            "is_list" | "atom" | "integer" | "number" | "var" | "nonvar" | "atomic" | "string"
            | "ground",
            1,
        ) => "remove the type test, or keep values of different types in different predicates",
        ("=@=" | "\\=@=" | "unify_with_occurs_check" | "?=", 2) => "use `==` or `=`",
        ("compare", 3) => "use `@<`, `==` or `@>`",
        ("succ", 2) | ("plus", 3) => "use `is`",
        ("length" | "nth0" | "nth1" | "sum_list" | "append" | "subset", _) => {
            "state the items as facts, one each"
        }
        _ => return None,
    })
}
