//! The grammar's actions: terms from their parts, each in its one form, none nested too deeply.
//!
//! Nothing here looks at tokens or decides what is an operator.

use super::ast::{Term, TermKind};
use super::lexer::Problem;
use crate::diagnostic::Code;
use crate::source::{SourceId, Span};

/// A term and how deeply it is nested; an atomic term has depth 0.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) term: Term,
    depth: usize,
}

impl Node {
    pub(super) fn atomic(kind: TermKind, span: Span) -> Self {
        Self {
            term: Term { kind, span },
            depth: 0,
        }
    }
}

/// Terms in a row: arguments, list items, conjuncts or alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Items {
    terms: Vec<Term>,
    depth: usize,
}

impl Items {
    pub(super) fn one(node: Node) -> Self {
        Self::default().and(node)
    }

    pub(super) fn and(mut self, node: Node) -> Self {
        self.depth = self.depth.max(node.depth);
        self.terms.push(node.term);
        self
    }
}

/// Makes the terms of one clause. A term over the depth limit becomes a problem and is replaced by an atom, so
/// that nothing deep is ever held.
#[derive(Debug)]
pub(super) struct Builder {
    source: SourceId,
    /// How deeply terms may be nested.
    depth: usize,
    problem: Option<Problem>,
}

impl Builder {
    pub(super) fn new(source: SourceId, depth: usize) -> Self {
        Self {
            source,
            depth,
            problem: None,
        }
    }

    /// The first problem met.
    pub(super) fn into_problem(self) -> Option<Problem> {
        self.problem
    }

    /// `name(items…)`, whether written so or with an operator or braces.
    pub(super) fn compound(&mut self, start: u32, name: &str, items: Items, end: u32) -> Node {
        let two = items.terms.len() == 2;
        match name {
            "," if two => self.conjunction(start, items, end),
            ";" if two => self.disjunction(start, items, end),
            "[|]" if two => {
                let Items { mut terms, depth } = items;
                let tail = terms.pop();
                let node = tail.map(|term| Node { term, depth });
                self.list(start, Items { terms, depth }, node, end)
            }
            _ => {
                let kind = TermKind::Compound(name.into(), items.terms);
                self.node(start, kind, items.depth + 1, end)
            }
        }
    }

    pub(super) fn infix(
        &mut self,
        start: u32,
        left: Node,
        name: &str,
        right: Node,
        end: u32,
    ) -> Node {
        self.compound(start, name, Items::one(left).and(right), end)
    }

    pub(super) fn prefix(&mut self, start: u32, name: &str, operand: Node, end: u32) -> Node {
        self.compound(start, name, Items::one(operand), end)
    }

    pub(super) fn conjunction(&mut self, start: u32, items: Items, end: u32) -> Node {
        let (terms, depth) = flattened(items, |kind| match kind {
            TermKind::Conjunction(inner) => Ok(inner),
            other => Err(other),
        });
        self.node(start, TermKind::Conjunction(terms), depth, end)
    }

    pub(super) fn disjunction(&mut self, start: u32, items: Items, end: u32) -> Node {
        let (terms, depth) = flattened(items, |kind| match kind {
            TermKind::Disjunction(inner) => Ok(inner),
            other => Err(other),
        });
        self.node(start, TermKind::Disjunction(terms), depth, end)
    }

    pub(super) fn list(&mut self, start: u32, items: Items, tail: Option<Node>, end: u32) -> Node {
        let Items { mut terms, depth } = items;
        let mut depth = depth + 1;
        let mut rest = None;
        if let Some(Node { term, depth: below }) = tail {
            match term.kind {
                TermKind::Nil => {}
                TermKind::List(more, last) => {
                    depth = depth.max(below);
                    terms.extend(more);
                    rest = last;
                }
                _ => {
                    depth = depth.max(below + 1);
                    rest = Some(Box::new(term));
                }
            }
        }
        self.node(start, TermKind::List(terms, rest), depth, end)
    }

    fn node(&mut self, start: u32, kind: TermKind, depth: usize, end: u32) -> Node {
        let span = Span::new(self.source, start, end);
        if depth <= self.depth {
            return Node {
                term: Term { kind, span },
                depth,
            };
        }
        if self.problem.is_none() {
            self.problem = Some(too_deep(span, depth, self.depth));
        }
        Node::atomic(TermKind::Nil, span)
    }
}

/// The problem of what starts at `span` and is nested `depth` levels deep.
pub(super) fn too_deep(span: Span, depth: usize, limit: usize) -> Problem {
    Problem::new(
        Code::NestedTooDeep,
        Span::new(
            span.source,
            span.start,
            span.start.saturating_add(1).min(span.end),
        ),
        format!("nested {depth} levels deep, and the limit is {limit}"),
    )
    .help("split the clause, or give the inner part a predicate of its own")
}

/// The items with the last one, if it is of the same kind, replaced by what it consists of.
fn flattened(
    items: Items,
    open: impl FnOnce(TermKind) -> Result<Vec<Term>, TermKind>,
) -> (Vec<Term>, usize) {
    let Items { mut terms, depth } = items;
    if let Some(Term { kind, span }) = terms.pop() {
        match open(kind) {
            Ok(inner) => terms.extend(inner),
            Err(kind) => terms.push(Term { kind, span }),
        }
    }
    (terms, depth + 1)
}
