//! Text to clauses: what SWI-Prolog reads from a rule file, or a diagnostic.
//!
//! Nothing here knows what a predicate means, resolves a name or looks at another file. A text is read
//! exactly as SWI-Prolog reads it (module `user`, default flags) or it is refused.

pub mod ast;
mod build;
mod context;
mod hints;
mod lexer;
mod mistakes;
mod numeral;
pub mod operators;
mod parse;
mod print;
mod quoted;
mod shape;
mod tokens;

#[cfg(test)]
mod tests;

pub use ast::{Clause, ClauseKind, Term, TermKind};
pub use parse::{Parsed, parse, parse_goal};
pub use print::{QuotedAtom, quoted_atom};
