//! Clauses and terms as written, with the place of everything.
//!
//! Nothing here is checked beyond syntax. Equality ignores places: two facts from two lines are equal.

use crate::number::Integer;
use crate::source::Span;

/// One clause of a file, up to its end dot.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// What it is.
    pub kind: ClauseKind,
    /// From its first character to its end dot, that included.
    pub span: Span,
}

impl Clause {
    /// Moves it, as if `by` bytes stood before its text.
    pub(crate) fn shift(&mut self, by: u32) {
        self.span.shift(by);
        match &mut self.kind {
            ClauseKind::Fact(term) | ClauseKind::Directive(term) | ClauseKind::Query(term) => {
                term.shift(by);
            }
            ClauseKind::Rule(head, body)
            | ClauseKind::Grammar(head, body)
            | ClauseKind::SingleSided(head, body) => {
                head.shift(by);
                body.shift(by);
            }
        }
    }
}

/// The kinds of clause that Prolog text has.
#[derive(Clone, Debug, PartialEq)]
pub enum ClauseKind {
    /// `head.`
    Fact(Term),
    /// `head :- body.`
    Rule(Term, Term),
    /// `:- goal.`
    Directive(Term),
    /// `?- goal.`
    Query(Term),
    /// `head --> body.`: a grammar rule
    Grammar(Term, Term),
    /// `head => body.`: a single-sided unification rule
    SingleSided(Term, Term),
}

/// A term as written.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Where it stands; brackets around it are not part of it.
    pub span: Span,
}

impl PartialEq for Term {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// The kinds of term. The parser gives each term one form only, so that equal terms compare equal:
/// `','(a, (b, c))` is `Conjunction([a, b, c])`, `[a|[b]]` and `'[|]'(a, [b])` are `List([a, b], None)`.
#[derive(Clone, Debug, PartialEq)]
pub enum TermKind {
    /// A variable; the name `_` is the anonymous one, each time another.
    Variable(Box<str>),
    /// An atom, unquoted and unescaped. `'[]'` is one, `[]` is not.
    Atom(Box<str>),
    /// `[]`, which is no atom.
    Nil,
    /// An integer.
    Integer(Integer),
    /// A finite float.
    Float(f64),
    /// `"text"`, unescaped.
    String(Box<str>),
    /// `functor(args…)`, also as written with operators or braces. At least one argument.
    Compound(Box<str>, Vec<Term>),
    /// `[items…|tail]` with at least one item; no tail means `[]`.
    List(Vec<Term>, Option<Box<Term>>),
    /// `a, b, …`: at least two, nested to the right.
    Conjunction(Vec<Term>),
    /// `a ; b ; …`: at least two, nested to the right. `(a -> b ; c)` is one whose first part is `->`.
    Disjunction(Vec<Term>),
}

impl Term {
    /// The name and arity, if the term can be a head or a goal: an atom or a compound.
    #[must_use]
    pub fn functor(&self) -> Option<(&str, usize)> {
        match &self.kind {
            TermKind::Atom(name) => Some((name, 0)),
            TermKind::Compound(name, args) => Some((name, args.len())),
            TermKind::Conjunction(_) => Some((",", 2)),
            TermKind::Disjunction(_) => Some((";", 2)),
            _ => None,
        }
    }

    fn shift(&mut self, by: u32) {
        self.span.shift(by);
        match &mut self.kind {
            TermKind::Compound(_, parts)
            | TermKind::Conjunction(parts)
            | TermKind::Disjunction(parts) => parts.iter_mut().for_each(|part| part.shift(by)),
            TermKind::List(items, tail) => {
                items.iter_mut().for_each(|item| item.shift(by));
                if let Some(tail) = tail {
                    tail.shift(by);
                }
            }
            _ => {}
        }
    }

    /// The arguments of a compound; empty for anything else.
    #[must_use]
    pub fn args(&self) -> &[Term] {
        match &self.kind {
            TermKind::Compound(_, args) => args,
            _ => &[],
        }
    }
}
