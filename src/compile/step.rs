//! The clauses of a `crepe!` rule, and the same as nested Rust for what is only tested.
//!
//! Nothing here knows what a clause means.

use std::fmt::Write;

/// One clause of a rule in `crepe!`.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// `Relation(fields)`: one such tuple after the other.
    Fact(String),
    /// `!Relation(fields)`: there is no such tuple.
    Absent(String),
    /// `let pattern = value`, or nothing if it does not match.
    Let {
        pattern: String,
        value: String,
        refutable: bool,
    },
    /// A condition.
    If(String),
    /// `for pattern in items`; `after` is run when all were tried. It is only for what is nested.
    For {
        pattern: String,
        items: String,
        after: String,
    },
}

/// The clauses as crepe has them.
pub(super) fn clauses(steps: &[Step]) -> String {
    let clauses: Vec<String> = steps
        .iter()
        .map(|step| match step {
            Step::Fact(fact) => fact.clone(),
            Step::Absent(fact) => format!("!{fact}"),
            Step::Let { pattern, value, .. } => format!("let {pattern} = {value}"),
            Step::If(condition) => format!("({condition})"),
            // crepe does not take a name behind `for` for bound: a relation behind it would bind it anew.
            Step::For { pattern, items, .. } if pattern != "_" => {
                format!("for {pattern} in {items}, let {pattern} = {pattern}")
            }
            Step::For { items, .. } => format!("for _ in {items}"),
        })
        .collect();
    match &*clauses {
        [] => "(true)".to_owned(),
        clauses => clauses.join(", "),
    }
}

/// The same nested in one another, with `innermost` where all hold; nothing if there is a relation among them.
pub(super) fn nested(steps: &[Step], innermost: &str) -> Option<String> {
    let mut text = innermost.to_owned();
    for step in steps.iter().rev() {
        text = match step {
            Step::Fact(_) | Step::Absent(_) => return None,
            Step::Let {
                pattern,
                value,
                refutable: true,
            } => format!("if let {pattern} = {value} {{ {text} }}"),
            Step::Let { pattern, value, .. } => format!("{{ let {pattern} = {value}; {text} }}"),
            Step::If(condition) => format!("if {condition} {{ {text} }}"),
            Step::For {
                pattern,
                items,
                after,
            } => {
                let mut text = format!("for {pattern} in {items} {{ {text} }}");
                if !after.is_empty() {
                    let _ = write!(text, " {after};");
                }
                text
            }
        };
    }
    Some(text)
}
