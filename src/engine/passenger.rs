//! Passengers: in `p(X, Z) :- p(X, Y), e(Y, Z)` the variable `X` only rides along, so the fixpoint runs value by value
//! of `X`, and what one value reaches is marked in an array instead of looked up in a set.
//!
//! Nothing here handles any other recursion; [`closure`] says whether a component is of this kind.

use crate::analysis::rule::{LiteralKind, Pattern, PredicateId, Rule, Variable};
use crate::value::Value;

/// A component of one predicate with two columns whose recursion carries one column along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closure {
    /// The column that rides along.
    pub(crate) passenger: usize,
    /// The ways to go on from a value of the other column.
    pub(crate) edges: Vec<Edge>,
}

/// From the value in column `from` of a relation to that in the other column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The relation; `None` means the tuples that the predicate has without recursion.
    pub(crate) predicate: Option<PredicateId>,
    pub(crate) from: usize,
}

/// The closure that a predicate's recursive rules come to, if all are of that kind.
pub(crate) fn closure(predicate: PredicateId, recursive: &[&Rule]) -> Option<Closure> {
    if recursive.is_empty() {
        return None;
    }
    // `p(X, Z) :- p(X, Y), p(Y, Z)` alone is the transitive closure of what `p` has otherwise.
    if let [rule] = recursive
        && let Some((first, second)) = two_calls(rule)
        && first.0 == predicate
        && second.0 == predicate
    {
        let (x, z) = pair(&rule.args)?;
        let path = |a: (Variable, Variable), b: (Variable, Variable)| {
            a.0 == x && b.1 == z && a.1 == b.0 && distinct(x, a.1, z)
        };
        let holds = path(first.1, second.1) || path(second.1, first.1);
        return holds.then(|| Closure {
            passenger: 0,
            edges: vec![Edge {
                predicate: None,
                from: 0,
            }],
        });
    }
    let mut found: Option<Closure> = None;
    for rule in recursive {
        let (passenger, edge) = step(predicate, rule)?;
        match &mut found {
            None => {
                found = Some(Closure {
                    passenger,
                    edges: vec![edge],
                });
            }
            Some(closure) if closure.passenger == passenger => closure.edges.push(edge),
            Some(_) => return None,
        }
    }
    found
}

/// The passenger column and the edge of one rule.
fn step(predicate: PredicateId, rule: &Rule) -> Option<(usize, Edge)> {
    let (first, second) = two_calls(rule)?;
    let (recursive, other) = match (first.0 == predicate, second.0 == predicate) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return None,
    };
    let head = pair(&rule.args)?;
    let column = |pair: (Variable, Variable), at: usize| if at == 0 { pair.0 } else { pair.1 };
    (0..2).find_map(|passenger| {
        let moving = 1 - passenger;
        let (old, new) = (column(recursive.1, moving), column(head, moving));
        let rides = column(recursive.1, passenger);
        let from = match other.1 {
            (a, b) if a == old && b == new => 0,
            (a, b) if b == old && a == new => 1,
            _ => return None,
        };
        let fits = rides == column(head, passenger) && distinct(rides, old, new);
        fits.then_some((
            passenger,
            Edge {
                predicate: Some(other.0),
                from,
            },
        ))
    })
}

fn distinct(a: Variable, b: Variable, c: Variable) -> bool {
    a != b && b != c && a != c
}

type Call = (PredicateId, (Variable, Variable));

fn two_calls(rule: &Rule) -> Option<(Call, Call)> {
    let call = |kind: &LiteralKind| match kind {
        LiteralKind::Call(predicate, args) => Some((*predicate, pair(args)?)),
        _ => None,
    };
    match &*rule.body {
        [first, second] => Some((call(&first.kind)?, call(&second.kind)?)),
        _ => None,
    }
}

fn pair(args: &[Pattern]) -> Option<(Variable, Variable)> {
    match args {
        [Pattern::Variable(a), Pattern::Variable(b)] => Some((*a, *b)),
        _ => None,
    }
}

/// Marks of values, all cleared at once.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    stamps: Vec<u32>,
    now: u32,
}

impl Marks {
    /// Clears all marks.
    pub(crate) fn clear(&mut self) {
        if self.now == u32::MAX {
            self.stamps.fill(0);
            self.now = 0;
        }
        self.now += 1;
    }

    /// Marks the value; says whether it was not marked.
    #[inline]
    pub(crate) fn mark(&mut self, value: Value) -> bool {
        let at = value.0 as usize;
        if at >= self.stamps.len() {
            self.stamps.resize((at + 1).next_power_of_two(), 0);
        }
        match self.stamps.get_mut(at) {
            Some(stamp) if *stamp != self.now => {
                *stamp = self.now;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Rulebase, Source};

    fn of(rules: &str) -> Option<(usize, usize)> {
        let rulebase = Rulebase::load([Source::new(
            "a.pl",
            format!(":- dynamic e/2, f/2.\n{rules}"),
        )])
        .unwrap();
        let data = &rulebase.data;
        let id = data.find(&"p/2".parse().unwrap()).unwrap();
        let recursive: Vec<_> = data
            .rules
            .iter()
            .filter(|rule| rule.head == id && crate::analysis::is_recursive(rule, &data.graph))
            .collect();
        super::closure(id, &recursive).map(|closure| (closure.passenger, closure.edges.len()))
    }

    #[test]
    fn linear_recursion_with_a_passenger_is_found() {
        assert_eq!(of("p(X,Z) :- p(X,Y), e(Y,Z)."), Some((0, 1)));
        assert_eq!(of("p(X,Z) :- e(Y,Z), p(X,Y)."), Some((0, 1)));
        assert_eq!(of("p(X,Z) :- e(X,Y), p(Y,Z)."), Some((1, 1)));
        assert_eq!(of("p(X,Z) :- p(X,Y), p(Y,Z)."), Some((0, 1)));
        assert_eq!(
            of("p(X,Z) :- p(X,Y), e(Y,Z). p(X,Z) :- p(X,Y), f(Z,Y)."),
            Some((0, 2))
        );
    }

    #[test]
    fn other_recursion_is_left_alone() {
        assert_eq!(of("p(X,Z) :- p(X,Y), e(Z,Z), f(Y,Z)."), None);
        assert_eq!(of("p(X,Y) :- p(Y,X)."), None);
        assert_eq!(of("p(X,Z) :- p(Y,X), e(Y,Z)."), None);
        assert_eq!(of("p(X,X) :- p(X,Y), e(Y,X)."), None);
        assert_eq!(
            of("p(X,Z) :- p(X,Y), e(Y,Z). p(X,Z) :- e(X,Y), p(Y,Z)."),
            None
        );
        assert_eq!(
            of("p(X,Z) :- p(X,Y), p(Y,Z). p(X,Z) :- p(X,Y), e(Y,Z)."),
            None
        );
        assert_eq!(of("p(X,Y) :- e(P,X), p(P,Q), e(Q,Y)."), None);
        assert_eq!(of("p(X,Z) :- p(X,Y), e(Y,Z), \\+ f(X,Z)."), None);
    }
}
