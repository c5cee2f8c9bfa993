//! What the rules of a compiled module do with terms, lists and numbers: exactly what the engine does.
//!
//! Nothing here is read as "no" when it has no value: the clause's predicate is then without a model.

use super::{Run, Symbol};
use crate::analysis::rule::{BinaryOperator, Expression, UnaryOperator};
use crate::engine::{compare_numbers, evaluate_expression};
use crate::value::{Constant, Value};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// The terms of one [`Run`]. As a relation of its own it is at hand in the rules of a `crepe!` program.
///
/// ```
/// use horngate::compiled::{Interface, Run, Symbol};
/// use horngate::{Rulebase, Source};
/// const NOTHING: Interface = Interface { predicates: &[], constants: &[] };
/// let rulebase = Rulebase::load([Source::new("a.pl", "p(f(a), [f(a), b]).")]).unwrap();
/// let run = Run::new(&rulebase, &NOTHING)?;
/// let terms = run.terms();
///
/// let list = terms.find("[|]", &[]);
/// assert_eq!(list, Symbol::NONE, "a list cell has two parts");
/// let a = Symbol::new(0);
/// let term = terms.find("f", &[a]);
/// assert_eq!(terms.parts(term, "f"), Some([a]));
/// assert_eq!(terms.parts::<1>(term, "g"), None);
/// assert!(terms.compare(a, term).is_lt(), "atoms come before compounds");
/// assert!(terms.members(term).is_empty());
/// # Ok::<(), horngate::compiled::Mismatch>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Terms<'r>(pub(super) &'r Run);

/// Two are equal when they are of the same run.
impl PartialEq for Terms<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Terms<'_> {}

impl Hash for Terms<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self.0, state);
    }
}

impl<'r> Terms<'r> {
    fn values(self, symbols: &[Symbol]) -> Vec<Value> {
        let numbering = &self.0.numbering;
        symbols
            .iter()
            .map(|symbol| numbering.value(*symbol))
            .collect()
    }

    /// The arguments of a compound with this name and `N` of them.
    #[must_use]
    pub fn parts<const N: usize>(self, term: Symbol, name: &str) -> Option<[Symbol; N]> {
        let run = self.0;
        let constants = run.constants.borrow();
        match constants.get(run.numbering.value(term)) {
            Constant::Compound(other, args) if **other == *name => {
                let args = <&[Value; N]>::try_from(&**args).ok()?;
                Some(args.map(|value| run.numbering.symbol(value)))
            }
            _ => None,
        }
    }

    /// The compound, if it occurs anywhere; [`Symbol::NONE`] otherwise.
    #[must_use]
    pub fn find(self, name: &str, args: &[Symbol]) -> Symbol {
        let compound = Constant::Compound(name.into(), self.values(args).into());
        let constants = self.0.constants.borrow();
        constants
            .find(&compound)
            .map_or(Symbol::NONE, |value| self.0.numbering.symbol(value))
    }

    /// The standard order of terms.
    #[must_use]
    pub fn compare(self, left: Symbol, right: Symbol) -> Ordering {
        let run = self.0;
        let (left, right) = (run.numbering.value(left), run.numbering.value(right));
        run.constants.borrow().compare(left, right)
    }

    /// The items of a list; of what is no list, those of the list cells that it begins with.
    #[must_use]
    pub fn members(self, list: Symbol) -> Vec<Symbol> {
        let run = self.0;
        let constants = run.constants.borrow();
        constants
            .members(run.numbering.value(list))
            .map(|value| run.numbering.symbol(value))
            .collect()
    }

    /// What a rule does that may have no value: rule `rule` of the predicate at position `predicate`.
    #[must_use]
    pub fn at(self, predicate: usize, rule: usize) -> Clause<'r> {
        Clause {
            terms: self,
            predicate,
            rule,
        }
    }
}

/// A rule, and what in it may have no value. Where there is none, its predicate and all that depends on it have no
/// model.
///
/// ```
/// use horngate::compiled::{Entry, Interface, Run, Symbol};
/// use horngate::{Rulebase, Source};
/// const P: Interface = Interface {
///     predicates: &[Entry { name: "p", arity: 2, rules: "", constants: &[] }],
///     constants: &[],
/// };
/// let rulebase = Rulebase::load([Source::new("a.pl", "p(a, 7). p(b, 8).")]).unwrap();
/// let run = Run::new(&rulebase, &P)?;
/// let [atom, seven, _, eight] = [0, 1, 2, 3].map(Symbol::new);
/// let clause = run.terms().at(0, 0);
/// assert_eq!(clause.evaluate("-", [seven, eight]), clause.evaluate("-", [seven, eight]));
/// assert!(clause.compare(seven, eight).unwrap().is_lt());
/// assert!(clause.build("f", &[seven]).is_some());
/// clause.end(seven);
/// assert!(clause.compare(seven, atom).is_none());
///
/// let derived = run.finish();
/// let error = derived.count(&"p/2".parse().unwrap()).unwrap_err();
/// assert!(error.to_string().contains("end of a list"), "the first failure is the one that is told: {error}");
/// # Ok::<(), horngate::compiled::Mismatch>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clause<'r> {
    terms: Terms<'r>,
    predicate: usize,
    rule: usize,
}

impl Clause<'_> {
    fn fail(&self, reason: String) {
        let mut failures = self.terms.0.failures.borrow_mut();
        failures
            .entry(self.predicate)
            .or_insert((self.rule, reason));
    }

    /// The compound; none if it would nest too deep.
    #[must_use]
    pub fn build(&self, name: &str, args: &[Symbol]) -> Option<Symbol> {
        let run = self.terms.0;
        let args = self.terms.values(args);
        let built = run.constants.borrow_mut().compound(name, &args);
        match built {
            Ok(value) => Some(run.numbering.symbol(value)),
            Err(error) => {
                self.fail(error.to_string());
                None
            }
        }
    }

    /// The value of a function of one or two numbers, as in `X + 1`.
    #[must_use]
    pub fn evaluate<const N: usize>(&self, function: &str, args: [Symbol; N]) -> Option<Symbol> {
        let run = self.terms.0;
        let constant = |symbol| Expression::Constant(run.numbering.value(symbol));
        let expression = match &args[..] {
            [inner] => unary(function)
                .map(|operator| Expression::Unary(operator, Box::new(constant(*inner)))),
            [left, right] => binary(function).map(|operator| {
                Expression::Binary(operator, Box::new((constant(*left), constant(*right))))
            }),
            _ => None,
        };
        let Some(expression) = expression else {
            self.fail(format!("`{function}` is no function of {N} numbers"));
            return None;
        };
        let number = evaluate_expression(&expression, &run.constants.borrow(), &|_| Value(0));
        match number {
            Ok(number) => {
                let value = number.intern(&mut run.constants.borrow_mut());
                Some(run.numbering.symbol(value))
            }
            Err(error) => {
                self.fail(error.to_string());
                None
            }
        }
    }

    /// Compares two numbers by value.
    #[must_use]
    pub fn compare(&self, left: Symbol, right: Symbol) -> Option<Ordering> {
        let run = self.terms.0;
        let order = {
            let constants = run.constants.borrow();
            let number = |symbol| {
                let constant = Expression::Constant(run.numbering.value(symbol));
                evaluate_expression(&constant, &constants, &|_| Value(0))
            };
            number(left).and_then(|left| compare_numbers(&left, &number(right)?))
        };
        order.map_err(|error| self.fail(error.to_string())).ok()
    }

    /// Demands that what was searched to its end is a list.
    pub fn end(&self, list: Symbol) {
        let run = self.terms.0;
        let reason = {
            let constants = run.constants.borrow();
            let mut rest = run.numbering.value(list);
            while let Some((_, tail)) = constants.cell(rest) {
                rest = tail;
            }
            let proper = *constants.get(rest) == Constant::Nil;
            (!proper).then(|| {
                let end = constants.text(rest);
                format!("`memberchk` comes to `{end}` where the end of a list is due")
            })
        };
        if let Some(reason) = reason {
            self.fail(reason);
        }
    }
}

fn unary(function: &str) -> Option<UnaryOperator> {
    Some(match function {
        "-" => UnaryOperator::Minus,
        "+" => UnaryOperator::Plus,
        "abs" => UnaryOperator::Absolute,
        _ => return None,
    })
}

fn binary(function: &str) -> Option<BinaryOperator> {
    Some(match function {
        "+" => BinaryOperator::Add,
        "-" => BinaryOperator::Subtract,
        "*" => BinaryOperator::Multiply,
        "/" => BinaryOperator::Divide,
        "//" => BinaryOperator::IntegerDivide,
        "mod" => BinaryOperator::Modulo,
        "rem" => BinaryOperator::Remainder,
        "min" => BinaryOperator::Minimum,
        "max" => BinaryOperator::Maximum,
        _ => return None,
    })
}
