//! The workloads of the benchmarks, made from fixed seeds: rules, and facts as text.
//!
//! Nothing here is measured, and nothing is random from one run to the next.

pub mod crepe;
pub mod scan;

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

/// What is evaluated, and what is counted.
pub struct Workload {
    pub rules: &'static str,
    /// The predicate whose tuples are counted.
    pub counted: &'static str,
    pub facts: String,
}

impl Workload {
    /// Rules and facts in one text.
    pub fn text(&self) -> String {
        format!("{}{}", self.rules, self.facts)
    }

    /// The goal that all tuples of the counted predicate satisfy.
    pub fn goal(&self) -> String {
        format!("{}(X, Y)", self.counted)
    }
}

const CLOSURE: &str = "tc(X, Y) :- edge(X, Y).\ntc(X, Z) :- tc(X, Y), edge(Y, Z).\n";
const SQUARED: &str = "tc(X, Y) :- edge(X, Y).\ntc(X, Z) :- tc(X, Y), tc(Y, Z).\n";
const GENERATIONS: &str =
    "sg(X, Y) :- par(P, X), par(P, Y).\nsg(X, Y) :- par(P, X), sg(P, Q), par(Q, Y).\n";
const MAY: &str = "\
:- dynamic member/2, grant/2, blocked/2, user/1.
mo(X, G) :- member(X, G).
mo(X, G) :- mo(X, H), member(H, G).
may(U, T) :- user(U), mo(U, G), grant(G, T), \\+ blocked(U, T).
";

/// Numbers that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(((self.next() >> 32) * u64::from(limit)) >> 32).unwrap_or(0)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            let other = self.below(u32::try_from(at + 1).unwrap_or(u32::MAX));
            items.swap(at, other as usize);
        }
    }
}

fn facts<A: Display, B: Display>(name: &str, rows: impl IntoIterator<Item = (A, B)>) -> String {
    let mut text = String::new();
    for (a, b) in rows {
        let _ = writeln!(text, "{name}({a}, {b}).");
    }
    text
}

/// So many grants as facts, and questions as pairs of actor and tool without prefix, half of them granted.
pub fn grants(count: u32) -> (String, Vec<(String, String)>) {
    let mut random = Random(1);
    let (users, tools) = (count.div_ceil(10), 1_000);
    let mut pairs = BTreeSet::new();
    while pairs.len() < count as usize {
        pairs.insert((random.below(users), random.below(tools)));
    }
    let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
    random.shuffle(&mut pairs);
    let text = facts(
        "may_execute_tool",
        pairs
            .iter()
            .map(|(user, tool)| (format!("'U:K{user}'"), format!("tool_{tool}"))),
    );
    let questions = (0..count / 10)
        .map(|number| {
            let (user, tool) = match number % 2 {
                0 => pairs[random.below(count) as usize],
                _ => (random.below(users), random.below(tools)),
            };
            (format!("U:K{user}"), tool.to_string())
        })
        .collect();
    (text, questions)
}

/// Users in groups that are nested six deep, with what the groups are granted and what single users are refused.
pub fn groups(users: u32) -> Workload {
    let mut random = Random(2);
    let sizes = [6_000, 2_500, 1_000, 350, 120, 30]
        .map(|size| (u64::from(users) * size / 100_000).max(1) as u32);
    let first = |level: usize| sizes[..level].iter().sum::<u32>();
    let mut member: BTreeSet<(String, String)> = BTreeSet::new();
    for user in 0..users {
        for _ in 0..=random.below(2) {
            member.insert((format!("u{user}"), format!("g{}", random.below(sizes[0]))));
        }
    }
    for level in 0..sizes.len() - 1 {
        for group in 0..sizes[level] {
            for _ in 0..=u32::from(random.below(5) == 0) {
                let above = first(level + 1) + random.below(sizes[level + 1]);
                member.insert((format!("g{}", first(level) + group), format!("g{above}")));
            }
        }
    }
    let mut member: Vec<_> = member.into_iter().collect();
    random.shuffle(&mut member);
    let grants: BTreeSet<(String, String)> = (0..2 * first(sizes.len()))
        .map(|number| {
            (
                format!("g{}", number / 2),
                format!("tool_{}", random.below(500)),
            )
        })
        .collect();
    let blocked: BTreeSet<(String, String)> = (0..users / 2)
        .map(|_| {
            (
                format!("u{}", random.below(users)),
                format!("tool_{}", random.below(500)),
            )
        })
        .collect();
    let mut text = facts("member", member);
    text.push_str(&facts("grant", grants));
    text.push_str(&facts("blocked", blocked));
    for user in 0..users {
        let _ = writeln!(text, "user(u{user}).");
    }
    Workload {
        rules: MAY,
        counted: "may",
        facts: text,
    }
}

fn random_edges(nodes: u32, edges: u32) -> String {
    let mut random = Random(3);
    let mut pairs = BTreeSet::new();
    while pairs.len() < edges as usize {
        pairs.insert((random.below(nodes), random.below(nodes)));
    }
    let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
    random.shuffle(&mut pairs);
    facts("edge", pairs)
}

/// The closure of a random graph.
pub fn random_graph(nodes: u32, edges: u32) -> Workload {
    Workload {
        rules: CLOSURE,
        counted: "tc",
        facts: random_edges(nodes, edges),
    }
}

/// The same by a rule that calls itself twice.
pub fn random_graph_squared(nodes: u32, edges: u32) -> Workload {
    Workload {
        rules: SQUARED,
        counted: "tc",
        facts: random_edges(nodes, edges),
    }
}

/// The closure of a chain.
pub fn chain(nodes: u32) -> Workload {
    Workload {
        rules: CLOSURE,
        counted: "tc",
        facts: facts("edge", (1..nodes).map(|node| (node - 1, node))),
    }
}

/// Same generation on a complete binary tree.
pub fn tree(depth: u32) -> Workload {
    Workload {
        rules: GENERATIONS,
        counted: "sg",
        facts: facts(
            "par",
            (1..(2_u32 << depth) - 1).map(|node| ((node - 1) / 2, node)),
        ),
    }
}
