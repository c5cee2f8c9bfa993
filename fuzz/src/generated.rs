//! Programs of clauses that the generators of the tests make: two bytes of the input choose one clause, so that what a
//! mutation changes is a clause.

use crate::budget;
use crate::programs::{RandomProgram, goal, plain_program, program};
use crate::rules::agree;
use horngate::{Model, PredicateKey, Rulebase, Source};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// How many programs of each sort the clauses are from.
const PROGRAMS: usize = 200;
const MAX_CLAUSES: usize = 40;

#[derive(Default)]
struct Pool {
    clauses: Vec<String>,
    facts: Vec<String>,
    goals: Vec<String>,
}

fn some<S: Strategy>(runner: &mut TestRunner, strategy: &S, count: usize) -> Vec<S::Value> {
    let trees = (0..count).filter_map(|_| strategy.new_tree(runner).ok());
    trees.map(|tree| tree.current()).collect()
}

/// The same each time, or an input would not be the same.
static POOL: LazyLock<Pool> = LazyLock::new(|| {
    let mut runner = TestRunner::deterministic();
    let mut programs: Vec<RandomProgram> = some(&mut runner, &program(), PROGRAMS);
    programs.extend(some(&mut runner, &plain_program(), PROGRAMS));
    let texts: Vec<String> = programs.iter().map(ToString::to_string).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let clauses: BTreeSet<&str> = lines.filter(|line| !line.starts_with(":-")).collect();
    let clauses: Vec<String> = clauses.into_iter().map(str::to_owned).collect();
    let is_ground =
        |line: &&String| !line.contains(":-") && !line.contains(['X', 'Y', 'Z', 'W', '_']);
    let goals: BTreeSet<String> = some(&mut runner, &goal(), PROGRAMS * 4)
        .into_iter()
        .collect();
    Pool {
        facts: clauses.iter().filter(is_ground).cloned().collect(),
        goals: goals.into_iter().collect(),
        clauses,
    }
});

fn chosen<'p>(pool: &'p [String], bytes: &[u8]) -> Option<&'p String> {
    let number = bytes
        .iter()
        .fold(0, |number, byte| (number << 8) | usize::from(*byte));
    pool.get(number % pool.len().max(1))
}

/// How many clauses the first byte says, and what chooses them.
fn clauses(data: &[u8]) -> Option<(Vec<String>, &[u8])> {
    let (count, rest) = data.split_first()?;
    let length = (usize::from(*count) % MAX_CLAUSES * 2).min(rest.len());
    let (own, rest) = rest.split_at(length);
    let clauses = own
        .chunks(2)
        .filter_map(|bytes| chosen(&POOL.clauses, bytes).cloned());
    Some((clauses.collect(), rest))
}

fn written(clauses: &[String]) -> String {
    let declared = RandomProgram::predicates().map(|(name, arity)| {
        format!(":- dynamic {name}/{arity}.\n:- discontiguous {name}/{arity}.\n")
    });
    let mut text: String = declared.collect();
    for clause in clauses {
        text.push_str(clause);
        text.push('\n');
    }
    text
}

pub(crate) fn program_and_goals(data: &[u8]) -> Option<(String, Vec<&'static str>)> {
    let (clauses, rest) = clauses(data)?;
    let goals = rest.chunks(2).take(4);
    let goals = goals.filter_map(|bytes| chosen(&POOL.goals, bytes).map(String::as_str));
    Some((written(&clauses), goals.collect()))
}

fn load(text: &str) -> Rulebase {
    Rulebase::load([Source::new("a.pl", text)]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The engine derives what the naive reference derives.
pub fn programs(data: &[u8]) {
    if let Some((clauses, _)) = clauses(data) {
        let text = written(&clauses);
        agree(&load(&text), &text);
    }
}

fn tuples(model: &Model) -> Vec<(PredicateKey, Option<Vec<Vec<String>>>)> {
    RandomProgram::predicates()
        .map(|(name, arity)| PredicateKey::new(name, arity))
        .map(|key| (key.clone(), model.tuples(&key)))
        .collect()
}

/// A model that is updated is the model of the rules with these facts.
pub fn updates(data: &[u8]) {
    let Some((mut clauses, rest)) = clauses(data) else {
        return;
    };
    let Ok(mut model) = load(&written(&clauses)).evaluate(&budget()) else {
        return;
    };
    // Each update is of three changes at most: a fact of any sort more or fewer, or one of the program's fewer.
    for update in rest.chunks(9).take(6) {
        let (mut added, mut retracted) = (Vec::new(), Vec::new());
        for change in update.chunks_exact(3) {
            let (how, which) = change.split_at(1);
            let own: Vec<String> = clauses
                .iter()
                .filter(|clause| POOL.facts.contains(clause))
                .cloned()
                .collect();
            match how.first().map(|how| how % 3) {
                Some(0) => added.extend(chosen(&POOL.facts, which).cloned()),
                Some(1) => retracted.extend(chosen(&POOL.facts, which).cloned()),
                _ => retracted.extend(chosen(&own, which).cloned()),
            }
        }
        let before = written(&clauses);
        let applied = model.apply(
            added.iter().map(String::as_str),
            retracted.iter().map(String::as_str),
        );
        clauses.retain(|clause| !retracted.contains(clause));
        clauses.extend_from_slice(&added);
        let rebuilt = load(&written(&clauses)).evaluate(&budget());
        let (Ok(next), Ok(rebuilt)) = (applied, rebuilt) else {
            return;
        };
        assert_eq!(
            tuples(&next),
            tuples(&rebuilt),
            "+{added:?} -{retracted:?} of\n{before}"
        );
        model = next;
    }
}
