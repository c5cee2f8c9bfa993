//! Terms as SWI-Prolog's `writeq/1` writes them.
use super::ast::Term;
use std::fmt;

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{:?}", self.kind) }
}
/// x
pub struct QuotedAtom<'a>(pub &'a str);
/// x
pub fn quoted_atom(name: &str) -> String { name.to_owned() }
