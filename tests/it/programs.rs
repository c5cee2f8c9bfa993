//! Random programs near the edges of the language: facts, joins, recursion, negation, comparisons, arithmetic,
//! terms, control, and literals in any order. Many have faulty predicates; the others are compared.

use proptest::prelude::*;
use std::fmt;

/// A predicate of the generated vocabulary: extensional ones start with `e`.
const EXTENSIONAL: &[(&str, usize)] = &[
    ("e0", 0),
    ("e1", 1),
    ("e2", 2),
    ("f2", 2),
    ("en", 1),
    ("et", 1),
];
const INTENSIONAL: &[(&str, usize)] = &[
    ("p1", 1),
    ("q1", 1),
    ("r1", 1),
    ("p2", 2),
    ("q2", 2),
    ("r2", 2),
];
/// The constants that goals are asked over.
pub const CONSTANTS: &[&str] = &["a", "b", "c", "1", "2", "1.0", "\"a\"", "f(a)", "[a,b]"];
const VARIABLES: &[&str] = &["X", "Y", "Z", "W"];

/// One generated program.
#[derive(Clone, Debug)]
pub struct RandomProgram {
    facts: Vec<String>,
    rules: Vec<(usize, String)>,
}

impl RandomProgram {
    /// The intensional predicates with rules, for tabling, and the name and arity of each.
    pub fn derived(&self) -> Vec<(&'static str, usize)> {
        (0..INTENSIONAL.len())
            .filter(|at| self.rules.iter().any(|(head, _)| head == at))
            .map(|at| INTENSIONAL[at])
            .collect()
    }

    /// The program with all predicates dynamic.
    pub fn dynamic(&self) -> String {
        let all = Self::predicates().map(|(name, arity)| format!(":- dynamic {name}/{arity}.\n"));
        format!("{}{self}", all.collect::<String>())
    }

    /// Removes the rules that may be recursive: those that call a predicate that does not stand before their own.
    pub fn without_recursion(mut self) -> Self {
        self.rules.retain(|(head, rule)| {
            let body = rule.split_once(":-").map_or("", |(_, body)| body);
            let later = &INTENSIONAL[*head..];
            !later
                .iter()
                .any(|(name, _)| body.contains(&format!("{name}(")))
        });
        self
    }

    /// Removes the facts and adds the facts, as an update of the model would.
    pub fn update(&mut self, added: &[String], retracted: &[String]) {
        self.facts.retain(|fact| !retracted.contains(fact));
        self.rules.retain(|(_, rule)| !retracted.contains(rule));
        self.facts.extend_from_slice(added);
    }

    /// All predicates.
    pub fn predicates() -> impl Iterator<Item = (&'static str, usize)> {
        EXTENSIONAL.iter().chain(INTENSIONAL).copied()
    }
}

impl fmt::Display for RandomProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let derived = self.derived();
        for (name, arity) in Self::predicates() {
            if !derived.contains(&(name, arity)) {
                writeln!(f, ":- dynamic {name}/{arity}.")?;
            }
            writeln!(f, ":- discontiguous {name}/{arity}.")?;
        }
        for fact in &self.facts {
            writeln!(f, "{fact}")?;
        }
        for (_, rule) in &self.rules {
            writeln!(f, "{rule}")?;
        }
        Ok(())
    }
}

fn constant() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => proptest::sample::select(&CONSTANTS[..5]),
        1 => proptest::sample::select(CONSTANTS),
    ]
    .prop_map(str::to_owned)
}

fn variable() -> impl Strategy<Value = String> {
    prop_oneof![
        24 => proptest::sample::select(&VARIABLES[..2]),
        1 => proptest::sample::select(VARIABLES),
        1 => Just("_"),
    ]
    .prop_map(str::to_owned)
}

fn argument() -> impl Strategy<Value = String> {
    prop_oneof![
        24 => variable(),
        4 => constant(),
        1 => variable().prop_map(|inner| format!("f({inner})")),
        1 => variable().prop_map(|head| format!("[{head}|_]")),
    ]
}

fn call(predicates: Vec<(&'static str, usize)>) -> impl Strategy<Value = String> {
    (proptest::sample::select(predicates), argument(), argument()).prop_map(
        |((name, arity), first, second)| match arity {
            0 => name.to_owned(),
            1 => format!("{name}({first})"),
            _ => format!("{name}({first}, {second})"),
        },
    )
}

fn positive() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => call(EXTENSIONAL.to_vec()),
        1 => call(INTENSIONAL.to_vec()),
    ]
}

/// What stands under a negation: rarely a derived predicate, or most programs would have negative cycles.
fn negated() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => call(EXTENSIONAL.to_vec()),
        1 => call(INTENSIONAL.to_vec()),
    ]
}

fn test() -> BoxedStrategy<String> {
    let operator =
        proptest::sample::select(&["=", "\\=", "==", "\\==", "@<", "@=<", "@>", "@>="][..]);
    let compare = proptest::sample::select(&["<", "=<", ">", ">=", "=:=", "=\\="][..]);
    let sum = proptest::sample::select(&["+", "-", "*", "//", "mod", "min"][..]);
    prop_oneof![
        4 => (argument(), operator, argument()).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        2 => (variable(), compare, -1..4).prop_map(|(a, op, b)| format!("{a} {op} {b}")),
        1 => (variable(), variable(), sum, 0..3).prop_map(|(a, b, op, n)| match op {
            "min" => format!("{a} is min({b}, {n})"),
            _ => format!("{a} is {b} {op} {n}"),
        }),
        1 => (variable(), constant(), constant()).prop_map(|(v, a, b)| format!("member({v}, [{a}, {b}])")),
        1 => (variable(), constant(), constant()).prop_map(|(v, a, b)| format!("memberchk({v}, [{a}, {b}])")),
        1 => (variable(), variable()).prop_map(|(v, list)| format!("memberchk({v}, {list})")),
        1 => Just("true".to_owned()),
        1 => Just("fail".to_owned()),
    ]
    .boxed()
}

/// A literal of any form, over the variables X, Y, Z and W.
pub fn literal() -> BoxedStrategy<String> {
    let leaf =
        prop_oneof![6 => positive(), 3 => test(), 3 => negated().prop_map(|p| format!("\\+ {p}"))];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\\+ ( {a}, {b} )")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("\\+ ( {a} ; {b} )")),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("( {a} ; {b} )")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(c, a, b)| format!("( {c} -> {a} ; {b} )")),
            1 => (inner.clone(), inner).prop_map(|(c, a)| format!("( {c} -> {a} )")),
        ]
    })
    .boxed()
}

fn rule() -> BoxedStrategy<(usize, String)> {
    let body = proptest::collection::vec(literal(), 0..4);
    // A first literal that binds the usual variables keeps many rules safe; some do without.
    let binder = prop_oneof![
        6 => Just(Some("e2(X, Y)")),
        2 => Just(Some("f2(X, Y)")),
        2 => Just(Some("e1(X), e1(Y)")),
        2 => Just(Some("en(X), e1(Y)")),
        2 => Just(Some("p2(X, Y)")),
        1 => Just(Some("et(f(X)), e1(Y)")),
        1 => Just(None),
    ];
    (
        0..INTENSIONAL.len(),
        variable(),
        argument(),
        binder,
        body,
        proptest::bool::weighted(0.2),
    )
        .prop_map(|(head, first, second, binder, mut body, last)| {
            let (name, arity) = INTENSIONAL[head];
            if let Some(binder) = binder {
                if last && body.len() < 3 {
                    body.push(binder.to_owned());
                } else {
                    body.insert(0, binder.to_owned());
                }
            }
            let head_text = if arity == 1 {
                format!("{name}({first})")
            } else {
                format!("{name}({first}, {second})")
            };
            let text = if body.is_empty() {
                format!("{head_text}.")
            } else {
                format!("{head_text} :- {}.", body.join(", "))
            };
            (head, text)
        })
        .boxed()
}

/// A derived predicate's own fact: it may stand beside a rule whose test raises for the same call.
fn derived_fact() -> BoxedStrategy<(usize, String)> {
    (0..INTENSIONAL.len(), constant(), constant())
        .prop_map(|(head, first, second)| {
            let (name, arity) = INTENSIONAL[head];
            let text = match arity {
                1 => format!("{name}({first})."),
                _ => format!("{name}({first}, {second})."),
            };
            (head, text)
        })
        .boxed()
}

/// A rule that tests its head's variable before it binds it.
fn test_first() -> BoxedStrategy<(usize, String)> {
    (0..INTENSIONAL.len(), test(), literal())
        .prop_map(|(head, first, more)| {
            let (name, arity) = INTENSIONAL[head];
            let text = match arity {
                1 => format!("{name}(X) :- {first}, en(X), e1(Y), {more}."),
                _ => format!("{name}(X, Y) :- {first}, e2(X, Y), {more}."),
            };
            (head, text)
        })
        .boxed()
}

fn fact() -> impl Strategy<Value = String> {
    (
        proptest::sample::select(EXTENSIONAL),
        constant(),
        constant(),
        0..4,
    )
        .prop_map(
            |((name, arity), first, second, number)| match (name, arity) {
                ("en", _) => format!("en({number})."),
                ("et", _) => format!("et(f({first}))."),
                (_, 0) => format!("{name}."),
                (_, 1) => format!("{name}({first})."),
                _ => format!("{name}({first}, {second})."),
            },
        )
}

/// Programs of some facts and a few rules.
pub fn program() -> impl Strategy<Value = RandomProgram> {
    (
        proptest::collection::vec(fact(), 2..14),
        proptest::collection::vec(
            prop_oneof![8 => rule(), 1 => derived_fact(), 1 => test_first()],
            1..8,
        ),
    )
        .prop_map(|(facts, rules)| RandomProgram { facts, rules })
}

/// A fact of any predicate, derived ones included.
fn any_fact() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => fact(),
        1 => derived_fact().prop_map(|(_, fact)| fact),
    ]
}

/// A few facts to add and a few to retract.
pub fn update() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    (
        proptest::collection::vec(any_fact(), 0..3),
        proptest::collection::vec(any_fact(), 0..4),
    )
}

/// The values of plain programs.
const VALUES: &[&str] = &["a", "b", "c", "1"];

/// An argument of a literal of which nothing is asked but to bind or to be known.
fn joined() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => proptest::sample::select(&VARIABLES[..3]).prop_map(str::to_owned),
        1 => proptest::sample::select(VALUES).prop_map(str::to_owned),
        1 => Just("f(X)".to_owned()),
        1 => Just("_".to_owned()),
    ]
}

fn joined_call(predicates: Vec<(&'static str, usize)>) -> impl Strategy<Value = String> {
    (proptest::sample::select(predicates), joined(), joined()).prop_map(
        |((name, arity), first, second)| match arity {
            0 => name.to_owned(),
            1 => format!("{name}({first})"),
            _ => format!("{name}({first}, {second})"),
        },
    )
}

/// A rule of the predicate with this number that is nearly always safe. It calls any predicate, and negates only
/// those with smaller numbers.
fn plain_rule(head: usize) -> BoxedStrategy<(usize, String)> {
    let (name, arity) = INTENSIONAL[head];
    let below: Vec<(&str, usize)> = EXTENSIONAL[..4]
        .iter()
        .chain(&INTENSIONAL[..head])
        .copied()
        .collect();
    let upto = INTENSIONAL[..=head].to_vec();
    let binder = prop_oneof![
        3 => Just("e2(X, Y)".to_owned()),
        3 => proptest::sample::select(upto.clone()).prop_map(|(name, arity)| match arity {
            1 => format!("{name}(X), f2(X, Y)"),
            _ => format!("{name}(X, Y)"),
        }),
        1 => Just("et(f(X)), e2(X, Y)".to_owned()),
    ];
    let more = prop_oneof![
        4 => joined_call(EXTENSIONAL[1..4].to_vec()),
        6 => joined_call(upto),
        1 => joined_call(INTENSIONAL.to_vec()),
        1 => Just("Z = Y".to_owned()),
        1 => Just("member(Z, [a, b, 1])".to_owned()),
    ];
    let test = prop_oneof![
        6 => joined_call(below.clone()).prop_map(|call| format!("\\+ {}", call.replace('Z', "Y"))),
        2 => (joined_call(below.clone()), joined_call(below))
            .prop_map(|(a, b)| format!("\\+ ( {a}, {b} )").replace('Z', "Y")),
        2 => Just("X \\== Y".to_owned()),
        1 => Just("X \\= f(Y)".to_owned()),
        1 => Just("X @< Y".to_owned()),
        1 => Just("( e1(X) ; e1(Y) )".to_owned()),
        1 => Just("( e1(X) -> e2(Y, _) ; f2(Y, _) )".to_owned()),
    ];
    let argument = prop_oneof![
        24 => proptest::sample::select(&VARIABLES[..2]).prop_map(str::to_owned),
        1 => proptest::sample::select(VALUES).prop_map(str::to_owned),
        1 => Just("f(X)".to_owned()),
    ];
    (
        argument.clone(),
        argument,
        binder,
        proptest::collection::vec(more, 0..2),
        proptest::collection::vec(test, 0..2),
        proptest::bool::weighted(0.03),
    )
        .prop_map(move |(first, second, binder, more, tests, computes)| {
            let head_text = match arity {
                1 => format!("{name}({first})"),
                _ => format!("{name}({first}, {second})"),
            };
            let mut body = vec![binder];
            body.extend(more);
            body.extend(tests);
            if computes {
                body.push("en(N), N < 3".to_owned());
            }
            (head, format!("{head_text} :- {}.", body.join(", ")))
        })
        .boxed()
}

/// The recursion of a closure, in one of its forms.
fn closure() -> impl Strategy<Value = (usize, String)> {
    let form = proptest::sample::select(
        &[
            "P(X, Z) :- P(X, Y), E(Y, Z).",
            "P(X, Z) :- E(X, Y), P(Y, Z).",
            "P(X, Z) :- P(X, Y), P(Y, Z).",
            "P(X, Z) :- P(X, Y), E(Z, Y).",
        ][..],
    );
    let step = proptest::sample::select(&["e2", "f2", "q2", "r2"][..]);
    (form, 3..INTENSIONAL.len(), step).prop_map(|(form, head, step)| {
        let text = form.replace('P', INTENSIONAL[head].0).replace('E', step);
        (head, text)
    })
}

/// Programs most of which load without a fault: joins, recursion, closures, stratified negation.
pub fn plain_program() -> impl Strategy<Value = RandomProgram> {
    let value = || proptest::sample::select(VALUES);
    let fact = (
        proptest::sample::select(&EXTENSIONAL[1..]),
        value(),
        value(),
        0..4,
    )
        .prop_map(
            |((name, arity), first, second, number)| match (name, arity) {
                ("en", _) => format!("en({number})."),
                ("et", _) => format!("et(f({first}))."),
                (_, 1) => format!("{name}({first})."),
                _ => format!("{name}({first}, {second})."),
            },
        );
    let rule = prop_oneof![
        6 => (0..INTENSIONAL.len()).prop_flat_map(plain_rule),
        2 => closure(),
        1 => derived_fact(),
    ];
    let each: Vec<_> = (0..INTENSIONAL.len()).map(plain_rule).collect();
    (
        proptest::collection::vec(fact, 10..30),
        each,
        proptest::collection::vec(rule, 0..5),
    )
        .prop_map(|(facts, mut rules, more)| {
            rules.extend(more);
            RandomProgram { facts, rules }
        })
}

/// An argument of a goal: more often known than in a rule.
fn asked_argument() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => proptest::sample::select(VALUES).prop_map(str::to_owned),
        1 => constant(),
        5 => variable(),
        1 => constant().prop_map(|inner| format!("f({inner})")),
        1 => variable().prop_map(|inner| format!("f({inner})")),
    ]
}

/// A call of a derived predicate as in a goal.
fn asked_call() -> impl Strategy<Value = String> {
    (
        proptest::sample::select(INTENSIONAL),
        asked_argument(),
        asked_argument(),
    )
        .prop_map(|((name, arity), first, second)| match arity {
            1 => format!("{name}({first})"),
            _ => format!("{name}({first}, {second})"),
        })
}

/// Goals of every form: ground, partly bound, open, conjunctions, with negations and tests.
pub fn goal() -> impl Strategy<Value = String> {
    let more = prop_oneof![
        3 => asked_call(),
        2 => call(EXTENSIONAL.to_vec()),
        2 => asked_call().prop_map(|call| format!("\\+ {call}")),
        1 => literal(),
        1 => test(),
    ];
    (asked_call(), proptest::collection::vec(more, 0..3)).prop_map(|(first, more)| {
        let mut goal = vec![first];
        goal.extend(more);
        goal.join(", ")
    })
}
