//! How far a clause gets, as Prolog reads it: from left to right, with the values that get furthest.
//!
//! Nothing here says what would help.

use super::solve::{Scope, Search};
use super::written::{self, Binding, Writer};
use crate::analysis::rule::{Literal, LiteralKind, Pattern, PredicateId, Rule};
use crate::value::Value;
use std::ops::ControlFlow;

/// How many rows one clause may look at.
const FUEL: u64 = 20_000;

/// Where a clause fails.
#[derive(Clone, Debug)]
pub(super) struct Reached {
    /// How many literals hold; `None` if the head does not match.
    pub(super) literals: Option<usize>,
    /// What fails.
    pub(super) text: String,
}

/// How far the rule gets for a tuple with the known values.
pub(super) fn reach(search: &mut Search<'_>, rule: &Rule, known: &[Option<Value>]) -> Reached {
    let mut binding: Binding = vec![None; rule.variables.len()];
    let matched = rule
        .args
        .iter()
        .zip(known)
        .all(|(arg, value)| value.is_none_or(|value| search.matches(arg, value, &mut binding)));
    let data = &search.model.rulebase().data;
    if !matched {
        let writer = Writer {
            data,
            constants: &search.constants,
            rule,
            binding: &vec![None; rule.variables.len()],
        };
        return Reached {
            literals: None,
            text: writer.head().to_string(),
        };
    }
    let mut walk = Walk {
        scope: Scope::new(rule, None),
        furthest: 0,
        at: rule.body.first(),
        binding: binding.clone(),
    };
    search.fuel = Some(FUEL);
    let _ = walk.from(search, 0, &binding, &[]);
    search.fuel = None;
    let writer = Writer {
        data,
        constants: &search.constants,
        rule,
        binding: &walk.binding,
    };
    let text = match walk.at {
        Some(literal) => written::test(&writer.named(literal)),
        None => writer.head().to_string(),
    };
    Reached {
        literals: Some(walk.furthest),
        text,
    }
}

struct Walk<'r> {
    scope: Scope<'r>,
    furthest: usize,
    /// The literal that fails there.
    at: Option<&'r Literal>,
    binding: Binding,
}

impl<'r> Walk<'r> {
    /// Goes on from a literal, with those before it that lacked values.
    fn from(
        &mut self,
        search: &mut Search<'_>,
        number: usize,
        binding: &Binding,
        waiting: &[&'r Literal],
    ) -> ControlFlow<()> {
        let rule = self.scope.rule;
        let mut binding = binding.clone();
        let mut waiting = waiting.to_vec();
        let mut number = number;
        loop {
            // What waits for values is looked at again as soon as it has them.
            let mut at = 0;
            while let Some(literal) = waiting.get(at) {
                match search.test(&self.scope, literal, &mut binding) {
                    Some(true) => drop(waiting.remove(at)),
                    Some(false) => {
                        self.fails(number, literal, &binding);
                        return ControlFlow::Continue(());
                    }
                    None => at += 1,
                }
            }
            let Some(literal) = rule.body.get(number) else {
                return ControlFlow::Continue(());
            };
            match search.test(&self.scope, literal, &mut binding) {
                Some(true) => {}
                Some(false) => {
                    self.fails(number, literal, &binding);
                    return ControlFlow::Continue(());
                }
                None => match choices(search, literal, &binding) {
                    Some(choices) => {
                        self.fails(number, literal, &binding);
                        return choices.each(search, &binding, &mut |search, next| {
                            self.from(search, number + 1, next, &waiting)
                        });
                    }
                    None => waiting.push(literal),
                },
            }
            number += 1;
        }
    }

    /// Remembers a literal that fails after so many, if none was reached that stands behind it.
    fn fails(&mut self, number: usize, literal: &'r Literal, binding: &Binding) {
        if number > self.furthest {
            self.furthest = number;
            self.at = Some(literal);
            self.binding.clone_from(binding);
        }
    }
}

/// What a literal can be tried with.
enum Choices<'r> {
    Rows(PredicateId, &'r [Pattern], Vec<Option<Value>>),
    Items(&'r Pattern, Value),
}

/// What a literal can be tried with; `None` if it lacks values even for that.
fn choices<'r>(
    search: &mut Search<'_>,
    literal: &'r Literal,
    binding: &Binding,
) -> Option<Choices<'r>> {
    match &literal.kind {
        LiteralKind::Call(callee, args) => {
            let known = args.iter().map(|arg| search.value(arg, binding));
            Some(Choices::Rows(*callee, args, known.collect()))
        }
        LiteralKind::Member(item, list, _) => {
            Some(Choices::Items(item, search.value(list, binding)?))
        }
        _ => None,
    }
}

impl Choices<'_> {
    /// Calls `go_on` with each binding that one of them gives.
    fn each<'m>(
        &self,
        search: &mut Search<'m>,
        binding: &Binding,
        go_on: &mut dyn FnMut(&mut Search<'m>, &Binding) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match self {
            Self::Rows(callee, args, known) => {
                let model = search.model;
                model.matching(*callee, known, &mut |_, row| {
                    search.burn()?;
                    let mut next = binding.clone();
                    match search.matches_row(args, row, &mut next) {
                        true => go_on(search, &next),
                        false => ControlFlow::Continue(()),
                    }
                })
            }
            Self::Items(item, list) => {
                let items: Vec<Value> = search.constants.members(*list).collect();
                items.into_iter().try_for_each(|value| {
                    search.burn()?;
                    let mut next = binding.clone();
                    match search.matches(item, value, &mut next) {
                        true => go_on(search, &next),
                        false => ControlFlow::Continue(()),
                    }
                })
            }
        }
    }
}
