//! A decision from two `&str`, beside the floor: the same two names looked up in one map, and the pair in a set, both
//! with the fastest hash there is for them, which whoever chooses the names can defeat; horngate's is seeded.
//!
//! `cargo bench --bench decide`

#![expect(clippy::unwrap_used, reason = "a benchmark stops at what is wrong")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use horngate::{Allowlist, Budget, Loader};
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use std::hint::black_box;

/// How many questions are asked in turn.
const QUESTIONS: usize = 64;

/// Two names in one map, and the pair in a set.
#[derive(Default)]
struct Floor {
    names: HashMap<String, u32, FxBuildHasher>,
    pairs: HashSet<(u32, u32), FxBuildHasher>,
}

impl Floor {
    fn new(grants: &[(String, String)]) -> Self {
        let mut floor = Self::default();
        for (actor, tool) in grants {
            let pair = (floor.number(actor), floor.number(tool));
            floor.pairs.insert(pair);
        }
        floor
    }

    fn number(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap();
        *self.names.entry(name.to_owned()).or_insert(next)
    }

    fn decide(&self, actor: &str, tool: &str) -> bool {
        match (self.names.get(actor), self.names.get(tool)) {
            (Some(actor), Some(tool)) => self.pairs.contains(&(*actor, *tool)),
            _ => false,
        }
    }
}

/// Rules, what they grant, and names that are not granted to each other.
struct Load {
    name: &'static str,
    rules: String,
    grants: Vec<(String, String)>,
    denied: Vec<(String, String)>,
}

/// Every actor has `each` of the tools.
fn flat(name: &'static str, actors: usize, each: usize, tools: usize) -> Load {
    let pair = |actor: usize, at: usize| {
        let tool = (actor * 37 + at) % tools;
        (format!("U:agent{actor}"), format!("tool_{tool}"))
    };
    let grants: Vec<_> = (0..actors)
        .flat_map(|actor| (0..each).map(move |at| pair(actor, at)))
        .collect();
    let mut rules = String::new();
    for (actor, tool) in &grants {
        writeln!(rules, "may_execute_tool('{actor}', {tool}).").unwrap();
    }
    let denied = (0..QUESTIONS).map(|at| {
        let actor = at * 7919 % actors;
        pair(actor, each + at * 31 % (tools - each))
    });
    Load {
        name,
        rules,
        denied: denied.collect(),
        grants,
    }
}

/// A thousand actors in two of 60 roles each; every role has a parent and its parent one, and each has ten tools.
fn roles() -> Load {
    let parent = |role: usize| match role {
        0..60 => Some(60 + role / 2),
        60..90 => Some(90 + (role - 60) / 3),
        _ => None,
    };
    let mut rules = "
        has(A, R) :- member(A, R).
        has(A, P) :- has(A, R), parent(R, P).
        may_execute_tool(A, T) :- has(A, R), role_tool(R, T).
        "
    .to_owned();
    for role in 0..100 {
        if let Some(parent) = parent(role) {
            writeln!(rules, "parent(role_{role}, role_{parent}).").unwrap();
        }
        for at in 0..10 {
            writeln!(rules, "role_tool(role_{role}, tool_{}).", role * 10 + at).unwrap();
        }
    }
    let (mut grants, mut denied) = (Vec::new(), Vec::new());
    for actor in 0..1_000 {
        let mut has = BTreeSet::new();
        for leaf in [actor % 60, (actor * 7 + 3) % 60] {
            writeln!(rules, "member('U:agent{actor}', role_{leaf}).").unwrap();
            has.extend(std::iter::successors(Some(leaf), |role| parent(*role)));
        }
        let pair = |role: usize, at: usize| {
            (
                format!("U:agent{actor}"),
                format!("tool_{}", role * 10 + at),
            )
        };
        grants.extend(
            has.iter()
                .flat_map(|role| (0..10).map(move |at| pair(*role, at))),
        );
        denied.extend(
            (90..100)
                .find(|role| !has.contains(role))
                .map(|role| pair(role, actor % 10)),
        );
    }
    denied.truncate(QUESTIONS);
    Load {
        name: "roles",
        rules,
        grants,
        denied,
    }
}

fn decide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    group.throughput(Throughput::Elements(QUESTIONS as u64));
    for load in [
        flat("7", 7, 1, 7),
        flat("1,000", 100, 10, 50),
        flat("100,000", 1_000, 100, 1_000),
        flat("1,000,000", 10_000, 100, 1_000),
        roles(),
    ] {
        let mut loader = Loader::new();
        loader.begin("bench.pl");
        loader.feed(load.rules.as_bytes());
        let model = loader
            .finish()
            .unwrap()
            .evaluate(&Budget::default())
            .unwrap();
        let ours = Allowlist::bind_with_prefix(&model, "may_execute_tool/2", "").unwrap();
        let floor = Floor::new(&load.grants);
        let step = load.grants.len().div_ceil(QUESTIONS);
        let allowed: Vec<_> = load
            .grants
            .iter()
            .step_by(step)
            .cycle()
            .take(QUESTIONS)
            .cloned()
            .collect();
        let unknown = |(at, (actor, tool)): (usize, &(String, String))| match at % 2 {
            0 => (format!("{actor}x"), tool.clone()),
            _ => (actor.clone(), format!("{tool}x")),
        };
        let unknown: Vec<_> = allowed.iter().enumerate().map(unknown).collect();
        for (kind, questions, expected) in [
            ("allowed", &allowed, true),
            ("denied", &load.denied, false),
            ("unknown", &unknown, false),
        ] {
            for (actor, tool) in questions {
                assert_eq!(
                    ours.decide(actor, tool).is_allow(),
                    expected,
                    "{actor} {tool}"
                );
                assert_eq!(floor.decide(actor, tool), expected, "{actor} {tool}");
            }
            let id = |engine: &str| BenchmarkId::new(format!("{engine}/{kind}"), load.name);
            group.bench_function(id("horngate"), |bencher| {
                bencher.iter(|| {
                    for (actor, tool) in questions {
                        black_box(ours.decide(black_box(actor), black_box(tool)).is_allow());
                    }
                });
            });
            group.bench_function(id("floor"), |bencher| {
                bencher.iter(|| {
                    for (actor, tool) in questions {
                        black_box(floor.decide(black_box(actor), black_box(tool)));
                    }
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
