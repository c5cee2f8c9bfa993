//! Which clause grants: for a pair that an allowlist allows, the place in the rules to look at.
//!
//! Nothing here decides. A pair may have several reasons; the first clause that gives it is named.

use super::Allowlist;
use crate::source::{Source, SourceId, Sources, Span};
use crate::syntax::{self, ClauseKind, Term, TermKind};
use crate::value::Value;
use std::collections::HashMap;

/// Finds the clauses that grants come from.
///
/// ```
/// use horngate::{Allowlist, Budget, GrantingClauses, Rulebase, Source};
/// let rules = "role(ann, dev).
/// may_execute_tool(bob, tool_x).
/// may_execute_tool(A, tool_y) :- role(A, dev).
/// ";
/// let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
/// let model = rulebase.evaluate(&Budget::default()).unwrap();
/// let allowlist = Allowlist::bind(&model, "may_execute_tool/2").unwrap();
/// let sources = allowlist.sources();
/// let mut clauses = GrantingClauses::new(&allowlist, sources);
/// let line = |span| sources.start(span).line;
/// assert_eq!(clauses.find("bob", "x").map(line), Some(2));
/// assert_eq!(clauses.find("ann", "y").map(line), Some(3));
/// assert_eq!(clauses.find("ann", "x"), None);
/// ```
#[derive(Debug)]
pub struct GrantingClauses<'a> {
    allowlist: &'a Allowlist,
    sources: &'a Sources,
    written: Option<Written>,
}

/// The clauses of the allowlist, as they stand in the texts.
#[derive(Debug, Default)]
struct Written {
    facts: HashMap<[Value; 2], Span>,
    /// The heads and bodies of the rules.
    rules: Vec<(Span, Term, Term)>,
}

impl<'a> GrantingClauses<'a> {
    /// For the grants of `allowlist`, whose rules are read in `sources`: the allowlist's own, or the same texts again
    /// if they were loaded piece by piece. Where a text is missing or another one, or facts were updated since, nothing
    /// is found.
    #[must_use]
    pub fn new(allowlist: &'a Allowlist, sources: &'a Sources) -> Self {
        Self {
            allowlist,
            sources,
            written: None,
        }
    }

    /// The clause that allows `actor` to run `tool`, both as in [`Allowlist::decide`]; `None` if it is not allowed.
    pub fn find(&mut self, actor: &str, tool: &str) -> Option<Span> {
        self.clause(self.allowlist.values(actor, tool)?)
    }

    pub(super) fn clause(&mut self, row: [Value; 2]) -> Option<Span> {
        let (allowlist, sources) = (self.allowlist, self.sources);
        let written = self
            .written
            .get_or_insert_with(|| Written::read(allowlist, sources).unwrap_or_default());
        if let Some(span) = written.facts.get(&row) {
            return Some(*span);
        }
        match written.rules.as_slice() {
            [(span, ..)] => Some(*span),
            rules => {
                let mut rules = rules.iter();
                let found = rules.find(|(_, head, body)| gives(allowlist, row, head, body));
                found.map(|(span, ..)| *span)
            }
        }
    }
}

/// Whether a rule, called with the row, succeeds.
fn gives(allowlist: &Allowlist, row: [Value; 2], head: &Term, body: &Term) -> bool {
    let [actor, tool] = head.args() else {
        return false;
    };
    let equal = |written: &Term, value: Value| {
        let sides = vec![written.clone(), allowlist.term(value)];
        term(TermKind::Compound("=".into(), sides))
    };
    let goals = vec![equal(actor, row[0]), equal(tool, row[1]), body.clone()];
    let goal = term(TermKind::Conjunction(goals)).to_string();
    let answer = allowlist.model().query(&goal);
    answer.is_ok_and(|answers| answers.holds())
}

fn term(kind: TermKind) -> Term {
    Term {
        kind,
        span: Span::default(),
    }
}

impl Written {
    /// `None` if the texts are not those of the rules, the facts were updated, or their places are not known.
    fn read(allowlist: &Allowlist, sources: &Sources) -> Option<Self> {
        let data = &allowlist.model().data.rulebase.data;
        let same = |(id, kept): (SourceId, &Source)| {
            let read = sources.get(id);
            read.is_some_and(|read| read.is_same_text(kept) && read.has_text())
        };
        let updated = !allowlist.model().data.edits().is_empty();
        if updated || !data.sources.iter().all(same) {
            return None;
        }
        let id = data.find(allowlist.predicate())?;
        let facts = data.facts.get(id.index())?;
        if facts.spans.len() != facts.count {
            return None;
        }
        let mut places = HashMap::with_capacity(facts.count);
        for (row, span) in facts.rows(2).zip(&facts.spans) {
            if let [actor, tool] = row {
                places.entry([*actor, *tool]).or_insert(*span);
            }
        }
        let rules = data.rules_of.get(id.index())?.iter();
        let mut spans: Vec<Span> = rules
            .filter_map(|at| data.rules.get(*at))
            .map(|rule| rule.span)
            .collect();
        // The alternatives of one clause have its place.
        spans.dedup();
        let clause = |span: Span| {
            let text = Source::new("", sources.text(span));
            match syntax::parse(span.source, &text).clauses.pop()?.kind {
                ClauseKind::Rule(head, body) => Some((span, head, body)),
                _ => None,
            }
        };
        Some(Self {
            facts: places,
            rules: spans.into_iter().filter_map(clause).collect(),
        })
    }
}
