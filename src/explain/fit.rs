//! Whether the premises of a step are those that a clause's body asks for.
//!
//! Nothing here takes a premise's word for it: every test is evaluated, every absence is derived.

use super::document::Node;
use super::naive::{Known, Naive, Stop, is_ready};
use super::written::{self, Binding, Support, Writer};
use crate::analysis::Data;
use crate::analysis::rule::{Literal, Pattern, PredicateId, Rule};
use crate::value::Value;

/// A tuple of a predicate.
pub(super) type Tuple = (PredicateId, Vec<Value>);

/// One rule against premises.
pub(super) struct Fit<'f> {
    pub(super) data: &'f Data,
    pub(super) naive: &'f mut Naive,
    pub(super) rule: &'f Rule,
    pub(super) nodes: &'f [Node],
    /// The tuple of each node that is a fact, as far as they are proved.
    pub(super) tuples: &'f [Option<Tuple>],
}

/// How far a body has been gone through.
#[derive(Clone)]
struct State<'f> {
    /// The literals that are still to come: the innermost conjunction last.
    rest: Vec<&'f [Literal]>,
    binding: Binding,
    /// The premises that are no tuples: judged once the tuples have given their values.
    late: Vec<(&'f Literal, usize)>,
}

impl<'f> Fit<'f> {
    /// The binding under which the body comes to exactly these premises, if there is one.
    pub(super) fn body(&mut self, because: &[usize]) -> Result<Option<Binding>, Stop> {
        let rule = self.rule;
        let state = State {
            rest: vec![&rule.body],
            binding: vec![None; rule.variables.len()],
            late: Vec::new(),
        };
        self.go(because, state)
    }

    /// The tuple that the rule gives under a binding of its body.
    pub(super) fn head(&mut self, binding: &Binding) -> Option<Tuple> {
        let args = self.rule.args.iter();
        let row: Option<Vec<Value>> = args.map(|arg| self.naive.value(arg, binding)).collect();
        Some((self.rule.head, row?))
    }

    fn go(&mut self, mut because: &[usize], mut state: State<'f>) -> Result<Option<Binding>, Stop> {
        while let Some(body) = state.rest.pop() {
            self.naive.spend(1)?;
            let Some((literal, rest)) = body.split_first() else {
                continue;
            };
            state.rest.push(rest);
            let support = written::support(literal);
            if let Support::Witness(bodies) = support {
                for body in bodies {
                    let mut inner = state.clone();
                    inner.rest.push(body);
                    if let Some(binding) = self.go(because, inner)? {
                        return Ok(Some(binding));
                    }
                }
                return Ok(None);
            }
            let Some((premise, others)) = because.split_first() else {
                return Ok(None);
            };
            because = others;
            match support {
                Support::Fact(callee, args) => {
                    let matched = self.fact(*premise, callee, args, &state.binding);
                    let Some(binding) = matched else {
                        return Ok(None);
                    };
                    state.binding = binding;
                }
                _ => state.late.push((literal, *premise)),
            }
        }
        if because.is_empty() {
            self.late(state)
        } else {
            Ok(None)
        }
    }

    fn fact(
        &self,
        premise: usize,
        callee: PredicateId,
        args: &[Pattern],
        binding: &Binding,
    ) -> Option<Binding> {
        let (predicate, row) = self.tuples.get(premise)?.as_ref()?;
        (*predicate == callee).then(|| self.naive.match_all(args, row, binding))?
    }

    /// Judges what is no tuple, each as soon as the values that it needs are known.
    fn late(&mut self, state: State<'f>) -> Result<Option<Binding>, Stop> {
        let State {
            mut binding,
            mut late,
            ..
        } = state;
        while !late.is_empty() {
            let ready = late
                .iter()
                .position(|(literal, _)| is_ready(self.rule, literal, &binding));
            let Some((literal, premise)) = ready.map(|at| late.remove(at)) else {
                return Ok(None);
            };
            match self.other(premise, literal, &binding)? {
                Some(extended) => binding = extended,
                None => return Ok(None),
            }
        }
        Ok(Some(binding))
    }

    /// The binding under which a literal that is no tuple holds and is written as the premise is.
    fn other(
        &mut self,
        premise: usize,
        literal: &Literal,
        binding: &Binding,
    ) -> Result<Option<Binding>, Stop> {
        let Some(node) = self.nodes.get(premise) else {
            return Ok(None);
        };
        let mut called = Vec::new();
        literal.each_call(&mut |callee, _, _| called.push(callee));
        if called
            .iter()
            .any(|id| self.naive.known(*id) == Known::Nothing)
        {
            let wanted = self.data.graph.slice(called.iter().copied());
            self.naive.derive(&wanted)?;
        }
        // What has no model is not known to be absent.
        let unknown = |id: &PredicateId| self.naive.known(*id) != Known::Tuples;
        if called.iter().any(unknown) {
            return Ok(None);
        }
        let holds = match self.naive.holds(self.rule, literal, binding) {
            Ok(holds) => holds,
            Err(Stop::NoValue) => return Ok(None),
            Err(Stop::OutOfSteps) => return Err(Stop::OutOfSteps),
        };
        self.naive.spend(holds.len())?;
        Ok(holds.into_iter().find(|binding| {
            let writer = Writer {
                data: self.data,
                constants: &self.naive.constants,
                rule: self.rule,
                binding,
            };
            match written::support(literal) {
                Support::Absence(bodies) => {
                    node.absent.as_deref() == Some(&writer.absent(bodies).to_string())
                }
                _ => node.builtin.as_deref() == Some(&written::test(&writer.literal(literal))),
            }
        }))
    }
}

/// Calls `visit` with the predicates that a body says are absent.
pub(super) fn negated(body: &[Literal], visit: &mut dyn FnMut(PredicateId)) {
    for literal in body {
        match written::support(literal) {
            Support::Absence(_) => literal.each_call(&mut |callee, _, _| visit(callee)),
            Support::Witness(bodies) => bodies.iter().for_each(|body| negated(body, visit)),
            _ => {}
        }
    }
}
