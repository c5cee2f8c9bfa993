//! The graph of who calls whom: components, strata, slices, and what is tainted by a fault.
//!
//! The questions that are Datalog are asked as Datalog: a crepe program checks the rulebase. Nothing here
//! looks inside a rule.

use super::rule::PredicateId;
use std::collections::HashMap;

/// One call, and whether it stands under a negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Edge {
    pub(crate) caller: PredicateId,
    pub(crate) callee: PredicateId,
    pub(crate) negative: bool,
}

#[expect(
    clippy::iter_over_hash_type,
    reason = "crepe's own sets; the answers are sorted or become flags"
)]
mod questions {
    //! The rule graph as a Datalog program.

    crepe::crepe! {
        @input
        pub(super) struct Calls(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct Negates(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct InComponent(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct Faulty(pub(super) u32);
        @input
        pub(super) struct Root(pub(super) u32);

        @output
        pub(super) struct NegationCycle(pub(super) u32, pub(super) u32);
        @output
        pub(super) struct Tainted(pub(super) u32);
        @output
        pub(super) struct InSlice(pub(super) u32);

        NegationCycle(p, q) <- Negates(p, q), InComponent(p, c), InComponent(q, c);

        Tainted(p) <- Faulty(p);
        Tainted(p) <- Tainted(q), Calls(p, q);

        InSlice(p) <- Root(p);
        InSlice(q) <- InSlice(p), Calls(p, q);
    }
}

/// The predicate graph of a rulebase.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    size: usize,
    edges: Vec<Edge>,
    callees: Vec<Vec<u32>>,
    /// The components, callees before callers; the predicates of each in order.
    components: Vec<Vec<PredicateId>>,
    component_of: Vec<u32>,
}

impl Graph {
    pub(crate) fn new(size: usize, mut edges: Vec<Edge>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let mut callees = vec![Vec::new(); size];
        for edge in &edges {
            if let Some(list) = callees.get_mut(edge.caller.index()) {
                list.push(edge.callee.0);
            }
        }
        let mut graph = Self {
            size,
            edges,
            callees,
            components: Vec::new(),
            component_of: vec![0; size],
        };
        graph.find_components();
        graph
    }

    pub(crate) fn components(&self) -> &[Vec<PredicateId>] {
        &self.components
    }

    pub(crate) fn component_of(&self, id: PredicateId) -> u32 {
        self.component_of
            .get(id.index())
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// Tarjan's algorithm, with its own stack.
    fn find_components(&mut self) {
        const UNSEEN: u32 = u32::MAX;
        let mut order = vec![UNSEEN; self.size];
        let mut low = vec![0; self.size];
        let mut open = vec![false; self.size];
        let mut stack: Vec<u32> = Vec::new();
        let mut next = 0;
        let at = |list: &[u32], node: u32| list.get(node as usize).copied().unwrap_or(UNSEEN);
        let put = |list: &mut [u32], node: u32, value: u32| {
            if let Some(slot) = list.get_mut(node as usize) {
                *slot = value;
            }
        };
        for root in 0..u32::try_from(self.size).unwrap_or(u32::MAX) {
            if at(&order, root) != UNSEEN {
                continue;
            }
            let mut work = vec![(root, 0)];
            while let Some((node, child)) = work.pop() {
                if child == 0 {
                    put(&mut order, node, next);
                    put(&mut low, node, next);
                    next += 1;
                    stack.push(node);
                    if let Some(flag) = open.get_mut(node as usize) {
                        *flag = true;
                    }
                }
                let callee = self
                    .callees
                    .get(node as usize)
                    .and_then(|list| list.get(child));
                if let Some(callee) = callee.copied() {
                    work.push((node, child + 1));
                    if at(&order, callee) == UNSEEN {
                        work.push((callee, 0));
                    } else if open.get(callee as usize).copied().unwrap_or(false) {
                        let least = at(&low, node).min(at(&order, callee));
                        put(&mut low, node, least);
                    }
                    continue;
                }
                if at(&low, node) == at(&order, node) {
                    let number = u32::try_from(self.components.len()).unwrap_or(u32::MAX);
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        if let Some(flag) = open.get_mut(member as usize) {
                            *flag = false;
                        }
                        put(&mut self.component_of, member, number);
                        component.push(PredicateId(member));
                        if member == node {
                            break;
                        }
                    }
                    component.sort_unstable();
                    self.components.push(component);
                }
                if let Some((parent, _)) = work.last() {
                    let least = at(&low, *parent).min(at(&low, node));
                    put(&mut low, *parent, least);
                }
            }
        }
    }

    /// The negative calls inside a component.
    pub(crate) fn negation_cycles(&self) -> Vec<(PredicateId, PredicateId)> {
        let mut program = questions::Crepe::new();
        program.extend(
            self.edges
                .iter()
                .filter(|edge| edge.negative)
                .map(|edge| questions::Negates(edge.caller.0, edge.callee.0)),
        );
        program.extend(
            (0..)
                .zip(&self.component_of)
                .map(|(node, component)| questions::InComponent(node, *component)),
        );
        let (cycles, _, _) = program.run();
        let mut cycles: Vec<_> = cycles
            .into_iter()
            .map(|questions::NegationCycle(p, q)| (PredicateId(p), PredicateId(q)))
            .collect();
        cycles.sort_unstable();
        cycles
    }

    /// For each predicate whether it, or anything that it depends on, is among `faulty`.
    pub(crate) fn tainted(&self, faulty: impl Iterator<Item = PredicateId>) -> Vec<bool> {
        let mut program = self.calls();
        program.extend(faulty.map(|id| questions::Faulty(id.0)));
        let (_, tainted, _) = program.run();
        self.flags(tainted.into_iter().map(|questions::Tainted(p)| p))
    }

    /// For each predicate whether one of `roots` depends on it; a root does on itself.
    pub(crate) fn slice(&self, roots: impl Iterator<Item = PredicateId>) -> Vec<bool> {
        let mut program = self.calls();
        program.extend(roots.map(|id| questions::Root(id.0)));
        let (_, _, slice) = program.run();
        self.flags(slice.into_iter().map(|questions::InSlice(p)| p))
    }

    fn calls(&self) -> questions::Crepe {
        let mut program = questions::Crepe::new();
        program.extend(
            self.edges
                .iter()
                .map(|edge| questions::Calls(edge.caller.0, edge.callee.0)),
        );
        program
    }

    fn flags(&self, nodes: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut flags = vec![false; self.size];
        for node in nodes {
            if let Some(flag) = flags.get_mut(node as usize) {
                *flag = true;
            }
        }
        flags
    }

    /// A shortest chain of calls from `from` to `to` inside their component, both included.
    pub(crate) fn path(&self, from: PredicateId, to: PredicateId) -> Vec<PredicateId> {
        let mut came: HashMap<u32, u32> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([from.0]);
        let mut found = from == to;
        while let Some(node) = queue.pop_front() {
            if found {
                break;
            }
            for callee in self.callees.get(node as usize).into_iter().flatten() {
                let inside = self.component_of(PredicateId(*callee)) == self.component_of(from);
                if inside && *callee != from.0 && !came.contains_key(callee) {
                    came.insert(*callee, node);
                    found |= *callee == to.0;
                    queue.push_back(*callee);
                }
            }
        }
        let mut path = vec![to];
        let mut node = to.0;
        while node != from.0 {
            let Some(before) = came.get(&node) else {
                return vec![from, to];
            };
            node = *before;
            path.push(PredicateId(node));
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(size: usize, edges: &[(u32, u32, bool)]) -> Graph {
        let edges = edges
            .iter()
            .map(|(caller, callee, negative)| Edge {
                caller: PredicateId(*caller),
                callee: PredicateId(*callee),
                negative: *negative,
            })
            .collect();
        Graph::new(size, edges)
    }

    #[test]
    fn callees_come_before_callers_and_cycles_are_one_component() {
        let graph = graph(
            4,
            &[(0, 1, false), (1, 2, false), (2, 1, true), (2, 3, false)],
        );
        let ids = |list: &[PredicateId]| list.iter().map(|id| id.0).collect::<Vec<_>>();
        let components: Vec<_> = graph.components().iter().map(|c| ids(c)).collect();
        assert_eq!(components, [vec![3], vec![1, 2], vec![0]]);
        assert_eq!(graph.negation_cycles(), [(PredicateId(2), PredicateId(1))]);
        assert_eq!(ids(&graph.path(PredicateId(1), PredicateId(2))), [1, 2]);
        assert_eq!(
            graph.tainted([PredicateId(3)].into_iter()),
            [true, true, true, true]
        );
        assert_eq!(
            graph.slice([PredicateId(1)].into_iter()),
            [false, true, true, true]
        );
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let edges: Vec<_> = (0..200_000).map(|n| (n, n + 1, false)).collect();
        assert_eq!(graph(200_001, &edges).components().len(), 200_001);
    }
}
