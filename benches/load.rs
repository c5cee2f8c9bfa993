//! From text to a rulebase: facts piece by piece, the same as one text, and by hand as the floor.

#![expect(
    clippy::indexing_slicing,
    clippy::iter_over_hash_type,
    clippy::unwrap_used,
    reason = "a benchmark stops at what is wrong; crepe's own sets"
)]

#[expect(dead_code, unreachable_pub, reason = "shared by all benchmarks")]
mod support;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use horngate::{Loader, Rulebase, Source};
use std::hint::black_box;
use support::scan::{Names, scan};

/// How many bytes are read at once, as by the command line.
const PIECE: usize = 1 << 17;

fn pieces(text: &str) -> Rulebase {
    let mut loader = Loader::new();
    loader.begin("bench.pl");
    for piece in text.as_bytes().chunks(PIECE) {
        loader.feed(piece);
    }
    loader.finish().unwrap()
}

fn load(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    group.sample_size(10);
    for count in [1_000, 50_000] {
        let (text, _) = support::grants(count);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(BenchmarkId::new("piece by piece", count), |bencher| {
            bencher.iter(|| pieces(black_box(&text)));
        });
        group.bench_function(
            BenchmarkId::new("as one text, with lints", count),
            |bencher| {
                bencher.iter(|| Rulebase::load([Source::new("bench.pl", &*text)]).unwrap());
            },
        );
        group.bench_function(BenchmarkId::new("by hand", count), |bencher| {
            bencher.iter(|| scan(black_box(text.as_bytes()), &mut Names::default()));
        });
    }
    let rules = support::groups(100).rules;
    group.throughput(Throughput::Bytes(rules.len() as u64));
    group.bench_function("rules only", |bencher| {
        bencher.iter(|| Rulebase::load([Source::new("bench.pl", black_box(rules))]).unwrap());
    });
    group.finish();
}

criterion_group!(benches, load);
criterion_main!(benches);
