//! A decision from two `&str`, beside the floor: the same two names looked up in maps and the pair in a set.

#![expect(clippy::unwrap_used, reason = "a benchmark stops at what is wrong")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use horngate::{Allowlist, Budget, Rulebase, Source};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::hint::black_box;

/// A bare allowlist with foldhash, seeded as horngate's.
struct Floor {
    actors: HashMap<String, u32, foldhash::fast::RandomState>,
    tools: HashMap<String, u32, foldhash::fast::RandomState>,
    pairs: HashSet<(u32, u32), foldhash::fast::RandomState>,
}

impl Floor {
    fn new(pairs: &[(String, String)]) -> Self {
        let mut floor = Self {
            actors: HashMap::default(),
            tools: HashMap::default(),
            pairs: HashSet::default(),
        };
        for (actor, tool) in pairs {
            let next = u32::try_from(floor.actors.len()).unwrap();
            let actor = *floor.actors.entry(actor.clone()).or_insert(next);
            let next = u32::try_from(floor.tools.len()).unwrap();
            let tool = *floor.tools.entry(tool.clone()).or_insert(next);
            floor.pairs.insert((actor, tool));
        }
        floor
    }

    fn decide(&self, actor: &str, tool: &str) -> bool {
        match (self.actors.get(actor), self.tools.get(tool)) {
            (Some(actor), Some(tool)) => self.pairs.contains(&(*actor, *tool)),
            _ => false,
        }
    }
}

fn pairs(grants: u32) -> Vec<(String, String)> {
    (0..grants)
        .map(|n| (format!("U:K{}", n / 10), format!("{}", (n * 7) % 1000)))
        .collect()
}

fn allowlist(pairs: &[(String, String)]) -> Allowlist {
    let mut rules = String::new();
    for (actor, tool) in pairs {
        writeln!(rules, "may_execute_tool('{actor}', tool_{tool}).").unwrap();
    }
    let rulebase = Rulebase::load([Source::new("bench.pl", rules)]).unwrap();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    Allowlist::bind(&model, "may_execute_tool/2").unwrap()
}

fn decide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    for grants in [7, 1_000, 100_000] {
        let pairs = pairs(grants);
        let (ours, floor) = (allowlist(&pairs), Floor::new(&pairs));
        // Every other question is granted; the others name a tool that the actor lacks.
        let questions: Vec<(&str, &str)> = pairs
            .iter()
            .zip(pairs.iter().rev())
            .take(1_000)
            .flat_map(|((actor, tool), (_, other))| [(&**actor, &**tool), (&**actor, &**other)])
            .collect();
        for (actor, tool) in &questions {
            assert_eq!(
                ours.decide(actor, tool).is_allow(),
                floor.decide(actor, tool)
            );
        }
        let mut turn = questions.iter().cycle();
        group.bench_function(BenchmarkId::new("horngate", grants), |bencher| {
            bencher.iter(|| {
                let (actor, tool) = turn.next().unwrap();
                ours.decide(black_box(actor), black_box(tool)).is_allow()
            });
        });
        let mut turn = questions.iter().cycle();
        group.bench_function(BenchmarkId::new("bare set", grants), |bencher| {
            bencher.iter(|| {
                let (actor, tool) = turn.next().unwrap();
                floor.decide(black_box(actor), black_box(tool))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
