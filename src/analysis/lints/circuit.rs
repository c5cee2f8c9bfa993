//! What can ever hold: the rules as a circuit of conjunctions and alternatives.
//!
//! Nothing here looks at tuples: what it says can hold may still hold for nobody, what it says cannot never will. It is a
//! Datalog program, which the tests ask crepe; but crepe looks through all that a conjunction of two has passed in each
//! round, and long chains of rules have many rounds.

use crate::analysis::Facts;
use crate::analysis::predicate::Predicates;
use crate::analysis::rule::{
    Literal, LiteralKind, NotOrigin, Pattern, PredicateId, Rule, Variable,
};
use crate::source::Span;
use crate::value::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What cannot hold or fire, in which world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Not with the facts that are there.
    pub(super) now: bool,
    /// Not whatever facts are stated of declared predicates.
    pub(super) ever: bool,
}

/// A negation, by what stands in it.
#[derive(Debug)]
pub(super) struct Negation<'r> {
    pub(super) span: Span,
    pub(super) head: PredicateId,
    pub(super) origin: NotOrigin,
    pub(super) alternatives: &'r [Vec<Literal>],
    /// That what stands in it cannot hold.
    pub(super) never: Verdict,
}

/// A constant that a call asks for and no fact or rule of the called predicate has in that place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Missing {
    pub(super) callee: PredicateId,
    pub(super) column: usize,
    pub(super) value: Value,
}

/// The answers.
#[derive(Debug)]
pub(super) struct Circuit<'r> {
    /// For each predicate.
    pub(super) predicates: Vec<Verdict>,
    /// For each rule.
    pub(super) rules: Vec<Verdict>,
    pub(super) negations: Vec<Negation<'r>>,
    pub(super) missing: HashSet<Missing>,
}

/// What the circuit is made of.
pub(super) struct Parts<'r> {
    pub(super) rules: &'r [Rule],
    pub(super) facts: &'r [Facts],
    pub(super) predicates: &'r Predicates,
    /// For each predicate whether a clause of it could not be read: it may hold for anything.
    pub(super) unread: &'r [bool],
}

impl Parts<'_> {
    /// Whether facts of it may come that are not there: it is declared.
    fn is_declared(&self, id: PredicateId) -> bool {
        self.predicates
            .get(id)
            .is_some_and(|known| !known.declared.is_empty())
    }

    fn is_unread(&self, id: PredicateId) -> bool {
        self.unread.get(id.index()).copied().unwrap_or(true)
    }

    fn has_facts(&self, id: PredicateId) -> bool {
        self.facts
            .get(id.index())
            .is_some_and(|facts| facts.count > 0)
    }

    /// The constants that are asked for and that nothing has in that place.
    fn missing(&self) -> HashSet<Missing> {
        let mut wanted: BTreeMap<(PredicateId, usize), HashSet<Value>> = BTreeMap::new();
        for rule in self.rules {
            for literal in &rule.body {
                each_call(literal, &mut |callee, args| {
                    for (column, arg) in args.iter().enumerate() {
                        if let Pattern::Constant(value) = arg {
                            wanted.entry((callee, column)).or_default().insert(*value);
                        }
                    }
                });
            }
        }
        for rule in self.rules {
            for (column, arg) in rule.args.iter().enumerate() {
                match arg {
                    Pattern::Constant(value) => {
                        if let Some(values) = wanted.get_mut(&(rule.head, column)) {
                            values.remove(value);
                        }
                    }
                    _ => {
                        wanted.remove(&(rule.head, column));
                    }
                }
            }
        }
        let mut missing = HashSet::new();
        for ((callee, column), mut values) in wanted {
            let arity = self
                .predicates
                .get(callee)
                .map_or(0, |known| known.key.arity());
            // What has nothing at all is told in other words.
            if self.is_unread(callee) || !(self.has_facts(callee) || self.has_rules(callee)) {
                continue;
            }
            if let Some(facts) = self.facts.get(callee.index()) {
                for value in facts.values.iter().skip(column).step_by(arity.max(1)) {
                    if values.is_empty() {
                        break;
                    }
                    values.remove(value);
                }
            }
            let mut values: Vec<Value> = values.into_iter().collect();
            values.sort_unstable();
            missing.extend(values.into_iter().map(|value| Missing {
                callee,
                column,
                value,
            }));
        }
        missing
    }

    fn has_rules(&self, id: PredicateId) -> bool {
        self.predicates
            .get(id)
            .is_some_and(|known| !known.defined.is_empty())
    }
}

/// The first constant of a call that nothing has in its place.
pub(super) fn missing_of(
    missing: &HashSet<Missing>,
    callee: PredicateId,
    args: &[Pattern],
) -> Option<Missing> {
    args.iter().enumerate().find_map(|(column, arg)| match arg {
        Pattern::Constant(value) => {
            let wanted = Missing {
                callee,
                column,
                value: *value,
            };
            missing.contains(&wanted).then_some(wanted)
        }
        _ => None,
    })
}

fn each_call<'r>(literal: &'r Literal, visit: &mut impl FnMut(PredicateId, &'r [Pattern])) {
    match &literal.kind {
        LiteralKind::Call(callee, args) => visit(*callee, args),
        LiteralKind::Not(bodies, _) => {
            for literal in bodies.iter().flatten() {
                each_call(literal, visit);
            }
        }
        _ => {}
    }
}

/// What a double negation holds: a test that binds nothing.
fn tested(alternatives: &[Vec<Literal>]) -> Option<&[Vec<Literal>]> {
    match alternatives {
        [body] => match &**body {
            [literal] => match &literal.kind {
                LiteralKind::Not(inner, _) => Some(inner),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Whether a conjunction contradicts itself.
pub(super) fn contradicts_itself(body: &[Literal]) -> Option<Span> {
    /// Where bodies are longer, only single literals are looked at.
    const MAX_BODY: usize = 64;
    let mut equal: HashMap<Variable, Value> = HashMap::new();
    body.iter().enumerate().find_map(|(at, literal)| {
        let impossible = match &literal.kind {
            LiteralKind::Identical(false, left, right) => left == right,
            LiteralKind::Order(outcomes, left, right) => left == right && !outcomes.equal,
            LiteralKind::Compare(outcomes, left, right) => {
                left == right && left.is_plain() && !outcomes.equal
            }
            LiteralKind::Unify(variable, Pattern::Constant(value)) => equal
                .insert(*variable, *value)
                .is_some_and(|before| before != *value),
            LiteralKind::Not(alternatives, _) => {
                let denies = |other: &Literal| {
                    alternatives.iter().any(|body| match &**body {
                        [denied] => denied.kind == other.kind,
                        _ => false,
                    })
                };
                let others = body.len() <= MAX_BODY;
                alternatives.iter().any(Vec::is_empty)
                    || (others
                        && body
                            .iter()
                            .enumerate()
                            .any(|(other, literal)| other != at && denies(literal)))
            }
            _ => false,
        };
        impossible.then_some(literal.span)
    })
}

/// Chains of steps, each of which needs a node to hold; a node holds that is stated, or to which a chain leads that is
/// passed to its end.
#[derive(Debug, Default)]
struct Wiring {
    nodes: usize,
    /// The steps of each chain, and the node to which it leads.
    chains: Vec<(Vec<u32>, u32)>,
}

impl Wiring {
    fn node(&mut self) -> u32 {
        self.nodes += 1;
        u32::try_from(self.nodes - 1).unwrap_or(u32::MAX)
    }

    /// Which nodes hold and which chains are passed if these nodes are stated: each step is looked at once.
    fn run(&self, stated: impl Iterator<Item = u32>) -> (Vec<bool>, Vec<bool>) {
        // The steps that need each node, one after the other.
        let mut first = vec![0; self.nodes + 1];
        let steps = || self.chains.iter().flat_map(|(steps, _)| steps);
        for node in steps() {
            if let Some(count) = first.get_mut(*node as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for slot in &mut first {
            sum += *slot;
            *slot = sum;
        }
        let mut next = first.clone();
        let mut needed_by = vec![0; sum];
        for (chain, (steps, _)) in self.chains.iter().enumerate() {
            for node in steps {
                if let Some(at) = next.get_mut(*node as usize) {
                    if let Some(slot) = needed_by.get_mut(*at) {
                        *slot = chain;
                    }
                    *at += 1;
                }
            }
        }
        let mut missing: Vec<usize> = self.chains.iter().map(|(steps, _)| steps.len()).collect();
        let mut passed: Vec<bool> = missing.iter().map(|missing| *missing == 0).collect();
        let mut holds = vec![false; self.nodes];
        let ends = self.chains.iter().filter(|(steps, _)| steps.is_empty());
        let mut pending: Vec<u32> = stated.chain(ends.map(|(_, node)| *node)).collect();
        while let Some(node) = pending.pop() {
            let node = node as usize;
            match holds.get_mut(node) {
                Some(flag) if !*flag => *flag = true,
                _ => continue,
            }
            let range = first.get(node).zip(first.get(node + 1));
            let range = range.map_or(0..0, |(start, end)| *start..*end);
            for chain in needed_by.get(range).into_iter().flatten() {
                let Some(missing) = missing.get_mut(*chain) else {
                    continue;
                };
                *missing -= 1;
                if *missing == 0 {
                    if let Some(flag) = passed.get_mut(*chain) {
                        *flag = true;
                    }
                    pending.extend(self.chains.get(*chain).map(|(_, node)| *node));
                }
            }
        }
        (holds, passed)
    }
}

struct Builder<'r, 'p> {
    parts: &'p Parts<'r>,
    wiring: Wiring,
    missing: HashSet<Missing>,
    /// The nodes that hold with the facts that are there, and those that may with others.
    stated: [Vec<u32>; 2],
    /// The negations with their nodes.
    negations: Vec<(Negation<'r>, u32)>,
    /// The node that never holds.
    never: u32,
    absent: HashMap<Missing, u32>,
}

impl<'r> Circuit<'r> {
    pub(super) fn new(parts: &Parts<'r>) -> Self {
        let mut wiring = Wiring {
            nodes: parts.predicates.len(),
            chains: vec![(Vec::new(), 0); parts.rules.len()],
        };
        let never = wiring.node();
        let mut builder = Builder {
            parts,
            wiring,
            missing: parts.missing(),
            stated: [Vec::new(), Vec::new()],
            negations: Vec::new(),
            never,
            absent: HashMap::new(),
        };
        let [now, ever] = &mut builder.stated;
        for (id, _) in parts.predicates.iter() {
            let stated = parts.has_facts(id) || parts.is_unread(id);
            if stated {
                now.push(id.0);
            }
            if stated || parts.is_declared(id) {
                ever.push(id.0);
            }
        }
        for (at, rule) in parts.rules.iter().enumerate() {
            builder.chain(at, rule, &rule.body, rule.head.0);
        }
        builder.finish()
    }
}

impl<'r> Builder<'r, '_> {
    /// The steps of a conjunction. A negation is no step: whether it holds depends on tuples.
    fn chain(&mut self, chain: usize, rule: &'r Rule, body: &'r [Literal], end: u32) {
        let mut steps: Vec<u32> = Vec::new();
        if contradicts_itself(body).is_some() {
            steps.push(self.never);
        }
        for literal in body {
            match &literal.kind {
                LiteralKind::Call(callee, args) => {
                    steps.push(callee.0);
                    if let Some(missing) = missing_of(&self.missing, *callee, args) {
                        steps.push(self.absent(missing));
                    }
                }
                LiteralKind::Fail => steps.push(self.never),
                LiteralKind::Not(alternatives, origin) => match tested(alternatives) {
                    Some(inner) => {
                        let node = self.alternatives(rule, inner);
                        steps.push(node);
                    }
                    None => {
                        let node = self.alternatives(rule, alternatives);
                        let negation = Negation {
                            span: literal.span,
                            head: rule.head,
                            origin: *origin,
                            alternatives,
                            never: Verdict::default(),
                        };
                        self.negations.push((negation, node));
                    }
                },
                _ => {}
            }
        }
        if let Some(slot) = self.wiring.chains.get_mut(chain) {
            *slot = (steps, end);
        }
    }

    fn alternatives(&mut self, rule: &'r Rule, alternatives: &'r [Vec<Literal>]) -> u32 {
        let node = self.wiring.node();
        for body in alternatives {
            let chain = self.wiring.chains.len();
            self.wiring.chains.push((Vec::new(), node));
            self.chain(chain, rule, body, node);
        }
        node
    }

    /// The node of a constant that no fact has: a declared predicate may get one.
    fn absent(&mut self, missing: Missing) -> u32 {
        if let Some(node) = self.absent.get(&missing) {
            return *node;
        }
        let node = self.wiring.node();
        self.absent.insert(missing, node);
        if self.parts.is_declared(missing.callee) {
            let [_, ever] = &mut self.stated;
            ever.push(node);
        }
        node
    }

    fn finish(self) -> Circuit<'r> {
        let [now, ever] = self
            .stated
            .map(|stated| self.wiring.run(stated.into_iter()));
        let verdicts = |now: Vec<bool>, ever: Vec<bool>| -> Vec<Verdict> {
            let both = now.into_iter().zip(ever);
            both.map(|(now, ever)| Verdict {
                now: !now,
                ever: !ever,
            })
            .collect()
        };
        let mut nodes = verdicts(now.0, ever.0);
        let mut rules = verdicts(now.1, ever.1);
        let negations = self.negations.into_iter().map(|(negation, node)| Negation {
            never: nodes.get(node as usize).copied().unwrap_or_default(),
            ..negation
        });
        let negations = negations.collect();
        nodes.truncate(self.parts.predicates.len());
        rules.truncate(self.parts.rules.len());
        Circuit {
            predicates: nodes,
            rules,
            negations,
            missing: self.missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[expect(
        clippy::iter_over_hash_type,
        reason = "crepe's own sets; the answers become flags"
    )]
    mod questions {
        crepe::crepe! {
            @input
            pub(super) struct Stated(pub(super) u32);
            @input
            pub(super) struct Step(pub(super) u32, pub(super) u32, pub(super) u32);
            @input
            pub(super) struct Leads(pub(super) u32, pub(super) u32, pub(super) u32);

            struct Passed(u32, u32);
            @output
            pub(super) struct Fires(pub(super) u32);
            @output
            pub(super) struct Holds(pub(super) u32);

            Passed(chain, 0) <- Leads(chain, _, _);
            Passed(chain, at + 1) <- Passed(chain, at), Step(chain, at, node), Holds(node);
            Fires(chain) <- Passed(chain, length), Leads(chain, length, _);
            Holds(node) <- Stated(node);
            Holds(node) <- Fires(chain), Leads(chain, _, node);
        }
    }

    proptest! {
        /// What holds is what the Datalog program says.
        #[test]
        fn crepe_says_the_same(
            chains in proptest::collection::vec((proptest::collection::vec(0_u32..12, 0..4), 0_u32..12), 0..24),
            stated in proptest::collection::vec(0_u32..12, 0..4),
        ) {
            let wiring = Wiring { nodes: 12, chains };
            let (holds, passed) = wiring.run(stated.iter().copied());
            let mut program = questions::Crepe::new();
            program.extend(stated.iter().map(|node| questions::Stated(*node)));
            for (chain, (steps, node)) in (0..).zip(&wiring.chains) {
                let length = u32::try_from(steps.len()).unwrap();
                program.extend([questions::Leads(chain, length, *node)]);
                program.extend((0..).zip(steps).map(|(at, node)| questions::Step(chain, at, *node)));
            }
            let (fires, held) = program.run();
            for (node, flag) in (0..).zip(holds) {
                prop_assert_eq!(flag, held.contains(&questions::Holds(node)));
            }
            for (chain, flag) in (0..).zip(passed) {
                prop_assert_eq!(flag, fires.contains(&questions::Fires(chain)));
            }
        }
    }
}
