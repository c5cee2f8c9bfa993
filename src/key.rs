//! Names of predicates: `name/arity`.
//!
//! Nothing here knows whether a predicate exists.

use std::fmt;

/// The name and number of arguments of a predicate, written `name/arity`.
///
/// ```
/// use horngate::PredicateKey;
/// let key: PredicateKey = "may_execute_tool/2".parse().unwrap();
/// assert_eq!((key.name(), key.arity()), ("may_execute_tool", 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PredicateKey {
    name: Box<str>,
    arity: usize,
}

impl PredicateKey {
    /// The predicate `name/arity`.
    #[must_use]
    pub fn new(name: &str, arity: usize) -> Self {
        Self {
            name: name.into(),
            arity,
        }
    }

    /// The name, unquoted.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of arguments.
    #[must_use]
    pub fn arity(&self) -> usize {
        self.arity
    }
}

impl fmt::Display for PredicateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}",
            crate::syntax::quoted_atom(&self.name),
            self.arity
        )
    }
}

/// A text that is not of the form `name/arity`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form name/arity, as in `may_execute_tool/2`")]
pub struct BadPredicateKey(String);

impl std::str::FromStr for PredicateKey {
    type Err = BadPredicateKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadPredicateKey(text.to_owned());
        let (name, arity) = text.rsplit_once('/').ok_or_else(bad)?;
        let name = name
            .strip_prefix('\'')
            .and_then(|inner| inner.strip_suffix('\''))
            .unwrap_or(name);
        if name.is_empty() || !arity.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad());
        }
        Ok(Self::new(name, arity.parse().map_err(|_| bad())?))
    }
}
