//! Arithmetic as SWI-Prolog does it, exact or refused.
//!
//! Nothing here wraps, rounds in silence or yields a value that is not a number.

use crate::analysis::rule::{BinaryOperator, Expression, UnaryOperator};
use crate::number::Integer;
use crate::value::{Constant, Constants, Value};
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use std::cmp::Ordering;

/// How many bits an integer may have: about 4,096 decimal digits.
const MAX_BITS: u64 = 13_610;
/// Integers up to this one are floats without loss.
const EXACT: i64 = 1 << 53;

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(Integer),
    Float(f64),
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Undefined {
    #[error("`{0}` is not a number")]
    NotANumber(String),
    #[error("`{0}` needs integers")]
    NeedsIntegers(&'static str),
    #[error("division by zero")]
    DivisionByZero,
    #[error("the result is beyond the range of floats")]
    Overflow,
    #[error("an integer with more than 4096 digits")]
    TooManyDigits,
    #[error("the lesser and the greater of zeros with different signs are not supported")]
    NegativeZero,
    #[error("an integer and a float of this size cannot be combined exactly")]
    Inexact,
}

/// The value of an expression under a binding of its variables.
pub(crate) fn evaluate(
    expression: &Expression,
    constants: &Constants,
    binding: &impl Fn(crate::analysis::rule::Variable) -> Value,
) -> Result<Number, Undefined> {
    match expression {
        Expression::Constant(value) => number(*value, constants),
        Expression::Variable(variable) => number(binding(*variable), constants),
        Expression::Unary(operator, inner) => {
            unary(*operator, evaluate(inner, constants, binding)?)
        }
        Expression::Binary(operator, sides) => {
            let left = evaluate(&sides.0, constants, binding)?;
            let right = evaluate(&sides.1, constants, binding)?;
            binary(*operator, left, right)
        }
    }
}

fn number(value: Value, constants: &Constants) -> Result<Number, Undefined> {
    match constants.get(value) {
        Constant::Integer(integer) => Ok(Number::Integer(integer.clone())),
        Constant::Float(bits) => Ok(Number::Float(f64::from_bits(*bits))),
        _ => Err(Undefined::NotANumber(constants.text(value))),
    }
}

impl Number {
    /// Interns the number.
    pub(crate) fn intern(self, constants: &mut Constants) -> Value {
        match self {
            Self::Integer(integer) => constants.integer(integer),
            Self::Float(float) => constants.float(float),
        }
    }

    fn float(&self) -> Result<f64, Undefined> {
        match self {
            Self::Float(float) => Ok(*float),
            Self::Integer(Integer::Small(small)) if (-EXACT..=EXACT).contains(small) => {
                Ok(Integer::Small(*small).to_f64())
            }
            Self::Integer(_) => Err(Undefined::Inexact),
        }
    }
}

/// Compares by value.
pub(crate) fn compare(left: &Number, right: &Number) -> Result<Ordering, Undefined> {
    match (left, right) {
        (Number::Integer(a), Number::Integer(b)) => Ok(a.cmp(b)),
        _ => left
            .float()?
            .partial_cmp(&right.float()?)
            .ok_or(Undefined::Overflow),
    }
}

fn unary(operator: UnaryOperator, inner: Number) -> Result<Number, Undefined> {
    Ok(match (operator, inner) {
        (UnaryOperator::Plus, number) => number,
        (UnaryOperator::Minus, Number::Integer(integer)) => Number::Integer(integer.negated()),
        (UnaryOperator::Minus, Number::Float(float)) => Number::Float(-float),
        (UnaryOperator::Absolute, Number::Integer(integer)) => {
            Number::Integer(if integer < Integer::Small(0) {
                integer.negated()
            } else {
                integer
            })
        }
        (UnaryOperator::Absolute, Number::Float(float)) => Number::Float(float.abs()),
    })
}

fn binary(operator: BinaryOperator, left: Number, right: Number) -> Result<Number, Undefined> {
    match operator {
        BinaryOperator::Add => combine(left, right, i64::checked_add, |a, b| a + b, |a, b| a + b),
        BinaryOperator::Subtract => {
            combine(left, right, i64::checked_sub, |a, b| a - b, |a, b| a - b)
        }
        BinaryOperator::Multiply => {
            combine(left, right, i64::checked_mul, |a, b| a * b, |a, b| a * b)
        }
        BinaryOperator::Divide => divide(&left, &right),
        BinaryOperator::IntegerDivide => whole("//", &left, &right, i64::checked_div, |a, b| a / b),
        BinaryOperator::Remainder => whole("rem", &left, &right, i64::checked_rem, |a, b| a % b),
        BinaryOperator::Modulo => whole("mod", &left, &right, floored, |a, b| {
            let rest = &a % &b;
            if rest.is_zero() || rest.is_negative() == b.is_negative() {
                rest
            } else {
                rest + b
            }
        }),
        BinaryOperator::Minimum => choose(left, right, Ordering::Less),
        BinaryOperator::Maximum => choose(left, right, Ordering::Greater),
    }
}

fn combine(
    left: Number,
    right: Number,
    small: fn(i64, i64) -> Option<i64>,
    big: fn(BigInt, BigInt) -> BigInt,
    float: fn(f64, f64) -> f64,
) -> Result<Number, Undefined> {
    match (&left, &right) {
        (Number::Integer(Integer::Small(a)), Number::Integer(Integer::Small(b))) => {
            match small(*a, *b) {
                Some(result) => Ok(Number::Integer(Integer::Small(result))),
                None => bounded(big(BigInt::from(*a), BigInt::from(*b))),
            }
        }
        (Number::Integer(a), Number::Integer(b)) => bounded(big(a.to_big(), b.to_big())),
        _ => finite(float(left.float()?, right.float()?)),
    }
}

fn bounded(value: BigInt) -> Result<Number, Undefined> {
    if value.bits() > MAX_BITS {
        return Err(Undefined::TooManyDigits);
    }
    Ok(Number::Integer(Integer::from(value)))
}

fn finite(value: f64) -> Result<Number, Undefined> {
    if value.is_finite() {
        Ok(Number::Float(value))
    } else {
        Err(Undefined::Overflow)
    }
}

fn floored(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b)?;
    Some(if rest == 0 || (rest < 0) == (b < 0) {
        rest
    } else {
        rest + b
    })
}

/// `/`: an integer when that is exact, a float otherwise.
fn divide(left: &Number, right: &Number) -> Result<Number, Undefined> {
    let zero = match right {
        Number::Integer(integer) => *integer == Integer::Small(0),
        Number::Float(float) => *float == 0.0,
    };
    if zero {
        return Err(Undefined::DivisionByZero);
    }
    if let (Number::Integer(a), Number::Integer(b)) = (left, right) {
        let (a, b) = (a.to_big(), b.to_big());
        if (&a % &b).is_zero() {
            return Ok(Number::Integer(Integer::from(a / b)));
        }
    }
    finite(left.float()? / right.float()?)
}

fn whole(
    name: &'static str,
    left: &Number,
    right: &Number,
    small: fn(i64, i64) -> Option<i64>,
    big: fn(BigInt, BigInt) -> BigInt,
) -> Result<Number, Undefined> {
    let (Number::Integer(a), Number::Integer(b)) = (left, right) else {
        return Err(Undefined::NeedsIntegers(name));
    };
    if *b == Integer::Small(0) {
        return Err(Undefined::DivisionByZero);
    }
    if let (Integer::Small(a), Integer::Small(b)) = (a, b)
        && let Some(result) = small(*a, *b)
    {
        return Ok(Number::Integer(Integer::Small(result)));
    }
    bounded(big(a.to_big(), b.to_big()))
}

/// The lesser or the greater; of an integer and the equal float, the float.
fn choose(left: Number, right: Number, wanted: Ordering) -> Result<Number, Undefined> {
    let order = compare(&left, &right)?;
    let negative_zero = |number: &Number| matches!(number, Number::Float(float) if *float == 0.0 && float.is_sign_negative());
    if order == Ordering::Equal && (negative_zero(&left) || negative_zero(&right)) {
        return Err(Undefined::NegativeZero);
    }
    let first = order == wanted || (order == Ordering::Equal && matches!(left, Number::Float(_)));
    Ok(if first { left } else { right })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> Number {
        Number::Integer(Integer::Small(value))
    }

    #[test]
    fn signs_are_as_in_prolog() {
        let cases = [
            (BinaryOperator::IntegerDivide, -7, 2, -3),
            (BinaryOperator::Modulo, -7, 2, 1),
            (BinaryOperator::Modulo, 7, -2, -1),
            (BinaryOperator::Remainder, -7, 2, -1),
            (BinaryOperator::Divide, 4, 2, 2),
        ];
        for (operator, a, b, expected) in cases {
            assert_eq!(binary(operator, int(a), int(b)), Ok(int(expected)));
        }
        let half = binary(BinaryOperator::Divide, int(7), int(2));
        assert_eq!(half, Ok(Number::Float(3.5)));
    }

    #[test]
    fn nothing_wraps_and_nothing_is_made_up() {
        let least = binary(BinaryOperator::IntegerDivide, int(i64::MIN), int(-1)).unwrap();
        assert_eq!(least, Number::Integer(Integer::Small(i64::MIN).negated()));
        assert_eq!(
            binary(BinaryOperator::Modulo, int(i64::MIN), int(-1)),
            Ok(int(0))
        );
        let errors = [
            (BinaryOperator::Divide, int(1), int(0)),
            (BinaryOperator::Divide, int(1), Number::Float(0.0)),
            (BinaryOperator::Modulo, Number::Float(1.0), int(2)),
            (
                BinaryOperator::Multiply,
                Number::Float(1e300),
                Number::Float(1e300),
            ),
            (BinaryOperator::Add, int(EXACT + 1), Number::Float(1.0)),
        ];
        for (operator, a, b) in errors {
            assert!(binary(operator, a, b).is_err(), "{operator:?}");
        }
        let mut big = int(3);
        let squared = (0..20).try_for_each(|_| {
            big = binary(BinaryOperator::Multiply, big.clone(), big.clone())?;
            Ok::<(), Undefined>(())
        });
        assert_eq!(squared, Err(Undefined::TooManyDigits));
    }
}
