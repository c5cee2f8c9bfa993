//! From facts to all that follows from them, beside crepe on the same facts: reading the text is not measured.
//!
//! The workloads are those of `benches/peers`, smaller.

#![expect(
    clippy::indexing_slicing,
    clippy::iter_over_hash_type,
    clippy::unwrap_used,
    reason = "a benchmark stops at what is wrong; crepe's own sets"
)]

#[expect(dead_code, unreachable_pub, reason = "shared by all benchmarks")]
mod support;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use horngate::{Budget, Rulebase, Source};
use support::Workload;
use support::scan::{Names, Relations, scan};

type Peer = fn(&Relations) -> usize;

fn evaluate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("evaluate");
    group.sample_size(10);
    let workloads: [(&str, Workload, Peer); 5] = [
        (
            "groups of 10,000 users",
            support::groups(10_000),
            support::crepe::may,
        ),
        (
            "closure of a random graph",
            support::random_graph(500, 2_500),
            support::crepe::closure,
        ),
        (
            "closure of a random graph, calling itself twice",
            support::random_graph_squared(150, 750),
            support::crepe::squared,
        ),
        (
            "closure of a chain",
            support::chain(500),
            support::crepe::closure,
        ),
        (
            "same generation",
            support::tree(8),
            support::crepe::generations,
        ),
    ];
    for (name, workload, peer) in workloads {
        let rulebase = Rulebase::load([Source::new("bench.pl", workload.text())]).unwrap();
        let relations = scan(workload.facts.as_bytes(), &mut Names::default());
        let key = format!("{}/2", workload.counted).parse().unwrap();
        let ours = || {
            let model = rulebase.evaluate(&Budget::default()).unwrap();
            model.count(&key).unwrap()
        };
        assert_eq!(ours(), peer(&relations) as u64, "{name}");
        group.bench_function(BenchmarkId::new("horngate", name), |bencher| {
            bencher.iter(ours);
        });
        group.bench_function(BenchmarkId::new("crepe", name), |bencher| {
            bencher.iter(|| peer(&relations));
        });
    }
    group.finish();
}

/// Chains that grow: the cost of a tuple should not.
fn chains(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("chains");
    group.sample_size(10);
    for nodes in [100, 300, 1_000] {
        let workload = support::chain(nodes);
        let rulebase = Rulebase::load([Source::new("bench.pl", workload.text())]).unwrap();
        let tuples = u64::from(nodes) * u64::from(nodes - 1) / 2;
        group.throughput(criterion::Throughput::Elements(tuples));
        let key = "tc/2".parse().unwrap();
        group.bench_function(BenchmarkId::from_parameter(nodes), |bencher| {
            bencher.iter(|| {
                let model = rulebase.evaluate(&Budget::default()).unwrap();
                assert_eq!(model.count(&key), Some(tuples));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, evaluate, chains);
criterion_main!(benches);
