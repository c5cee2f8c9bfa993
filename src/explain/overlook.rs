//! What a search does about a negation that does not hold: it overlooks what was found, or looks for what would make a
//! negation within it fail.
//!
//! Nothing here says that an absence is one.

use super::abduce::{Abduction, FUEL, Tuple};
use super::agenda::{Agenda, Part, Task, body, then};
use super::logic::Term;
use super::solve::Scope;
use super::written::Binding;
use crate::analysis::rule::{Literal, LiteralKind};
use crate::value::Value;
use std::ops::ControlFlow;

impl<'m> Abduction<'_, 'm> {
    /// What can be done about a literal that does not hold: an absence may be overlooked, and a negation within it may
    /// be made to fail.
    pub(super) fn otherwise<'r>(
        &mut self,
        part: &Part<'r>,
        agenda: &Agenda<'r>,
        delayed: &Agenda<'r>,
    ) -> ControlFlow<()>
    where
        'm: 'r,
    {
        let LiteralKind::Not(bodies, _) = &part.literal.kind else {
            return ControlFlow::Continue(());
        };
        let binding = self.binding(part);
        let scope = Scope::new(part.rule, None);
        for literals in bodies {
            let mut witness = None;
            self.search.fuel = Some(FUEL);
            self.search.extra = self.ground_facts();
            let _ = self
                .search
                .solve(&scope, literals, &binding, &mut |_, binding| {
                    witness = Some(binding.clone());
                    ControlFlow::Break(())
                });
            self.search.fuel = None;
            self.search.extra.clear();
            let Some(witness) = witness else { continue };
            if self.defeats.len() < self.limits.defeats
                && let tuples = self.tuples(literals, &witness)
                && !tuples.is_empty()
            {
                self.defeats.push(tuples);
                self.uses += 1;
                let flow = self.go(agenda.clone(), delayed.clone());
                self.uses -= 1;
                self.defeats.pop();
                flow?;
            }
            if self.facts.len() < self.limits.facts {
                let again = then(Task::Literal(part.clone()), agenda.clone());
                self.break_up(part, literals, &witness, &again, delayed)?;
            }
            // Each of the others would have to be dealt with as well, and is once the literal is tried again.
            return ControlFlow::Continue(());
        }
        ControlFlow::Continue(())
    }

    /// Makes one of the negations among the literals fail, which hold under the binding, and goes on.
    fn break_up<'r>(
        &mut self,
        part: &Part<'r>,
        literals: &'r [Literal],
        witness: &Binding,
        agenda: &Agenda<'r>,
        delayed: &Agenda<'r>,
    ) -> ControlFlow<()>
    where
        'm: 'r,
    {
        for literal in literals {
            let LiteralKind::Not(inner, _) = &literal.kind else {
                continue;
            };
            for literals in inner {
                self.choice(|this| {
                    let base = this.store.open(witness.len());
                    for (value, variable) in witness.iter().zip(base..) {
                        if let Some(value) = value {
                            let constants = &this.search.constants;
                            let (variable, value) = (Term::Variable(variable), Term::Value(*value));
                            this.store.unify(constants, &variable, &value);
                        }
                    }
                    let agenda = body(part.rule, literals, base, &part.path, agenda.clone());
                    this.go(agenda, delayed.clone())
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The tuples that the literals call under a binding that satisfies them.
    fn tuples(&mut self, literals: &[Literal], binding: &Binding) -> Vec<Tuple> {
        let mut tuples = Vec::new();
        for literal in literals {
            if let LiteralKind::Call(callee, args) = &literal.kind {
                let row = args.iter().map(|arg| self.search.value(arg, binding));
                if let Some(row) = row.collect::<Option<Vec<Value>>>() {
                    tuples.push((*callee, row));
                }
            }
        }
        tuples
    }
}
