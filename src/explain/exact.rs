//! Arithmetic of the naive evaluator: exact, or without a value.
//!
//! Nothing here has a short cut for small numbers.

use super::naive::Stop;
use crate::analysis::rule::BinaryOperator;
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use std::cmp::Ordering;

/// A number, always in the general form.
pub(super) enum Number {
    Whole(BigInt),
    Float(f64),
}

impl Number {
    fn float(&self) -> Result<f64, Stop> {
        match self {
            Self::Float(float) => Ok(*float),
            Self::Whole(whole)
                if whole.bits() <= 53
                    || whole.magnitude() == BigInt::from(1_u64 << 53).magnitude() =>
            {
                whole.to_f64().ok_or(Stop::NoValue)
            }
            Self::Whole(_) => Err(Stop::NoValue),
        }
    }

    pub(super) fn compare(&self, other: &Self) -> Result<Ordering, Stop> {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => Ok(a.cmp(b)),
            _ => self
                .float()?
                .partial_cmp(&other.float()?)
                .ok_or(Stop::NoValue),
        }
    }

    pub(super) fn combine(self, operator: BinaryOperator, other: Self) -> Result<Self, Stop> {
        use BinaryOperator as Op;
        let checked = |float: f64| {
            if float.is_finite() {
                Ok(Self::Float(float))
            } else {
                Err(Stop::NoValue)
            }
        };
        if let Op::Minimum | Op::Maximum = operator {
            let wanted = if operator == Op::Minimum {
                Ordering::Less
            } else {
                Ordering::Greater
            };
            let order = self.compare(&other)?;
            let negative_zero = |number: &Self| matches!(number, Self::Float(f) if *f == 0.0 && f.is_sign_negative());
            if order.is_eq() && (negative_zero(&self) || negative_zero(&other)) {
                return Err(Stop::NoValue);
            }
            let first = order == wanted || order.is_eq() && matches!(self, Self::Float(_));
            return Ok(if first { self } else { other });
        }
        let whole = match (&self, &other) {
            (Self::Whole(a), Self::Whole(b)) => Some((a, b)),
            _ => None,
        };
        if let (Op::IntegerDivide | Op::Modulo | Op::Remainder | Op::Divide, Some((_, b))) =
            (operator, whole)
            && b.is_zero()
        {
            return Err(Stop::NoValue);
        }
        let result = match (operator, whole) {
            (Op::Add, Some((a, b))) => a + b,
            (Op::Subtract, Some((a, b))) => a - b,
            (Op::Multiply, Some((a, b))) => a * b,
            (Op::IntegerDivide, Some((a, b))) => a / b,
            (Op::Remainder, Some((a, b))) => a % b,
            (Op::Modulo, Some((a, b))) => ((a % b) + b) % b,
            (Op::Divide, Some((a, b))) if (a % b).is_zero() => a / b,
            (Op::Divide, _) => {
                let divisor = other.float()?;
                if divisor == 0.0 {
                    return Err(Stop::NoValue);
                }
                return checked(self.float()? / divisor);
            }
            (Op::Add, None) => return checked(self.float()? + other.float()?),
            (Op::Subtract, None) => return checked(self.float()? - other.float()?),
            (Op::Multiply, None) => return checked(self.float()? * other.float()?),
            _ => return Err(Stop::NoValue),
        };
        // The digit budget of the language.
        if result.bits() > 13_610 {
            return Err(Stop::NoValue);
        }
        Ok(Self::Whole(result))
    }
}
