//! Constants, interned: equal constants are equal numbers.
//!
//! Nothing here forgets: a pool only grows, and a [`Value`] means something only with its pool.

use crate::number::Integer;
use crate::source::Span;
use crate::syntax::{Term, TermKind};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::sync::Arc;

/// How deep compound constants may nest; the length of lists does not count.
pub(crate) const MAX_CONSTANT_DEPTH: u32 = 256;

/// The functor of a list cell, as in SWI-Prolog.
const CELL: &str = "[|]";

/// An interned constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Value(pub(crate) u32);

/// What a value stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    /// An atom.
    Atom(Box<str>),
    /// `[]`, which is no atom.
    Nil,
    /// A string, which is never an atom.
    String(Box<str>),
    /// An integer.
    Integer(Integer),
    /// A float, by its bits: `0.0` and `-0.0` differ, as in Prolog.
    Float(u64),
    /// A compound term: its name and its arguments. A list cell is a compound named `[|]`.
    Compound(Box<str>, Box<[Value]>),
}

/// A term that nests deeper than [`MAX_CONSTANT_DEPTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a term nests more than {MAX_CONSTANT_DEPTH} levels deep")]
pub(crate) struct TooDeep;

/// A pool of constants, perhaps on top of another that does not change.
#[derive(Clone, Default)]
pub(crate) struct Constants {
    base: Option<Arc<Constants>>,
    first: u32,
    entries: Vec<(Constant, u32)>,
    table: HashTable<u32>,
    /// Atoms of at most 15 bytes, by their bytes: found without a look at the entries.
    short: HashTable<(ShortKey, u32)>,
    /// Room for [`Constants::atoms`].
    short_keys: Vec<(u64, u128)>,
    hasher: RandomState,
}

/// A text of at most 15 bytes as a number: its bytes, and above them its length plus one.
#[inline]
pub(crate) fn short_key(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    let length = bytes.len();
    let bits = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        _ if length > 15 => return None,
        (Some(first), Some(last)) => {
            // The last eight bytes overlap the first ones.
            let last = u128::from(u64::from_le_bytes(*last)) << (8 * (length - 8));
            u128::from(u64::from_le_bytes(*first)) | last
        }
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let last = u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4));
                u128::from(u64::from(u32::from_le_bytes(*first)) | last)
            }
            _ => bytes
                .iter()
                .rev()
                .fold(0, |bits, byte| bits << 8 | u128::from(*byte)),
        },
    };
    Some(bits | (length as u128 + 1) << 120)
}

/// The number of a short text as it is kept: in words of 32 bits, so that an entry takes 20 bytes and not 32.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortKey([u32; 4]);

impl ShortKey {
    #[inline]
    pub(crate) fn new(bits: u128) -> Self {
        Self([0, 32, 64, 96].map(|shift| (bits >> shift) as u32))
    }

    #[inline]
    pub(crate) fn bits(self) -> u128 {
        let [a, b, c, d] = self.0.map(u128::from);
        a | b << 32 | c << 64 | d << 96
    }
}

impl std::fmt::Debug for Constants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constants")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl Constants {
    /// A pool that knows all that `base` knows and adds its own.
    #[must_use]
    pub(crate) fn over(base: Arc<Self>) -> Self {
        Self {
            first: base.len(),
            hasher: base.hasher.clone(),
            base: Some(base),
            ..Self::default()
        }
    }

    /// The pool to keep: the base itself if nothing was added, and never on top of many others.
    pub(crate) fn settled(self) -> Arc<Self> {
        match &self.base {
            Some(base) if self.entries.is_empty() => Arc::clone(base),
            // A base that is not much larger takes the new ones in, so a chain is as long as the logarithm of its size.
            Some(base) if base.base.is_some() && base.entries.len() <= 2 * self.entries.len() => {
                let mut merged = (**base).clone();
                for (constant, depth) in self.entries {
                    merged.enter(constant, depth);
                }
                merged.settled()
            }
            _ => Arc::new(self),
        }
    }

    /// Adds a constant that the pool does not know.
    fn enter(&mut self, constant: Constant, depth: u32) -> Value {
        let at = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let short = match &constant {
            Constant::Atom(name) => short_key(name),
            _ => None,
        };
        if let Some(key) = short {
            let hasher = &self.hasher;
            self.short.insert_unique(
                hasher.hash_one(key),
                (ShortKey::new(key), at),
                |(key, _)| hasher.hash_one(key.bits()),
            );
            self.entries.push((constant, depth));
        } else {
            let hash = hash_of(&self.hasher, &constant);
            self.entries.push((constant, depth));
            let (entries, hasher) = (&self.entries, &self.hasher);
            self.table.insert_unique(hash, at, |at| {
                entries
                    .get(*at as usize)
                    .map_or(0, |entry| hash_of(hasher, &entry.0))
            });
        }
        Value(self.first + at)
    }

    /// How many constants there are, those of the base included.
    #[must_use]
    pub(crate) fn len(&self) -> u32 {
        self.first + u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    fn entry(&self, value: Value) -> Option<&(Constant, u32)> {
        let mut pool = self;
        while value.0 < pool.first {
            pool = pool.base.as_deref()?;
        }
        pool.entries.get((value.0 - pool.first) as usize)
    }

    /// What `value` stands for. A value of another pool stands for `[]`.
    #[must_use]
    pub(crate) fn get(&self, value: Value) -> &Constant {
        self.entry(value).map_or(&Constant::Nil, |entry| &entry.0)
    }

    /// How many bytes a constant takes beside its entry.
    pub(crate) fn bytes(&self, value: Value) -> u64 {
        let bytes = match self.get(value) {
            Constant::Atom(text) | Constant::String(text) => text.len(),
            Constant::Compound(name, args) => name.len() + args.len() * size_of::<Value>(),
            Constant::Integer(integer) => integer.bytes(),
            Constant::Nil | Constant::Float(_) => 0,
        };
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// How deep the deepest constant nests.
    pub(crate) fn deepest(&self) -> u32 {
        let own = self.entries.iter().map(|entry| entry.1).max().unwrap_or(0);
        let base = self.base.as_deref().map_or(0, Self::deepest);
        own.max(base)
    }

    fn depth(&self, value: Value) -> u32 {
        self.entry(value).map_or(0, |entry| entry.1)
    }

    fn find_hashed(&self, hash: u64, equal: &impl Fn(&Constant) -> bool) -> Option<Value> {
        let mut pool = Some(self);
        while let Some(current) = pool {
            let found = current.table.find(hash, |at| {
                current
                    .entries
                    .get(*at as usize)
                    .is_some_and(|entry| equal(&entry.0))
            });
            if let Some(at) = found {
                return Some(Value(current.first + at));
            }
            pool = current.base.as_deref();
        }
        None
    }

    /// The value of a constant, if the pool knows it.
    #[must_use]
    pub(crate) fn find(&self, constant: &Constant) -> Option<Value> {
        if let Constant::Atom(name) = constant {
            return self.find_atom(name);
        }
        self.find_hashed(hash_of(&self.hasher, constant), &|other| other == constant)
    }

    /// The value of the atom `name`, if the pool knows it. Allocates nothing.
    #[must_use]
    pub(crate) fn find_atom(&self, name: &str) -> Option<Value> {
        if let Some(key) = short_key(name) {
            return self.find_short(self.hasher.hash_one(key), key);
        }
        let hash = hash_text(&self.hasher, 0, name);
        self.find_hashed(
            hash,
            &|other| matches!(other, Constant::Atom(text) if **text == *name),
        )
    }

    fn find_short(&self, hash: u64, key: u128) -> Option<Value> {
        let mut pool = Some(self);
        while let Some(current) = pool {
            if let Some((_, at)) = current.short.find(hash, |(other, _)| other.bits() == key) {
                return Some(Value(current.first + at));
            }
            pool = current.base.as_deref();
        }
        None
    }

    fn insert(&mut self, constant: Constant, depth: u32) -> Value {
        let hash = hash_of(&self.hasher, &constant);
        if let Some(value) = self.find_hashed(hash, &|other| *other == constant) {
            return value;
        }
        self.enter(constant, depth)
    }

    /// Interns an atom.
    pub(crate) fn atom(&mut self, name: &str) -> Value {
        if let Some(key) = short_key(name) {
            let hash = self.hasher.hash_one(key);
            if let Some(value) = self.find_short(hash, key) {
                return value;
            }
            return self.enter(Constant::Atom(name.into()), 0);
        }
        self.find_atom(name)
            .unwrap_or_else(|| self.insert(Constant::Atom(name.into()), 0))
    }

    /// Interns atoms, in their order. Short ones that are known are found in one go, so that the processor waits for
    /// the memory of several at once.
    pub(crate) fn atoms<'t>(
        &mut self,
        names: impl Iterator<Item = &'t str> + Clone,
        found: &mut Vec<Option<Value>>,
    ) {
        let start = found.len();
        self.short_keys.clear();
        for name in names.clone() {
            let key = short_key(name).unwrap_or_default();
            self.short_keys.push((self.hasher.hash_one(key), key));
        }
        let keys = std::mem::take(&mut self.short_keys);
        found.extend(keys.iter().map(|(hash, key)| match key {
            0 => None,
            _ => self.find_short(*hash, *key),
        }));
        self.short_keys = keys;
        for (name, slot) in names.zip(found.iter_mut().skip(start)) {
            if slot.is_none() {
                *slot = Some(self.atom(name));
            }
        }
    }

    /// Interns a string.
    pub(crate) fn string(&mut self, text: &str) -> Value {
        self.insert(Constant::String(text.into()), 0)
    }

    /// Interns an integer.
    pub(crate) fn integer(&mut self, value: Integer) -> Value {
        self.insert(Constant::Integer(value), 0)
    }

    /// Interns a float.
    pub(crate) fn float(&mut self, value: f64) -> Value {
        self.insert(Constant::Float(value.to_bits()), 0)
    }

    /// Interns `[]`.
    pub(crate) fn nil(&mut self) -> Value {
        self.insert(Constant::Nil, 0)
    }

    /// Interns `name(args…)`.
    ///
    /// # Errors
    /// [`TooDeep`] when the term would nest deeper than the limit.
    pub(crate) fn compound(&mut self, name: &str, args: &[Value]) -> Result<Value, TooDeep> {
        let depth = match args {
            [head, tail] if name == CELL => (self.depth(*head) + 1).max(self.depth(*tail)),
            _ => 1 + args.iter().map(|arg| self.depth(*arg)).max().unwrap_or(0),
        };
        if depth > MAX_CONSTANT_DEPTH {
            return Err(TooDeep);
        }
        Ok(self.insert(Constant::Compound(name.into(), args.into()), depth))
    }

    /// Interns the list of `items` with the tail given.
    ///
    /// # Errors
    /// [`TooDeep`] when an item nests too deep.
    pub(crate) fn list(&mut self, items: &[Value], tail: Value) -> Result<Value, TooDeep> {
        items
            .iter()
            .rev()
            .try_fold(tail, |tail, item| self.compound(CELL, &[*item, tail]))
    }

    /// The head and tail, if `value` is a list cell.
    #[must_use]
    pub(crate) fn cell(&self, value: Value) -> Option<(Value, Value)> {
        match self.get(value) {
            Constant::Compound(name, args) if &**name == CELL => match **args {
                [head, tail] => Some((head, tail)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The items that `member/2` would give: those of the list cells, whatever the tail is.
    pub(crate) fn members(&self, list: Value) -> impl Iterator<Item = Value> {
        let mut rest = list;
        std::iter::from_fn(move || {
            let (head, tail) = self.cell(rest)?;
            rest = tail;
            Some(head)
        })
    }

    /// The text of an atom.
    #[must_use]
    pub(crate) fn atom_text(&self, value: Value) -> Option<&str> {
        match self.get(value) {
            Constant::Atom(name) => Some(name),
            _ => None,
        }
    }

    /// The standard order of terms, as SWI-Prolog's `compare/3` has it: numbers by value (a float before the
    /// integer it equals), strings, `[]`, atoms by code point, compounds by arity, name and arguments.
    #[must_use]
    pub(crate) fn compare(&self, a: Value, b: Value) -> Ordering {
        let (mut a, mut b) = (a, b);
        loop {
            if a == b {
                return Ordering::Equal;
            }
            match (self.get(a), self.get(b)) {
                (Constant::Compound(name, left), Constant::Compound(other, right)) => {
                    let order = left.len().cmp(&right.len()).then_with(|| name.cmp(other));
                    if order != Ordering::Equal {
                        return order;
                    }
                    let Some(((last_a, left), (last_b, right))) =
                        left.split_last().zip(right.split_last())
                    else {
                        return Ordering::Equal;
                    };
                    for (x, y) in left.iter().zip(right) {
                        let order = self.compare(*x, *y);
                        if order != Ordering::Equal {
                            return order;
                        }
                    }
                    (a, b) = (*last_a, *last_b);
                }
                (x, y) => return compare_simple(x, y),
            }
        }
    }

    /// The value as a term, for printing and for proofs; every part gets the place `span`.
    #[must_use]
    pub(crate) fn term(&self, value: Value, span: Span) -> Term {
        let part = |value| self.term(value, span);
        let kind = match self.get(value) {
            Constant::Atom(name) => TermKind::Atom(name.clone()),
            Constant::Nil => TermKind::Nil,
            Constant::String(text) => TermKind::String(text.clone()),
            Constant::Integer(value) => TermKind::Integer(value.clone()),
            Constant::Float(bits) => TermKind::Float(f64::from_bits(*bits)),
            Constant::Compound(name, args) => match (&**name, &**args) {
                (CELL, [_, _]) => {
                    let (mut items, mut rest) = (Vec::new(), value);
                    while let Some((head, tail)) = self.cell(rest) {
                        items.push(part(head));
                        rest = tail;
                    }
                    let tail = match self.get(rest) {
                        Constant::Nil => None,
                        _ => Some(Box::new(part(rest))),
                    };
                    TermKind::List(items, tail)
                }
                ("," | ";", [_, _]) => {
                    let (mut parts, mut rest) = (Vec::new(), value);
                    while let Constant::Compound(other, args) = self.get(rest)
                        && other == name
                        && let [first, second] = **args
                    {
                        parts.push(part(first));
                        rest = second;
                    }
                    parts.push(part(rest));
                    if &**name == "," {
                        TermKind::Conjunction(parts)
                    } else {
                        TermKind::Disjunction(parts)
                    }
                }
                _ => TermKind::Compound(name.clone(), args.iter().copied().map(part).collect()),
            },
        };
        Term { kind, span }
    }

    /// The value as `writeq` would write it.
    #[must_use]
    pub(crate) fn text(&self, value: Value) -> String {
        self.term(value, Span::default()).to_string()
    }

    /// Interns a ground term; `Ok(None)` when it holds a variable.
    ///
    /// # Errors
    /// [`TooDeep`] when the term nests deeper than the limit.
    pub(crate) fn intern(&mut self, term: &Term) -> Result<Option<Value>, TooDeep> {
        let value = match &term.kind {
            TermKind::Variable(_) => return Ok(None),
            TermKind::Atom(name) => self.atom(name),
            TermKind::Nil => self.nil(),
            TermKind::Integer(value) => self.integer(value.clone()),
            TermKind::Float(value) => self.float(*value),
            TermKind::String(text) => self.string(text),
            TermKind::Compound(name, args) => {
                let Some(args) = self.intern_all(args)? else {
                    return Ok(None);
                };
                self.compound(name, &args)?
            }
            TermKind::List(items, tail) => {
                let Some(items) = self.intern_all(items)? else {
                    return Ok(None);
                };
                let tail = match tail {
                    None => Some(self.nil()),
                    Some(tail) => self.intern(tail)?,
                };
                let Some(tail) = tail else { return Ok(None) };
                self.list(&items, tail)?
            }
            TermKind::Conjunction(parts) | TermKind::Disjunction(parts) => {
                let name = match term.kind {
                    TermKind::Conjunction(_) => ",",
                    _ => ";",
                };
                let Some(parts) = self.intern_all(parts)? else {
                    return Ok(None);
                };
                let Some((last, rest)) = parts.split_last() else {
                    return Ok(None);
                };
                rest.iter()
                    .rev()
                    .try_fold(*last, |tail, part| self.compound(name, &[*part, tail]))?
            }
        };
        Ok(Some(value))
    }

    fn intern_all(&mut self, terms: &[Term]) -> Result<Option<Vec<Value>>, TooDeep> {
        terms.iter().map(|term| self.intern(term)).collect()
    }
}

fn hash_text(hasher: &RandomState, kind: u8, text: &str) -> u64 {
    hasher.hash_one((kind, text))
}

fn hash_of(hasher: &RandomState, constant: &Constant) -> u64 {
    match constant {
        Constant::Atom(text) => hash_text(hasher, 0, text),
        other => hasher.hash_one(other),
    }
}

fn compare_simple(a: &Constant, b: &Constant) -> Ordering {
    let rank = |constant: &Constant| match constant {
        Constant::Integer(_) | Constant::Float(_) => 0,
        Constant::String(_) => 1,
        Constant::Nil => 2,
        Constant::Atom(_) => 3,
        Constant::Compound(..) => 4,
    };
    match (a, b) {
        (Constant::Integer(x), Constant::Integer(y)) => x.cmp(y),
        (Constant::Float(x), Constant::Float(y)) => {
            f64::from_bits(*x).total_cmp(&f64::from_bits(*y))
        }
        (Constant::Integer(x), Constant::Float(y)) => x
            .to_f64()
            .total_cmp(&f64::from_bits(*y))
            .then(Ordering::Greater),
        (Constant::Float(x), Constant::Integer(y)) => f64::from_bits(*x)
            .total_cmp(&y.to_f64())
            .then(Ordering::Less),
        (Constant::String(x), Constant::String(y)) | (Constant::Atom(x), Constant::Atom(y)) => {
            x.cmp(y)
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_with_the_same_text_differ() {
        let mut pool = Constants::default();
        let values = [
            pool.atom("1"),
            pool.string("1"),
            pool.integer(1.into()),
            pool.float(1.0),
            pool.nil(),
            pool.atom("[]"),
        ];
        for (at, value) in values.iter().enumerate() {
            assert!(!values[..at].contains(value));
        }
        assert_eq!(pool.atom("1"), values[0]);
        assert_eq!(pool.find_atom("1"), Some(values[0]));
        assert_eq!(pool.find_atom("2"), None);
    }

    #[test]
    fn an_overlay_keeps_the_numbers_of_its_base() {
        let mut base = Constants::default();
        let a = base.atom("a");
        let mut over = Constants::over(Arc::new(base));
        let b = over.atom("b");
        assert_eq!(over.atom("a"), a);
        assert_ne!(a, b);
        assert_eq!(over.atom_text(b), Some("b"));
        assert_eq!(over.atom_text(a), Some("a"));
    }

    #[test]
    fn long_lists_are_no_depth_and_deep_terms_are_refused() {
        let mut pool = Constants::default();
        let (item, nil) = (pool.atom("a"), pool.nil());
        let long = pool.list(&vec![item; 100_000], nil).unwrap();
        assert_eq!(pool.members(long).count(), 100_000);
        assert_eq!(pool.compare(long, nil), Ordering::Greater);
        let mut deep = Ok(item);
        for _ in 0..MAX_CONSTANT_DEPTH {
            deep = pool.compound("f", &[deep.unwrap()]);
        }
        assert_eq!(pool.compound("f", &[deep.unwrap()]), Err(TooDeep));
    }
}
