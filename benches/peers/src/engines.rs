//! The workloads on the peers: each reads the same text with the same scanner, and counts.
//!
//! Nothing here is tuned beyond what an engine's documentation shows: the rules stand as they are given to horngate, but
//! for datafrog, which has no rules and is planned by hand.

use crate::support::crepe;
use crate::support::scan::{Names, Relations, scan};
use ascent::ascent;
use datafrog::{Iteration, Relation};
use rustc_hash::FxHashSet;
use std::error::Error;
use std::path::Path;

ascent! {
    struct Closure;
    relation edge(u32, u32);
    relation tc(u32, u32);
    tc(x, y) <-- edge(x, y);
    tc(x, z) <-- tc(x, y), edge(y, z);
}

ascent! {
    struct Squared;
    relation edge(u32, u32);
    relation tc(u32, u32);
    tc(x, y) <-- edge(x, y);
    tc(x, z) <-- tc(x, y), tc(y, z);
}

ascent! {
    struct Generations;
    relation par(u32, u32);
    relation sg(u32, u32);
    sg(x, y) <-- par(p, x), par(p, y);
    sg(x, y) <-- par(p, x), sg(p, q), par(q, y);
}

ascent! {
    struct May;
    relation member(u32, u32);
    relation grant(u32, u32);
    relation blocked(u32, u32);
    relation user(u32);
    relation mo(u32, u32);
    relation may(u32, u32);
    mo(x, g) <-- member(x, g);
    mo(x, g) <-- mo(x, h), member(h, g);
    may(u, t) <-- user(u), mo(u, g), grant(g, t), !blocked(u, t);
}

ascent! {
    struct Asked;
    relation may(u32, u32);
    relation ask(u32, u32);
    relation hit(u32, u32);
    hit(a, t) <-- ask(a, t), may(a, t);
}

/// The engines, in the order of the table.
pub const ENGINES: &[&str] = &["by hand", "crepe", "ascent", "datafrog"];

/// Runs one engine on one workload whose files lie in a folder, and gives what it counts; `None` if it does not take part.
pub fn run(engine: &str, workload: &str, folder: &Path) -> Result<Option<usize>, Box<dyn Error>> {
    let mut names = Names::default();
    let read = |name: &str| std::fs::read(folder.join(name));
    let relations = scan(&read(&format!("{workload}.pl"))?, &mut names);
    let questions = match workload {
        "w1" => {
            let text = read("w1q.pl")?;
            scan(&text, &mut names).remove("q").unwrap_or_default()
        }
        _ => Vec::new(),
    };
    let count = match engine {
        "by hand" => match workload {
            "w1" => Some(by_hand(&relations, &questions)),
            _ => None,
        },
        "crepe" => Some(match workload {
            "w1" => crepe::asked(&relations, &questions),
            "w2" => crepe::may(&relations),
            "w4" => crepe::generations(&relations),
            "w5" => crepe::squared(&relations),
            _ => crepe::closure(&relations),
        }),
        "ascent" => Some(with_ascent(workload, relations, questions)),
        "datafrog" => Some(with_datafrog(workload, relations, questions)),
        _ => return Err(format!("no engine `{engine}`").into()),
    };
    Ok(count)
}

/// One hash set; each pair that is asked and granted counts once.
fn by_hand(relations: &Relations, questions: &[(u32, u32)]) -> usize {
    let granted: FxHashSet<(u32, u32)> = rows(relations, "may_execute_tool").collect();
    let hits: FxHashSet<&(u32, u32)> = questions
        .iter()
        .filter(|pair| granted.contains(pair))
        .collect();
    hits.len()
}

fn rows<'r>(relations: &'r Relations, name: &str) -> impl Iterator<Item = (u32, u32)> + 'r {
    relations.get(name).into_iter().flatten().copied()
}

fn with_ascent(workload: &str, mut relations: Relations, questions: Vec<(u32, u32)>) -> usize {
    let mut take = |name: &str| relations.remove(name).unwrap_or_default();
    match workload {
        "w1" => {
            let mut program = Asked {
                may: take("may_execute_tool"),
                ask: questions,
                ..Asked::default()
            };
            program.run();
            program.hit.len()
        }
        "w2" => {
            let mut program = May {
                member: take("member"),
                grant: take("grant"),
                blocked: take("blocked"),
                user: take("user").into_iter().map(|(user, _)| (user,)).collect(),
                ..May::default()
            };
            program.run();
            program.may.len()
        }
        "w4" => {
            let mut program = Generations {
                par: take("par"),
                ..Generations::default()
            };
            program.run();
            program.sg.len()
        }
        "w5" => {
            let mut program = Squared {
                edge: take("edge"),
                ..Squared::default()
            };
            program.run();
            program.tc.len()
        }
        _ => {
            let mut program = Closure {
                edge: take("edge"),
                ..Closure::default()
            };
            program.run();
            program.tc.len()
        }
    }
}

type Pairs = Relation<(u32, u32)>;

fn with_datafrog(workload: &str, mut relations: Relations, questions: Vec<(u32, u32)>) -> usize {
    let mut take = |name: &str| Pairs::from_vec(relations.remove(name).unwrap_or_default());
    let as_keys = |pairs: &Pairs| Relation::from_iter(pairs.iter().map(|pair| (*pair, ())));
    let mut iteration = Iteration::new();
    match workload {
        "w1" => {
            let granted = as_keys(&take("may_execute_tool"));
            let asked = iteration.variable::<((u32, u32), ())>("asked");
            asked.extend(questions.into_iter().map(|pair| (pair, ())));
            let hit = iteration.variable::<(u32, u32)>("hit");
            while iteration.changed() {
                hit.from_join(&asked, &granted, |pair, (), ()| *pair);
            }
            hit.complete().len()
        }
        "w2" => {
            let (member, grant) = (take("member"), take("grant"));
            let blocked = take("blocked");
            let user = Relation::from_iter(take("user").iter().map(|(user, _)| (*user, ())));
            // The group first, to join by it.
            let mo = iteration.variable::<(u32, u32)>("mo");
            mo.extend(member.iter().map(|(x, g)| (*g, *x)));
            while iteration.changed() {
                mo.from_join(&mo, &member, |_, x, g| (*g, *x));
            }
            let mo = mo.complete();
            let mut iteration = Iteration::new();
            let of_group = iteration.variable::<(u32, u32)>("of_group");
            of_group.extend(mo.iter().copied());
            let granted = iteration.variable::<(u32, u32)>("granted");
            let known = iteration.variable::<((u32, u32), ())>("known");
            let may = iteration.variable::<(u32, u32)>("may");
            while iteration.changed() {
                granted.from_join(&of_group, &grant, |_, x, t| (*x, *t));
                known.from_join(&granted, &user, |x, t, ()| ((*x, *t), ()));
                may.from_antijoin(&known, &blocked, |pair, ()| *pair);
            }
            may.complete().len()
        }
        "w4" => {
            let par = take("par");
            let base = iteration.variable::<(u32, u32)>("base");
            base.extend(par.iter().copied());
            let sg = iteration.variable::<(u32, u32)>("sg");
            let half = iteration.variable::<(u32, u32)>("half");
            while iteration.changed() {
                sg.from_join(&base, &par, |_, x, y| (*x, *y));
                half.from_join(&sg, &par, |_, q, x| (*q, *x));
                sg.from_join(&half, &par, |_, x, y| (*x, *y));
            }
            sg.complete().len()
        }
        "w5" => {
            let edge = take("edge");
            let from = iteration.variable::<(u32, u32)>("from");
            let to = iteration.variable::<(u32, u32)>("to");
            from.extend(edge.iter().copied());
            while iteration.changed() {
                to.from_map(&from, |(x, y)| (*y, *x));
                from.from_join(&to, &from, |_, x, z| (*x, *z));
            }
            from.complete().len()
        }
        _ => {
            let edge = take("edge");
            // The end first, to join by it.
            let tc = iteration.variable::<(u32, u32)>("tc");
            tc.extend(edge.iter().map(|(x, y)| (*y, *x)));
            while iteration.changed() {
                tc.from_join(&tc, &edge, |_, x, z| (*z, *x));
            }
            tc.complete().len()
        }
    }
}
