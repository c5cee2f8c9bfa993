//! What agents are shown: the tools of each, and which tools need a grant.
//!
//! Nothing here reads a text or compares anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The tools that agents are shown, and which of them need a grant.
///
/// It is made from lists in text (with the cargo feature `tool-lists`) or from the program's own tables:
///
/// ```
/// use horngate::AdvertisedTools;
/// let tools = AdvertisedTools::new()
///     .flagged(["repl", "run_shell"])
///     .unflagged(["read_file"])
///     .agent("U:Qa", ["repl", "read_file"]);
/// assert_eq!(tools.tools().collect::<Vec<_>>(), [("read_file", false), ("repl", true), ("run_shell", true)]);
/// assert_eq!(tools.agents().collect::<Vec<_>>(), ["U:Qa"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdvertisedTools {
    pub(super) tools: BTreeMap<Box<str>, Advertised>,
    pub(super) agents: BTreeMap<Box<str>, BTreeSet<Box<str>>>,
    pub(super) repeated: BTreeSet<Repeated>,
    pub(super) only: Option<Box<str>>,
}

/// One tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Advertised {
    /// It needs a grant.
    pub(super) flagged: bool,
    /// The list itself says whether it needs a grant.
    pub(super) decided: bool,
    /// The list that has it.
    pub(super) list: Option<Arc<str>>,
    /// What it is defined as; more than one when lists differ.
    pub(super) definitions: BTreeSet<Definition>,
}

/// What identifies a tool's definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Definition {
    /// SHA-256 of its canonical form.
    pub(super) digest: [u8; 32],
    /// It has more than its name.
    pub(super) described: bool,
}

/// A name that stands twice where it should stand once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Repeated {
    pub(super) tool: Box<str>,
    /// Who sees both, if it is one.
    pub(super) actor: Option<Box<str>>,
    pub(super) list: Option<Arc<str>>,
}

/// A name that no list has, or whose own list says whether it needs a grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct CannotUnflag {
    reason: String,
}

impl AdvertisedTools {
    /// No tools and no agents.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds tools that need a grant.
    #[must_use]
    pub fn flagged<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.with_tools(names, true)
    }

    /// Adds tools that need no grant. A tool that was added as flagged stays flagged.
    #[must_use]
    pub fn unflagged<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.with_tools(names, false)
    }

    fn with_tools<'n>(mut self, names: impl IntoIterator<Item = &'n str>, flagged: bool) -> Self {
        for name in names {
            let tool = self.tools.entry(name.into()).or_default();
            tool.flagged |= flagged;
            tool.decided = true;
        }
        self
    }

    /// Adds an agent, or more tools to one that is there.
    #[must_use]
    pub fn agent<'n>(mut self, name: &str, tools: impl IntoIterator<Item = &'n str>) -> Self {
        let shown = self.agents.entry(name.into()).or_default();
        shown.extend(tools.into_iter().map(Box::from));
        self
    }

    /// Takes in another list. A tool that both show to the same agent, or that they define differently, is a
    /// `duplicate-name`.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.repeated.extend(other.repeated);
        self.only = self.only.or(other.only);
        for (name, tool) in other.tools {
            let both: Vec<Box<str>> = self
                .agents
                .iter()
                .filter(|(agent, shown)| {
                    let shown_by_other = other.agents.get(*agent);
                    shown.contains(&name)
                        && shown_by_other.is_some_and(|shown| shown.contains(&name))
                })
                .map(|(agent, _)| agent.clone())
                .collect();
            let Some(known) = self.tools.get_mut(&name) else {
                self.tools.insert(name, tool);
                continue;
            };
            let same = known.flagged == tool.flagged && known.definitions == tool.definitions;
            let actors = match (both.is_empty(), same) {
                (true, true) => Vec::new(),
                (true, false) => vec![None],
                (false, _) => both.into_iter().map(Some).collect(),
            };
            for actor in actors {
                self.repeated.insert(Repeated {
                    tool: name.clone(),
                    actor,
                    list: tool.list.clone(),
                });
            }
            known.flagged |= tool.flagged;
            known.decided |= tool.decided;
            known.definitions.extend(tool.definitions);
        }
        for (agent, shown) in other.agents {
            self.agents.entry(agent).or_default().extend(shown);
        }
        self
    }

    /// Compares the grants of this actor only.
    #[must_use]
    pub fn only(mut self, actor: &str) -> Self {
        self.only = Some(actor.into());
        self
    }

    /// Says that a tool needs no grant, although its list, which cannot say so, has it.
    ///
    /// # Errors
    /// [`CannotUnflag`] when no list has the tool, or its list says itself what it needs.
    pub fn unflag(&mut self, name: &str) -> Result<(), CannotUnflag> {
        let error = |reason: String| Err(CannotUnflag { reason });
        match self.tools.get_mut(name) {
            Some(tool) if tool.decided => {
                error(format!("the list of `{name}` says itself what it needs"))
            }
            Some(tool) => {
                tool.flagged = false;
                Ok(())
            }
            None => {
                let names = self.tools.keys().map(|known| &**known);
                let near = crate::analysis::near::nearest(name, names)
                    .map(|near| format!("; did you mean `{near}`?"));
                error(format!(
                    "no list has the tool `{name}`{}",
                    near.unwrap_or_default()
                ))
            }
        }
    }

    /// The tools in order, and whether each needs a grant.
    pub fn tools(&self) -> impl Iterator<Item = (&str, bool)> {
        self.tools
            .iter()
            .map(|(name, tool)| (&**name, tool.flagged))
    }

    /// The agents in order.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(|name| &**name)
    }
}
