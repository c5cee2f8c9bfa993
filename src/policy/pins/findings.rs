//! One disagreement between rules and lists of tools, in words.
//!
//! Nothing here compares anything.

use crate::syntax::quoted_atom;
use crate::value::Value;
use std::fmt;

/// What kind of disagreement it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// The actor is shown a tool that needs a grant, and has none.
    AdvertisedNotGranted,
    /// The actor has a grant for a tool that it is never shown: dead policy.
    GrantedNeverAdvertised,
    /// The actor has a grant for a tool that needs none.
    GrantedUnflagged,
    /// A grant, or the list of an agent, names a tool that no list defines.
    UnknownTool,
    /// A grant names an actor that no list has.
    UnknownActor,
    /// Two advertised names that look alike.
    NearName,
    /// Two tools of one name.
    DuplicateName,
    /// A tool's definition is not the one that the lock file has.
    DefinitionChanged,
}

impl FindingKind {
    /// The stable name, as in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AdvertisedNotGranted => "advertised-not-granted",
            Self::GrantedNeverAdvertised => "granted-never-advertised",
            Self::GrantedUnflagged => "granted-unflagged",
            Self::UnknownTool => "unknown-tool",
            Self::UnknownActor => "unknown-actor",
            Self::NearName => "near-name",
            Self::DuplicateName => "duplicate-name",
            Self::DefinitionChanged => "definition-changed",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One disagreement, about one actor and tool if it is about a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What kind it is.
    pub kind: FindingKind,
    /// The actor, if it is about one.
    pub actor: Option<String>,
    /// The tool without the prefix, if it is about one.
    pub tool: Option<String>,
    /// What is the matter: lower case, no final period.
    pub message: String,
    /// What to do, or what to type instead.
    pub help: String,
    /// The list of tools that it is about, if that has a name.
    pub list: Option<String>,
    /// The grant that it is about, if it is about one.
    pub(crate) grant: Option<[Value; 2]>,
}

impl fmt::Display for Finding {
    /// The kind and the message, in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// How the rules write what the findings are about.
pub(super) struct Wording<'a> {
    pub(super) predicate: &'a str,
    pub(super) prefix: &'a str,
}

impl Wording<'_> {
    /// The atom of a tool.
    pub(super) fn atom(&self, tool: &str) -> String {
        quoted_atom(&format!("{}{tool}", self.prefix))
    }

    pub(super) fn finding(
        kind: FindingKind,
        pair: (Option<&str>, Option<&str>),
        message: String,
        help: String,
    ) -> Finding {
        Finding {
            kind,
            actor: pair.0.map(str::to_owned),
            tool: pair.1.map(str::to_owned),
            message,
            help,
            list: None,
            grant: None,
        }
    }

    pub(super) fn advertised_not_granted(&self, actor: &str, tool: &str) -> Finding {
        let fact = format!(
            "{}({}, {}).",
            quoted_atom(self.predicate),
            quoted_atom(actor),
            self.atom(tool)
        );
        Self::finding(
            FindingKind::AdvertisedNotGranted,
            (Some(actor), Some(tool)),
            format!("`{actor}` is shown `{tool}`, which it may not run"),
            format!("grant it with `{fact}`, or stop showing `{tool}` to `{actor}`"),
        )
    }

    pub(super) fn granted_never_advertised(&self, actor: &str, tool: &str) -> Finding {
        Self::finding(
            FindingKind::GrantedNeverAdvertised,
            (Some(actor), Some(tool)),
            format!("`{actor}` may run `{tool}`, which it is never shown"),
            format!("remove the grant, or show `{tool}` to `{actor}`"),
        )
    }

    pub(super) fn granted_unflagged(&self, actor: &str, tool: &str) -> Finding {
        Self::finding(
            FindingKind::GrantedUnflagged,
            (Some(actor), Some(tool)),
            format!("`{tool}` needs no grant, and `{actor}` has one"),
            format!("remove the grant, or flag `{tool}` in its list"),
        )
    }

    /// A grant, or a list that is not `granted`, that names a tool which no list defines.
    pub(super) fn unknown_tool(
        &self,
        actor: &str,
        tool: &str,
        granted: bool,
        near: Option<&str>,
    ) -> Finding {
        let (message, name) = if granted {
            (
                format!("`{actor}` may run `{tool}`, which no list defines"),
                near.map(|near| self.atom(near)),
            )
        } else {
            (
                format!("`{actor}` is shown `{tool}`, and no list says whether that needs a grant"),
                near.map(str::to_owned),
            )
        };
        let help = match name {
            Some(near) => format!("did you mean `{near}`?"),
            None if granted => "remove the grant, or add the tool to its list".to_owned(),
            None => "add the tool to the list, with `requires_approval`".to_owned(),
        };
        Self::finding(
            FindingKind::UnknownTool,
            (Some(actor), Some(tool)),
            message,
            help,
        )
    }

    pub(super) fn unknown_actor(actor: &str, tool: Option<&str>, near: Option<&str>) -> Finding {
        let message = match tool {
            Some(tool) => format!("`{tool}` is granted to `{actor}`, which no list has"),
            None => format!("no list has the agent `{actor}`, and nothing is granted to it"),
        };
        let help = match near {
            Some(near) => format!("did you mean `{}`?", quoted_atom(near)),
            None if tool.is_some() => "remove the grant, or add the agent to a list".to_owned(),
            None => "name an agent of the lists".to_owned(),
        };
        Self::finding(
            FindingKind::UnknownActor,
            (Some(actor), tool),
            message,
            help,
        )
    }
}
