//! Proof documents.

use crate::{STEPS, text};
use horngate::explain::{Verifier, why};
use horngate::{Budget, Model, Rulebase, Source};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Rules of every sort, and goals that hold.
const RULES: &[(&str, &[&str])] = &[
    (
        ":- dynamic blocked/1.
member_of('U:Qa', testers). member_of(ann, ops). member_of(testers, staff).
in(U, G) :- member_of(U, G).
in(U, G) :- member_of(U, H), in(H, G).
team_tool(staff, tool_repl). team_tool(ops, tool_shell). blocked(ann).
may_execute_tool(U, T) :- in(U, G), team_tool(G, T), \\+ blocked(U).
",
        &[
            "may_execute_tool('U:Qa', tool_repl)",
            "in('U:Qa', staff)",
            "in(U, staff), \\+ blocked(U)",
        ],
    ),
    (
        "n(1). n(2). n(3). e(1, 2). e(2, 3). e(3, 1). t(f(a), \"s\"). t([a, b], 1.5).
odd(X) :- n(X), 1 =:= X mod 2.
sum(Z) :- n(X), n(Y), X < Y, Z is X + Y * 2.
p(X, Y) :- e(X, Y).
p(X, Z) :- p(X, Y), e(Y, Z).
either(X) :- n(X), ( odd(X) -> X > 1 ; X =< 2 ).
alone(X) :- n(X), \\+ ( e(X, Y), \\+ n(Y) ).
in(X) :- t(L, _), member(X, [a, 1]), L = [X|_].
",
        &[
            "p(1, 1)",
            "odd(3)",
            "sum(8)",
            "either(2)",
            "alone(2)",
            "in(a)",
            "t(f(X), Y)",
            "p(1, X), X \\== 2",
        ],
    ),
];

struct Proved {
    model: Model,
    documents: Vec<String>,
}

static PROVED: LazyLock<Vec<Proved>> = LazyLock::new(|| {
    let prove = |(rules, goals): &(&str, &[&str])| {
        let rulebase = Rulebase::load([Source::new("a.pl", *rules)]).expect("rules");
        let model = rulebase.evaluate(&Budget::default()).expect("a model");
        let hash = Verifier::new(&rulebase).policy_hash().expect("a hash");
        let documents = goals.iter().map(|goal| {
            let proof = why(&model, goal).expect("an answer").expect("it holds");
            proof.to_json(&hash)
        });
        Proved {
            documents: documents.collect(),
            model,
        }
    };
    RULES.iter().map(prove).collect()
});

pub(crate) fn documents() -> impl Iterator<Item = (u8, &'static str)> {
    let numbered = (0_u8..).zip(&*PROVED);
    numbered.flat_map(|(at, proved)| proved.documents.iter().map(move |text| (at, &**text)))
}

/// What the verifier calls proved holds.
pub fn proofs(data: &[u8]) {
    let Some((form, rest)) = data.split_first() else {
        return;
    };
    let Some(proved) = PROVED.get(usize::from(form % 2)) else {
        return;
    };
    let document = match form & 2 {
        0 => text(rest).into_owned(),
        _ => edited(proved, rest),
    };
    let verifier = Verifier::new(proved.model.rulebase()).with_steps(STEPS);
    if let Ok(verified) = verifier.verify(&document) {
        let holds = proved
            .model
            .query(&verified.goal)
            .map(|answers| answers.holds());
        assert_eq!(holds.ok(), Some(true), "{} by {document}", verified.goal);
    }
}

/// A document whose parts are taken away, doubled or exchanged with those of others, as the bytes say.
fn edited(proved: &Proved, edits: &[u8]) -> String {
    let mut edits = edits.chunks_exact(4);
    let pick = |at: u8| &proved.documents[usize::from(at) % proved.documents.len()];
    let read = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    let Some(first) = edits.next() else {
        return proved.documents[0].clone();
    };
    let mut document = read(pick(first[0]));
    for edit in edits.take(8) {
        let other = read(pick(edit[3]));
        let donor = part(&other, edit[2]).clone();
        let mut nodes = count(&document);
        nodes = nodes.max(1);
        let mut at = usize::from(edit[1]) % nodes;
        change(&mut document, &mut at, edit[0], &donor);
    }
    document.to_string()
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(entries) => entries.values().collect(),
        _ => Vec::new(),
    }
}

fn count(value: &Value) -> usize {
    1 + children(value).into_iter().map(count).sum::<usize>()
}

fn part(value: &Value, at: u8) -> &Value {
    let mut at = usize::from(at) % count(value);
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        if at == 0 {
            return next;
        }
        at -= 1;
        open.extend(children(next));
    }
    value
}

fn change(value: &mut Value, at: &mut usize, how: u8, donor: &Value) {
    if *at == 0 {
        match (how % 4, &mut *value) {
            (0, Value::Array(items)) => drop(items.pop()),
            (1, Value::Array(items)) => items.push(donor.clone()),
            (1, Value::Object(entries)) => {
                if let Value::Object(more) = donor {
                    entries.extend(more.clone());
                }
            }
            (2, Value::Object(entries)) => {
                let first = entries.keys().next().cloned();
                let kept = entries
                    .iter()
                    .filter(|(key, _)| Some(*key) != first.as_ref());
                *entries = kept
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect::<Map<_, _>>();
            }
            _ => *value = donor.clone(),
        }
        *at = usize::MAX;
        return;
    }
    *at -= 1;
    let next: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(entries) => entries.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in next {
        change(child, at, how, donor);
        if *at == usize::MAX {
            return;
        }
    }
}
