//! The tools of a server: their names here, their definitions, and which of them were reviewed.
//!
//! Nothing here grants. What is doubtful about a tool withholds it.

use crate::json::{Json, Object};
use horngate::AdvertisedTools;
use horngate::pins::ToolLock;
use horngate_gate::{ToolSpec, visible};
use std::collections::{BTreeMap, BTreeSet};

/// What separates a namespace from a tool's own name.
const SEPARATOR: &str = "::";

/// The name of a server in the names of its tools: `[a-z0-9-]+`.
///
/// ```
/// use horngate_mcp::Namespace;
/// assert_eq!(Namespace::parse("git")?.to_string(), "git");
/// assert!(Namespace::parse("Git::x").is_err());
/// # Ok::<(), horngate_mcp::BadNamespace>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace(String);

/// A text that is no namespace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no namespace: write small letters, digits and `-`, 32 at the most")]
pub struct BadNamespace(String);

impl Namespace {
    /// Reads a namespace.
    ///
    /// # Errors
    /// [`BadNamespace`] when the text has anything but small ASCII letters, digits and `-`.
    pub fn parse(text: &str) -> Result<Self, BadNamespace> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match !text.is_empty() && text.len() <= 32 && text.chars().all(allowed) {
            true => Ok(Self(text.to_owned())),
            false => Err(BadNamespace(visible(text))),
        }
    }
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name that the rules know a tool by. Names of two servers can never be the same: what has the separator in it
/// already is nobody's.
pub(crate) fn name_here(namespace: Option<&Namespace>, name: &str) -> Result<String, String> {
    if name.contains(SEPARATOR) {
        return Err(format!("its name has `{SEPARATOR}` in it"));
    }
    Ok(match namespace {
        None => name.to_owned(),
        Some(Namespace(server)) => format!("{server}{SEPARATOR}{name}"),
    })
}

/// Which definitions pass.
#[derive(Clone, Debug, Default)]
pub enum Lock {
    /// All.
    #[default]
    Off,
    /// Those that were reviewed.
    Reviewed(ToolLock),
    /// Those of the first list, which are to be written down.
    First,
}

/// The tools of one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    /// What the gate is to know, by the name here.
    pub(crate) specs: Vec<ToolSpec>,
    /// By the name here: the number of the first list, without a gap up to this one, that defines a tool as this one does.
    since: BTreeMap<String, u64>,
    /// As they are shown, in the server's order, each with its name here.
    shown: Vec<(String, Object)>,
    /// By the server's name: why a tool is neither shown nor run.
    pub(crate) withheld: BTreeMap<String, String>,
    /// The lock that the first list makes.
    pub(crate) lock: Option<ToolLock>,
}

impl Catalog {
    pub(crate) fn of(items: Vec<Json>, namespace: Option<&Namespace>, lock: &Lock) -> Self {
        let mut catalog = Self::default();
        let mut tools: Vec<(String, Object)> = Vec::new();
        let mut names = BTreeSet::new();
        for item in items {
            let Json::Object(tool) = item else { continue };
            let Some(name) = tool.get("name").and_then(Json::as_str) else {
                continue;
            };
            let name = name.to_owned();
            if !names.insert(name.clone()) {
                let why = "the server has two tools of that name";
                catalog.withheld.insert(name, why.to_owned());
                continue;
            }
            tools.push((name, tool));
        }
        tools.retain(|(name, _)| !catalog.withheld.contains_key(name));
        let unreviewed = catalog.review(&tools, lock);
        for (name, mut tool) in tools {
            let spec = match unreviewed.get(&name) {
                Some(why) => Err(why.clone()),
                None => name_here(namespace, &name).and_then(|here| spec(here, &tool)),
            };
            match spec {
                Ok(spec) => {
                    if !matches!(lock, Lock::Off) {
                        tool.retain(|member| REVIEWED.contains(&member));
                    }
                    catalog.shown.push((spec.name().to_owned(), tool));
                    catalog.specs.push(spec);
                }
                Err(why) => {
                    catalog.withheld.insert(name, why);
                }
            }
        }
        catalog
    }

    /// Numbers the list, which comes after another.
    pub(crate) fn since(&mut self, before: &Self, number: u64) {
        let old: BTreeMap<&str, &ToolSpec> = before
            .specs
            .iter()
            .map(|spec| (spec.name(), spec))
            .collect();
        self.since = self
            .specs
            .iter()
            .map(|spec| {
                let name = spec.name();
                let same = old.get(name) == Some(&spec);
                let since = before.since.get(name).filter(|_| same);
                (name.to_owned(), since.copied().unwrap_or(number))
            })
            .collect();
    }

    /// What changes whenever the definition of a tool does, or whether it may pass.
    pub(crate) fn version(&self, here: &str) -> Option<u64> {
        self.since.get(here).copied()
    }

    /// The tools whose definitions were not reviewed, and why they do not pass.
    fn review(&mut self, tools: &[(String, Object)], lock: &Lock) -> BTreeMap<String, String> {
        let mut unreviewed = BTreeMap::new();
        let mut listed = AdvertisedTools::new();
        if matches!(lock, Lock::Off) {
            return unreviewed;
        }
        for (name, tool) in tools {
            let mut reviewed = tool.clone();
            reviewed.retain(|member| REVIEWED.contains(&member));
            let text = Json::object()
                .with("tools", vec![reviewed.into()])
                .to_string();
            match AdvertisedTools::from_list("", &text) {
                Ok(one) => listed = listed.and(one),
                Err(error) => {
                    unreviewed.insert(name.clone(), error.to_string());
                }
            }
        }
        match lock {
            Lock::Off => {}
            Lock::Reviewed(lock) => {
                for finding in lock.changed(&listed) {
                    if let Some(name) = finding.tool {
                        unreviewed.insert(name.to_string(), finding.message);
                    }
                }
            }
            Lock::First => match ToolLock::of(&listed) {
                Ok(lock) => self.lock = Some(lock),
                Err(error) => {
                    for (name, _) in tools {
                        unreviewed.insert(name.clone(), error.to_string());
                    }
                }
            },
        }
        unreviewed
    }

    /// What the client is shown, of the tools with these names.
    pub(crate) fn shown(&self, granted: &BTreeSet<String>) -> Vec<Json> {
        self.shown
            .iter()
            .filter(|(name, _)| granted.contains(name))
            .map(|(_, tool)| tool.clone().into())
            .collect()
    }

    /// The same of another list, of which only what is in this one passes.
    pub(crate) fn only(&self, items: Vec<Json>, granted: &BTreeSet<String>) -> Vec<Json> {
        let name = |item: &Json| Some(item.as_object()?.get("name")?.as_str()?.to_owned());
        let mut wanted: BTreeSet<String> = items.iter().filter_map(name).collect();
        self.shown
            .iter()
            .filter(|(here, tool)| {
                let name = tool.get("name").and_then(Json::as_str);
                granted.contains(here) && name.is_some_and(|name| wanted.remove(name))
            })
            .map(|(_, tool)| tool.clone().into())
            .collect()
    }
}

/// The members of a definition that a lock covers. Nothing else of a locked tool is shown: nobody has reviewed it.
const REVIEWED: [&str; 3] = ["name", "description", "inputSchema"];

fn spec(here: String, tool: &Object) -> Result<ToolSpec, String> {
    let description = match tool.get("description") {
        None => "",
        Some(Json::String(text)) => text,
        Some(_) => return Err("its description is no text".to_owned()),
    };
    let schema = match tool.get("inputSchema") {
        Some(schema @ Json::Object(_)) => schema.to_value(),
        _ => None,
    };
    let schema = schema.ok_or("it has no schema that can be used")?;
    Ok(ToolSpec::new(here, description).schema(schema))
}
