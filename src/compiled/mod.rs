//! What a module made by [`crate::compile`] needs at run time: the facts of a loaded rulebase in, the derived tuples out.
//!
//! Nothing here derives anything, that is the generated code's work; and nothing here is a [`crate::Decision`], since
//! whoever calls [`Derived::take`] says what was derived. Applications use [`Derived`]; the rest is for generated code.

mod canonical;
mod derived;
mod hashing;
mod terms;

pub(crate) use canonical::Canonical;
/// The macro in which the rules are written, so that a package that has a compiled module needs no dependency on crepe.
pub use crepe::crepe;
pub use derived::Derived;
pub use hashing::{Hasher, Hashing};
pub use terms::{Clause, Terms};

use crate::analysis::{Data, Rulebase};
use crate::key::PredicateKey;
use crate::value::{Constants, Value};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A constant of one [`Run`]. The constants of the rules come first, in the order of [`Interface::constants`].
///
/// ```
/// use horngate::compiled::Symbol;
/// const ADMIN: Symbol = Symbol::new(0);
/// assert!(ADMIN != Symbol::new(1) && ADMIN != Symbol::NONE);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

impl Symbol {
    /// Stands for no constant at all: no fact has it.
    pub const NONE: Self = Self(u32::MAX);

    /// The constant with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }
}

/// A predicate that a compiled module answers for, with `N` arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate<const N: usize> {
    name: &'static str,
}

impl<const N: usize> Predicate<N> {
    /// The predicate `name/N`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Its name and number of arguments.
    ///
    /// ```
    /// use horngate::compiled::Predicate;
    /// const MAY_EXECUTE_TOOL_2: Predicate<2> = Predicate::new("may_execute_tool");
    /// assert_eq!(MAY_EXECUTE_TOOL_2.key().to_string(), "may_execute_tool/2");
    /// ```
    #[must_use]
    pub fn key(self) -> PredicateKey {
        PredicateKey::new(self.name, N)
    }
}

/// What a module was compiled from.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// Its predicates, sorted by name and arity.
    pub predicates: &'static [Entry],
    /// The constants of its rules, as `writeq` writes them.
    pub constants: &'static [&'static str],
}

/// One predicate of an [`Interface`].
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, unquoted.
    pub name: &'static str,
    /// Its number of arguments.
    pub arity: usize,
    /// The digest of its rules; empty if it has facts only.
    pub rules: &'static str,
    /// The constants of its rules in order of appearance, as positions of [`Interface::constants`].
    pub constants: &'static [usize],
}

impl Interface {
    fn position(&self, key: &PredicateKey) -> Option<usize> {
        self.predicates
            .binary_search_by(|entry| (entry.name, entry.arity).cmp(&(key.name(), key.arity())))
            .ok()
    }
}

/// A rulebase whose rules are not those that the module was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// A predicate has other rules, or has lost them.
    #[error(
        "the rules of `{0}` are not those that were compiled; compile them again, or load the facts with the module's own rules"
    )]
    Rules(PredicateKey),
    /// The module says of itself what cannot be.
    #[error("the module does not fit this version of horngate; compile the rules again")]
    Interface,
}

/// One evaluation: a rulebase that has the rules of the module, and the numbering of its constants.
///
/// ```
/// use horngate::compiled::{Entry, Interface, Run};
/// use horngate::{Rulebase, Source};
///
/// const FACTS_ONLY: Interface = Interface {
///     predicates: &[Entry { name: "p", arity: 1, rules: "", constants: &[] }],
///     constants: &[],
/// };
/// let facts = Rulebase::load([Source::new("facts.pl", "p(a). p(b).")]).unwrap();
/// let run = Run::new(&facts, &FACTS_ONLY)?;
/// assert_eq!(run.facts::<1>(0).count(), 2);
///
/// let rules = Rulebase::load([Source::new("rules.pl", "q(a). p(X) :- q(X).")]).unwrap();
/// assert!(Run::new(&rules, &FACTS_ONLY).is_err(), "`p/1` has got a rule");
/// # Ok::<(), horngate::compiled::Mismatch>(())
/// ```
#[derive(Debug)]
pub struct Run {
    rulebase: Rulebase,
    interface: &'static Interface,
    numbering: Numbering,
    constants: RefCell<Constants>,
    /// By predicate: the rule, by its number, that came to something without a value, and why.
    failures: RefCell<BTreeMap<usize, (usize, String)>>,
}

/// Which constant of the pool has which number as a [`Symbol`]: those of the rules come first, the others keep their order,
/// and so do those that are made at run time.
#[derive(Debug)]
struct Numbering {
    symbols: Vec<Symbol>,
    values: Vec<Value>,
}

impl Numbering {
    /// Numbers the constants of the rules, where they are known, and then the others of a pool of so many.
    fn new(first: Vec<Option<Value>>, len: u32) -> Option<Self> {
        let mut symbols = vec![Symbol::NONE; len as usize];
        for (number, value) in (0..).zip(&first) {
            if let Some(value) = value {
                let slot = symbols.get_mut(value.0 as usize)?;
                if *slot != Symbol::NONE {
                    return None;
                }
                *slot = Symbol(number);
            }
        }
        // A constant of rules that are not loaded stands for nothing.
        let mut values: Vec<Value> = first
            .into_iter()
            .map(|value| value.unwrap_or(Value(u32::MAX)))
            .collect();
        for (value, slot) in (0..).map(Value).zip(&mut symbols) {
            if *slot == Symbol::NONE {
                *slot = Symbol(u32::try_from(values.len()).ok()?);
                values.push(value);
            }
        }
        Some(Self { symbols, values })
    }

    /// How many symbols there are that stand for nothing.
    fn holes(&self) -> u32 {
        u32::try_from(self.values.len().saturating_sub(self.symbols.len())).unwrap_or(0)
    }

    fn symbol(&self, value: Value) -> Symbol {
        self.symbols
            .get(value.0 as usize)
            .copied()
            .unwrap_or_else(|| Symbol(value.0.saturating_add(self.holes())))
    }

    fn value(&self, symbol: Symbol) -> Value {
        match self.values.get(symbol.0 as usize) {
            Some(value) => *value,
            None if symbol == Symbol::NONE => Value(u32::MAX),
            None => Value(symbol.0.saturating_sub(self.holes())),
        }
    }
}

impl Run {
    /// Begins an evaluation of `rulebase` by a module.
    ///
    /// # Errors
    /// [`Mismatch`] unless the rulebase has exactly the module's rules for each of the module's predicates. The rules of
    /// predicates whose slice has a fault do not matter: there is no answer for them.
    pub fn new(rulebase: &Rulebase, interface: &'static Interface) -> Result<Self, Mismatch> {
        let data: &Data = &rulebase.data;
        let mut first: Vec<Option<Value>> = vec![None; interface.constants.len()];
        for entry in interface.predicates {
            let key = PredicateKey::new(entry.name, entry.arity);
            let Some(id) = data.predicates.find(&key) else {
                if entry.rules.is_empty() {
                    continue;
                }
                return Err(Mismatch::Rules(key));
            };
            if data.is_tainted(id) {
                continue;
            }
            let canonical = Canonical::of(data, id);
            if canonical.digest != entry.rules {
                return Err(Mismatch::Rules(key));
            }
            if canonical.constants.len() != entry.constants.len() {
                return Err(Mismatch::Interface);
            }
            for (value, position) in canonical.constants.into_iter().zip(entry.constants) {
                let text = interface.constants.get(*position);
                let fits = text.is_some_and(|text| data.constants.text(value) == *text);
                match first.get_mut(*position) {
                    Some(slot) if fits && slot.is_none_or(|known| known == value) => {
                        *slot = Some(value);
                    }
                    _ => return Err(Mismatch::Interface),
                }
            }
        }
        let numbering = Numbering::new(first, data.constants.len()).ok_or(Mismatch::Interface)?;
        Ok(Self {
            constants: RefCell::new(Constants::over(Arc::clone(&data.constants))),
            rulebase: rulebase.clone(),
            interface,
            numbering,
            failures: RefCell::default(),
        })
    }

    /// The facts of the predicate at a position of [`Interface::predicates`]; none if it has another number of arguments.
    pub fn facts<const N: usize>(&self, predicate: usize) -> impl Iterator<Item = [Symbol; N]> {
        facts(&self.rulebase, self.interface, &self.numbering, predicate)
    }

    /// What rules do with terms and numbers.
    #[must_use]
    pub fn terms(&self) -> Terms<'_> {
        Terms(self)
    }

    /// Ends the evaluation; what was derived is then handed over with [`Derived::take`].
    #[must_use]
    pub fn finish(self) -> Derived {
        Derived::new(self)
    }
}

fn facts<'r, const N: usize>(
    rulebase: &'r Rulebase,
    interface: &'static Interface,
    numbering: &'r Numbering,
    predicate: usize,
) -> impl Iterator<Item = [Symbol; N]> + use<'r, N> {
    let data: &Data = &rulebase.data;
    interface
        .predicates
        .get(predicate)
        .filter(|entry| entry.arity == N)
        .and_then(|entry| {
            data.predicates
                .find(&PredicateKey::new(entry.name, entry.arity))
        })
        .and_then(|id| data.facts.get(id.index()))
        .into_iter()
        .flat_map(|facts| facts.rows(N))
        .filter_map(|row| <[Value; N]>::try_from(row).ok())
        .map(|row| row.map(|value| numbering.symbol(value)))
}
