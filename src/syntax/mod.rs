//! Text to clauses: what SWI-Prolog reads from a rule file, or a diagnostic.
//!
//! Nothing here knows what a predicate means, resolves a name or looks at another file. A text is read
//! exactly as SWI-Prolog reads it (module `user`, default flags) or it is refused.

pub mod ast;
mod build;
mod comments;
mod context;
pub(crate) mod facts;
mod format;
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
pub(crate) use comments::line_comments;
pub(crate) use facts::{Argument, Fact, scan as scan_fact};
pub use format::format;
pub(crate) use parse::{NextClause, next_clause, out_of_clauses, parse_within};
pub use parse::{Parsed, parse, parse_goal};
pub use print::{QuotedAtom, quoted_atom};
