//! The differences between what is granted and what is shown, as Datalog: a crepe program.
//!
//! Nothing here words or orders anything for people.

use foldhash::fast::RandomState;
use std::collections::{BTreeSet, HashMap};

#[expect(
    clippy::iter_over_hash_type,
    reason = "crepe's own sets; the answers are sorted"
)]
mod program {
    //! Grants against lists, in both directions. Names are numbers.

    crepe::crepe! {
        @input
        pub(super) struct Granted(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct Shown(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct Agent(pub(super) u32);
        @input
        pub(super) struct Tool(pub(super) u32);
        @input
        pub(super) struct Flagged(pub(super) u32);
        @input
        pub(super) struct NearTool(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct NearAgent(pub(super) u32, pub(super) u32);

        struct UnknownGrant(u32, u32);
        struct UnknownShow(u32, u32);
        // A misspelt name is one mistake, and not a second one about the name that was meant.
        struct GrantMeant(u32, u32);
        struct ShowMeant(u32, u32);

        @output
        pub(super) struct AdvertisedNotGranted(pub(super) u32, pub(super) u32);
        @output
        pub(super) struct GrantedNeverAdvertised(pub(super) u32, pub(super) u32);
        @output
        pub(super) struct GrantedUnflagged(pub(super) u32, pub(super) u32);
        @output
        pub(super) struct UnknownTool(pub(super) u32, pub(super) u32);
        @output
        pub(super) struct UnknownActor(pub(super) u32, pub(super) u32);

        UnknownActor(a, t) <- Granted(a, t), !Agent(a);
        UnknownGrant(a, t) <- Granted(a, t), Agent(a), !Tool(t);
        UnknownShow(a, t) <- Shown(a, t), !Tool(t);
        UnknownTool(a, t) <- UnknownGrant(a, t);
        UnknownTool(a, t) <- UnknownShow(a, t);

        GrantMeant(a, t) <- UnknownGrant(a, u), NearTool(u, t);
        GrantMeant(a, t) <- UnknownActor(x, t), NearAgent(x, a);
        ShowMeant(a, t) <- UnknownShow(a, u), NearTool(u, t);

        GrantedUnflagged(a, t) <- Granted(a, t), Agent(a), Tool(t), !Flagged(t);
        GrantedNeverAdvertised(a, t) <-
            Granted(a, t), Agent(a), Flagged(t), !Shown(a, t), !ShowMeant(a, t);
        AdvertisedNotGranted(a, t) <-
            Shown(a, t), Flagged(t), !Granted(a, t), !GrantMeant(a, t);
    }
}

/// Actors and tools.
pub(super) type Pairs<'a> = BTreeSet<(&'a str, &'a str)>;

/// What is compared.
#[derive(Debug, Default)]
pub(super) struct Sides<'a> {
    pub(super) granted: Pairs<'a>,
    pub(super) shown: Pairs<'a>,
    pub(super) agents: BTreeSet<&'a str>,
    /// With whether each needs a grant.
    pub(super) tools: Vec<(&'a str, bool)>,
    /// Names that no list has, each with the name that it is most likely meant to be.
    pub(super) near_tools: Pairs<'a>,
    pub(super) near_agents: Pairs<'a>,
}

/// The affected pairs of each kind.
#[derive(Debug, Default)]
pub(super) struct Differences<'a> {
    pub(super) advertised_not_granted: Pairs<'a>,
    pub(super) granted_never_advertised: Pairs<'a>,
    pub(super) granted_unflagged: Pairs<'a>,
    pub(super) unknown_tool: Pairs<'a>,
    pub(super) unknown_actor: Pairs<'a>,
}

/// Names and their numbers.
#[derive(Default)]
struct Names<'a> {
    numbers: HashMap<&'a str, u32>,
    names: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }

    fn pair(&mut self, pair: &(&'a str, &'a str)) -> (u32, u32) {
        (self.number(pair.0), self.number(pair.1))
    }

    fn name(&self, number: u32) -> &'a str {
        self.names.get(number as usize).copied().unwrap_or("")
    }

    fn pairs(&self, pairs: impl Iterator<Item = (u32, u32)>) -> Pairs<'a> {
        pairs.map(|(a, t)| (self.name(a), self.name(t))).collect()
    }
}

pub(super) fn differences<'a>(sides: &Sides<'a>) -> Differences<'a> {
    use program::*;
    let (mut names, mut program) = (Names::default(), Crepe::new());
    let pairs = |names: &mut Names<'a>, pairs: &Pairs<'a>| -> Vec<(u32, u32)> {
        pairs.iter().map(|pair| names.pair(pair)).collect()
    };
    let granted = pairs(&mut names, &sides.granted);
    program.extend(granted.into_iter().map(|(a, t)| Granted(a, t)));
    let shown = pairs(&mut names, &sides.shown);
    program.extend(shown.into_iter().map(|(a, t)| Shown(a, t)));
    program.extend(sides.agents.iter().map(|agent| Agent(names.number(agent))));
    for (tool, flagged) in &sides.tools {
        let number = names.number(tool);
        program.extend([Tool(number)]);
        program.extend(flagged.then_some(Flagged(number)));
    }
    let near = pairs(&mut names, &sides.near_tools);
    program.extend(near.into_iter().map(|(u, t)| NearTool(u, t)));
    let near = pairs(&mut names, &sides.near_agents);
    program.extend(near.into_iter().map(|(x, a)| NearAgent(x, a)));
    let (missing, dead, needless, tools, actors) = program.run_with_hasher::<RandomState>();
    Differences {
        advertised_not_granted: names
            .pairs(missing.into_iter().map(|AdvertisedNotGranted(a, t)| (a, t))),
        granted_never_advertised: names
            .pairs(dead.into_iter().map(|GrantedNeverAdvertised(a, t)| (a, t))),
        granted_unflagged: names.pairs(needless.into_iter().map(|GrantedUnflagged(a, t)| (a, t))),
        unknown_tool: names.pairs(tools.into_iter().map(|UnknownTool(a, t)| (a, t))),
        unknown_actor: names.pairs(actors.into_iter().map(|UnknownActor(a, t)| (a, t))),
    }
}
