//! Explanations of decisions over 100,000 users in 10,000 groups that nest six deep, after one evaluation.
//!
//! `cargo bench --bench explain -- FILE.pl` takes the facts of that file instead of making some.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark says what it measured and stops at what is wrong"
)]

use horngate::explain::{Explainer, Verifier};
use horngate::{Budget, Model, PredicateKey, Rulebase, Source};
use std::fmt::Write;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const USERS: u64 = 100_000;
const TOOLS: u64 = 500;
/// How many groups each level has, from the users upwards.
const LEVELS: [u64; 6] = [6_000, 2_500, 1_000, 350, 120, 30];

const RULES: &str = "
    mo(X, G) :- member(X, G).
    mo(X, G) :- mo(X, H), member(H, G).
    may(U, T) :- user(U), mo(U, G), grant(G, T), \\+ blocked(U, T).
    :- dynamic member/2, grant/2, blocked/2.
";

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

fn rules() -> String {
    let mut random = Random(2);
    let mut text = RULES.to_owned();
    if let Some(file) = std::env::args().find(|argument| argument.ends_with(".pl")) {
        text.push_str(&std::fs::read_to_string(file).unwrap());
        return text;
    }
    let mut first = 0;
    let starts: Vec<u64> = LEVELS
        .iter()
        .map(|size| {
            first += size;
            first - size
        })
        .collect();
    for user in 0..USERS {
        writeln!(text, "user(u{user}).").unwrap();
        for _ in 0..1 + random.below(2) {
            writeln!(text, "member(u{user}, g{}).", random.below(LEVELS[0])).unwrap();
        }
    }
    for (level, above) in (0..).zip(1..LEVELS.len()) {
        let level: usize = level;
        for group in starts[level]..starts[above] {
            for _ in 0..1 + random.below(5) / 4 {
                let parent = starts[above] + random.below(LEVELS[above]);
                writeln!(text, "member(g{group}, g{parent}).").unwrap();
            }
        }
    }
    for group in 0..first {
        for _ in 0..2 {
            writeln!(text, "grant(g{group}, tool_{}).", random.below(TOOLS)).unwrap();
        }
    }
    for _ in 0..USERS / 2 {
        let (user, tool) = (random.below(USERS), random.below(TOOLS));
        writeln!(text, "blocked(u{user}, tool_{tool}).").unwrap();
    }
    text
}

/// Goals that hold and goals that do not.
fn goals(model: &Model) -> (Vec<String>, Vec<String>) {
    let mut random = Random(3);
    let mut both = (Vec::new(), Vec::new());
    while both.0.len() < 1_000 {
        let goal = format!(
            "may(u{}, tool_{})",
            random.below(USERS),
            random.below(TOOLS)
        );
        match model.query(&goal).unwrap().holds() {
            true => both.0.push(goal),
            false if both.1.len() < 1_000 => both.1.push(goal),
            false => {}
        }
    }
    both
}

/// The time that this thread has had a processor, where the system says so, or else the time that went by: other work
/// on the machine does not count.
fn now() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok())
        .map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Runs each of the tasks, and says how long they took: the first one, which builds what the others use, and these.
fn measure<T>(what: &str, tasks: &[T], mut run: impl FnMut(&T)) {
    let start = now();
    run(&tasks[0]);
    let first = now() - start;
    let start = now();
    tasks.iter().for_each(&mut run);
    let count = u32::try_from(tasks.len()).unwrap();
    let each = (now() - start) / count;
    println!("{what}: the first {first:?}, then {each:?} each of {count}");
}

fn main() {
    let start = now();
    let rulebase = Rulebase::load([Source::new("groups.pl", rules())]).unwrap();
    let loaded = now();
    let model = rulebase.evaluate(&Budget::default()).unwrap();
    println!(
        "{} tuples of may/2; loading {:?}, evaluation {:?}",
        model.count(&PredicateKey::new("may", 2)).unwrap(),
        loaded - start,
        now() - loaded
    );
    let (granted, denied) = goals(&model);
    let mut explainer = Explainer::new(&model);
    measure("why", &granted, |goal| {
        black_box(explainer.why(goal).unwrap().unwrap());
    });
    measure("why not", &denied, |goal| {
        black_box(explainer.why_not(goal).unwrap().unwrap());
    });
    let verifier = Verifier::new(&rulebase);
    let documents: Vec<String> = granted
        .iter()
        .take(5)
        .map(|goal| {
            let proof = explainer.why(goal).unwrap().unwrap();
            proof.to_json(&verifier.policy_hash().unwrap())
        })
        .collect();
    measure("verify", &documents, |document| {
        verifier.verify(document).unwrap();
    });
}
