//! The rules of the workloads in crepe, with a fast hasher.
//!
//! Nothing here reads text.

use super::scan::Relations;
use rustc_hash::FxBuildHasher;

mod closure {
    crepe::crepe! {
        @input
        pub struct Edge(pub u32, pub u32);
        @output
        pub struct Tc(pub u32, pub u32);
        Tc(x, y) <- Edge(x, y);
        Tc(x, z) <- Tc(x, y), Edge(y, z);
    }
}

mod squared {
    crepe::crepe! {
        @input
        pub struct Edge(pub u32, pub u32);
        @output
        pub struct Tc(pub u32, pub u32);
        Tc(x, y) <- Edge(x, y);
        Tc(x, z) <- Tc(x, y), Tc(y, z);
    }
}

mod generations {
    crepe::crepe! {
        @input
        pub struct Par(pub u32, pub u32);
        @output
        pub struct Sg(pub u32, pub u32);
        Sg(x, y) <- Par(p, x), Par(p, y);
        Sg(x, y) <- Par(p, x), Sg(p, q), Par(q, y);
    }
}

mod may {
    crepe::crepe! {
        @input
        pub struct Member(pub u32, pub u32);
        @input
        pub struct Grant(pub u32, pub u32);
        @input
        pub struct Blocked(pub u32, pub u32);
        @input
        pub struct User(pub u32);
        struct Mo(u32, u32);
        @output
        pub struct May(pub u32, pub u32);
        Mo(x, g) <- Member(x, g);
        Mo(x, g) <- Mo(x, h), Member(h, g);
        May(u, t) <- User(u), Mo(u, g), Grant(g, t), !Blocked(u, t);
    }
}

mod asked {
    crepe::crepe! {
        @input
        pub struct May(pub u32, pub u32);
        @input
        pub struct Ask(pub u32, pub u32);
        @output
        pub struct Hit(pub u32, pub u32);
        Hit(a, t) <- Ask(a, t), May(a, t);
    }
}

fn rows<'r>(relations: &'r Relations, name: &str) -> impl Iterator<Item = (u32, u32)> + 'r {
    relations.get(name).into_iter().flatten().copied()
}

/// How many tuples the closure has.
pub fn closure(relations: &Relations) -> usize {
    let mut program = closure::Crepe::new();
    program.extend(rows(relations, "edge").map(|(a, b)| closure::Edge(a, b)));
    program.run_with_hasher::<FxBuildHasher>().0.len()
}

/// The same by a rule that calls itself twice.
pub fn squared(relations: &Relations) -> usize {
    let mut program = squared::Crepe::new();
    program.extend(rows(relations, "edge").map(|(a, b)| squared::Edge(a, b)));
    program.run_with_hasher::<FxBuildHasher>().0.len()
}

/// How many pairs are of the same generation.
pub fn generations(relations: &Relations) -> usize {
    let mut program = generations::Crepe::new();
    program.extend(rows(relations, "par").map(|(a, b)| generations::Par(a, b)));
    program.run_with_hasher::<FxBuildHasher>().0.len()
}

/// How many pairs of user and tool are granted through groups.
pub fn may(relations: &Relations) -> usize {
    let mut program = may::Crepe::new();
    program.extend(rows(relations, "member").map(|(a, b)| may::Member(a, b)));
    program.extend(rows(relations, "grant").map(|(a, b)| may::Grant(a, b)));
    program.extend(rows(relations, "blocked").map(|(a, b)| may::Blocked(a, b)));
    program.extend(rows(relations, "user").map(|(a, _)| may::User(a)));
    program.run_with_hasher::<FxBuildHasher>().0.len()
}

/// How many of the questions are granted, each pair once.
pub fn asked(relations: &Relations, questions: &[(u32, u32)]) -> usize {
    let mut program = asked::Crepe::new();
    program.extend(rows(relations, "may_execute_tool").map(|(a, b)| asked::May(a, b)));
    program.extend(questions.iter().map(|(a, b)| asked::Ask(*a, *b)));
    program.run_with_hasher::<FxBuildHasher>().0.len()
}
