//! One fact added or retracted in a model of many tuples, beside deriving them all again.

#![expect(
    clippy::indexing_slicing,
    clippy::iter_over_hash_type,
    clippy::unwrap_used,
    reason = "a benchmark stops at what is wrong; crepe's own sets"
)]

#[expect(dead_code, unreachable_pub, reason = "shared by all benchmarks")]
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use horngate::{Budget, Model, Rulebase, Source};
use support::scan::{Names, scan};

/// The groups workload of docs/engine.md; a test that all still fits together does with less.
const USERS: u32 = if cfg!(debug_assertions) {
    1_000
} else {
    100_000
};

/// One change, and the same backwards.
struct Change {
    name: &'static str,
    fact: String,
    /// Whether the fact is there before.
    known: bool,
}

impl Change {
    fn there(&self, model: &Model) -> Model {
        let fact = [self.fact.as_str()];
        match self.known {
            true => model.apply([], fact),
            false => model.apply(fact, []),
        }
        .unwrap()
    }
}

fn update(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("update");
    group.sample_size(10);
    let workload = support::groups(USERS);
    let rulebase = Rulebase::load([Source::new("bench.pl", workload.text())]).unwrap();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    let relations = scan(workload.facts.as_bytes(), &mut Names::default());
    let line = |start: &str| {
        let mut lines = workload.facts.lines();
        lines
            .find(|line| line.starts_with(start))
            .unwrap()
            .to_owned()
    };
    let changes = [
        Change {
            name: "a user is blocked",
            fact: "blocked(u7, tool_new).".to_owned(),
            known: false,
        },
        Change {
            name: "a user leaves a group",
            fact: line("member(u7,"),
            known: true,
        },
        Change {
            name: "a group at the bottom gets a grant",
            fact: "grant(g7, tool_new).".to_owned(),
            known: false,
        },
        Change {
            name: "a group at the bottom leaves another",
            fact: line("member(g7,"),
            known: true,
        },
        Change {
            name: "a group at the top loses a grant",
            fact: line(&format!("grant(g{},", USERS / 10 - 1)),
            known: true,
        },
    ];
    let key = "may/2".parse().unwrap();
    for change in &changes {
        let after = change.there(&model);
        let facts: String = workload
            .facts
            .lines()
            .filter(|line| !change.known || *line != change.fact)
            .chain((!change.known).then_some(&*change.fact))
            .flat_map(|line| [line, "\n"])
            .collect();
        let text = format!("{}{facts}", workload.rules);
        let again = Rulebase::load([Source::new("bench.pl", text)]).unwrap();
        let again = again.evaluate(&Budget::default()).unwrap();
        assert_eq!(after.count(&key), again.count(&key), "{}", change.name);
        group.bench_function(change.name, |bencher| bencher.iter(|| change.there(&model)));
    }
    group.bench_function("all again", |bencher| {
        bencher.iter(|| rulebase.evaluate(&Budget::default()).unwrap());
    });
    group.bench_function("all again with crepe", |bencher| {
        bencher.iter(|| support::crepe::may(&relations));
    });
    group.finish();
}

criterion_group!(benches, update);
criterion_main!(benches);
