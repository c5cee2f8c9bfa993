//! The predicates of a file set: who defines what, where.

use super::near;
use super::rule::PredicateId;
use crate::diagnostic::Diagnostic;
use crate::key::PredicateKey;
use crate::source::{SourceId, Span};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

/// How far back a fault is looked for before it is recorded again.
const SAME_FAULT: usize = 64;
/// How many times a near name is looked for among all predicates.
const MAX_SUGGESTIONS: u32 = 20;

/// All that is known of one predicate before its rules are looked at.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) key: PredicateKey,
    /// Declared `dynamic`.
    pub(crate) dynamic: bool,
    /// The files that declare it `multifile`.
    pub(crate) multifile: Vec<SourceId>,
    /// Where it is declared, in any way that makes it defined.
    pub(crate) declared: Vec<Span>,
    /// The first clause in each file that has one.
    pub(crate) defined: Vec<(SourceId, Span)>,
    /// Defined in a module that does not export it.
    pub(crate) private: bool,
    /// What is wrong with it; empty for a predicate that can be evaluated.
    pub(crate) faults: Vec<Diagnostic>,
}

impl Predicate {
    /// Whether a call to it can be answered: it has a clause or a declaration.
    pub(crate) fn is_defined(&self) -> bool {
        !self.declared.is_empty() || !self.defined.is_empty()
    }

    /// The first place that defines or declares it.
    pub(crate) fn place(&self) -> Option<Span> {
        self.defined
            .first()
            .map(|(_, span)| *span)
            .or(self.declared.first().copied())
    }
}

/// The predicates of a file set, numbered in order of appearance.
#[derive(Debug, Default)]
pub(crate) struct Predicates {
    list: Vec<Predicate>,
    index: HashMap<PredicateKey, PredicateId>,
    arities: HashMap<Box<str>, Vec<usize>>,
    /// How many near names were looked for.
    suggestions: AtomicU32,
}

impl Predicates {
    /// The number of the predicate, a new one if it is not known yet.
    pub(crate) fn enter(&mut self, key: PredicateKey) -> PredicateId {
        if let Some(id) = self.index.get(&key) {
            return *id;
        }
        let id = PredicateId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.arities
            .entry(key.name().into())
            .or_default()
            .push(key.arity());
        self.index.insert(key.clone(), id);
        self.list.push(Predicate {
            key,
            dynamic: false,
            multifile: Vec::new(),
            declared: Vec::new(),
            defined: Vec::new(),
            private: false,
            faults: Vec::new(),
        });
        id
    }

    pub(crate) fn find(&self, key: &PredicateKey) -> Option<PredicateId> {
        self.index.get(key).copied()
    }

    pub(crate) fn get(&self, id: PredicateId) -> Option<&Predicate> {
        self.list.get(id.index())
    }

    pub(crate) fn get_mut(&mut self, id: PredicateId) -> Option<&mut Predicate> {
        self.list.get_mut(id.index())
    }

    /// The predicate's key; an empty one for a number of another set.
    pub(crate) fn key(&self, id: PredicateId) -> PredicateKey {
        self.get(id)
            .map_or_else(|| PredicateKey::new("", 0), |known| known.key.clone())
    }

    /// The defined predicate of this arity whose name is nearest to one that is not defined; looked for some times
    /// only, since each time costs a look at all names.
    pub(crate) fn nearest(&self, name: &str, arity: usize) -> Option<&str> {
        if self.suggestions.fetch_add(1, Ordering::Relaxed) >= MAX_SUGGESTIONS {
            return None;
        }
        let candidates = self
            .list
            .iter()
            .filter(|known| known.key.arity() == arity && known.is_defined())
            .map(|known| known.key.name());
        near::nearest(name, candidates)
    }

    /// The numbers of arguments with which `name` appears in the set.
    pub(crate) fn arities(&self, name: &str) -> &[usize] {
        self.arities.get(name).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PredicateId, &Predicate)> {
        (0..).map(PredicateId).zip(&self.list)
    }

    /// Puts the files that define each predicate in their order.
    pub(crate) fn sort_files(&mut self) {
        for predicate in &mut self.list {
            predicate.defined.sort_unstable();
        }
    }

    /// Records a fault of the predicate.
    pub(crate) fn fault(&mut self, id: PredicateId, diagnostic: Diagnostic) {
        if let Some(predicate) = self.get_mut(id) {
            let diagnostic = diagnostic.of(&predicate.key);
            // The alternatives of a clause may all have the same fault.
            let recent = predicate.faults.iter().rev().take(SAME_FAULT);
            if !recent.into_iter().any(|known| *known == diagnostic) {
                predicate.faults.push(diagnostic);
            }
        }
    }
}
