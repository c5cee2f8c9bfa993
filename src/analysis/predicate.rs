//! The predicates of a file set: who defines what, where.

use super::rule::PredicateId;
use crate::diagnostic::Diagnostic;
use crate::key::PredicateKey;
use crate::source::{SourceId, Span};
use std::collections::HashMap;

/// All that is known of one predicate before its rules are looked at.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) key: PredicateKey,
    /// Declared `dynamic`.
    pub(crate) dynamic: bool,
    /// The files that declare it `multifile`.
    pub(crate) multifile: Vec<SourceId>,
    /// Where it is declared, in any way that makes it defined.
    pub(crate) declared: Option<Span>,
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
        self.declared.is_some() || !self.defined.is_empty()
    }

    /// The first place that defines or declares it.
    pub(crate) fn place(&self) -> Option<Span> {
        self.defined
            .first()
            .map(|(_, span)| *span)
            .or(self.declared)
    }
}

/// The predicates of a file set, numbered in order of appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Predicates {
    list: Vec<Predicate>,
    index: HashMap<PredicateKey, PredicateId>,
    arities: HashMap<Box<str>, Vec<usize>>,
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
            declared: None,
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
            if !predicate.faults.contains(&diagnostic) {
                predicate.faults.push(diagnostic);
            }
        }
    }
}
