//! Integers without bounds: `i64` on the fast path, `num-bigint` beyond.
//!
//! Nothing here wraps or saturates.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::cmp::Ordering;
use std::fmt;

/// An integer. Values that fit an `i64` are always [`Integer::Small`], so equality is structural.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Integer {
    /// Fits 64 bits.
    Small(i64),
    /// Does not fit 64 bits.
    Big(Box<BigInt>),
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self::Small(value)
    }
}

impl From<BigInt> for Integer {
    fn from(value: BigInt) -> Self {
        i64::try_from(&value).map_or_else(|_| Self::Big(Box::new(value)), Self::Small)
    }
}

impl Integer {
    /// The value as a big integer.
    #[must_use]
    pub fn to_big(&self) -> BigInt {
        match self {
            Self::Small(value) => BigInt::from(*value),
            Self::Big(value) => (**value).clone(),
        }
    }

    /// The nearest float; infinite beyond the range of floats.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the nearest float is what is asked for"
            )]
            Self::Small(value) => *value as f64,
            Self::Big(value) => value.to_f64().unwrap_or(f64::INFINITY),
        }
    }

    /// How many bytes it takes beyond a machine word.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Small(_) => 0,
            Self::Big(value) => usize::try_from(value.bits().div_ceil(8)).unwrap_or(usize::MAX),
        }
    }

    /// The same value with the other sign.
    #[must_use]
    pub fn negated(&self) -> Self {
        match self {
            Self::Small(value) => value
                .checked_neg()
                .map_or_else(|| Self::from(-BigInt::from(*value)), Self::Small),
            Self::Big(value) => Self::from(-(**value).clone()),
        }
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Small(a), Self::Small(b)) => a.cmp(b),
            (a, b) => a.to_big().cmp(&b.to_big()),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(value) => value.fmt(f),
            Self::Big(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_form() {
        let edge = BigInt::from(i64::MAX);
        assert_eq!(Integer::from(edge.clone()), Integer::Small(i64::MAX));
        assert!(matches!(Integer::from(edge + 1), Integer::Big(_)));
        let least = Integer::Small(i64::MIN);
        assert_eq!(least.negated().to_string(), "9223372036854775808");
        assert_eq!(least.negated().negated(), least);
        assert!(least < least.negated());
    }
}
