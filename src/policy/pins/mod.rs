//! Pins: do the rules and the tools that agents are shown agree, in both directions?
//!
//! Grants rot. Tools are renamed, agents lose tools and keep grants, a flag is dropped. Pinning the rules to the lists
//! of tools makes each of these a finding. Nothing here decides, and nothing here can widen or narrow what is granted.
//!
//! ```
//! use horngate::{AdvertisedTools, Allowlist, Budget, Rulebase, Source, pins::Pins};
//!
//! let rules = "may_execute_tool('U:Qa', tool_repl).\nmay_execute_tool('U:PM', tool_remote_triger).\n";
//! let rulebase = Rulebase::load([Source::new("governance.pl", rules)])?;
//! let model = rulebase.evaluate(&Budget::default())?;
//! let allowlist = Allowlist::bind(&model, "may_execute_tool/2")?;
//! let tools = AdvertisedTools::new()
//!     .flagged(["repl", "remote_trigger"])
//!     .agent("U:Qa", ["repl"])
//!     .agent("U:PM", ["remote_trigger"]);
//!
//! let pins = Pins::compare(&allowlist, &tools);
//! let [finding] = pins.findings() else { panic!("{pins}") };
//! assert_eq!(finding.kind.as_str(), "unknown-tool");
//! assert_eq!(finding.help, "did you mean `tool_remote_trigger`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advertised;
mod differences;
mod findings;
#[cfg(feature = "tool-lists")]
mod forms;
#[cfg(feature = "tool-lists")]
mod lock;
#[cfg(feature = "tool-lists")]
mod part;
#[cfg(feature = "tool-lists")]
mod tree;

pub use advertised::{AdvertisedTools, CannotUnflag};
pub use findings::{Finding, FindingKind};
#[cfg(feature = "tool-lists")]
pub use forms::{Syntax, ToolList, ToolListError};
#[cfg(feature = "tool-lists")]
pub use lock::ToolLock;

use super::Allowlist;
use super::places::GrantingClauses;
use crate::analysis::near::{self, Likeness};
use advertised::Repeated;
use differences::{Differences, Pairs, Sides, differences};
use findings::Wording;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How many comparisons of two names the search for near names may cost; names beyond that get no advice.
const MAX_COMPARISONS: usize = 1 << 22;

/// All disagreements between rules and lists of tools.
#[derive(Clone, Debug)]
pub struct Pins {
    findings: Vec<Finding>,
    places: Vec<Option<String>>,
}

impl Pins {
    /// Compares the grants of `allowlist` with what agents are shown. Each affected pair is one finding; a grant that
    /// misspells a name is one about that name, and not a second one about the name that was meant.
    #[must_use]
    pub fn compare(allowlist: &Allowlist, tools: &AdvertisedTools) -> Self {
        let findings = Comparison { allowlist, tools }.findings();
        let mut clauses = GrantingClauses::new(allowlist, allowlist.sources());
        let places = findings
            .iter()
            .map(|finding| {
                let span = clauses.of(finding)?;
                let sources = allowlist.sources();
                Some(format!(
                    "{}:{}",
                    sources.name(span),
                    sources.start(span).line
                ))
            })
            .collect();
        Self { findings, places }
    }

    /// With more findings, such as those of a lock file.
    #[must_use]
    pub fn and(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        self.places.resize(self.findings.len(), None);
        self
    }

    /// The findings, sorted by kind, actor and tool.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Whether rules and lists agree.
    #[must_use]
    pub fn agree(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for Pins {
    /// A report for people: each finding with its place and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.findings.len() {
            0 => return f.write_str("the rules and the lists of tools agree"),
            1 => f.write_str("the rules and the lists of tools disagree in 1 place:")?,
            count => write!(
                f,
                "the rules and the lists of tools disagree in {count} places:"
            )?,
        }
        for (finding, place) in self.findings.iter().zip(&self.places) {
            write!(f, "\n  {finding}")?;
            if let Some(place) = place.as_ref().or(finding.list.as_ref()) {
                write!(f, "\n    at {place}")?;
            }
            write!(f, "\n    help: {}", finding.help)?;
        }
        Ok(())
    }
}

/// Asserts that the grants and what agents are shown agree, for the tests of a project that keeps both.
///
/// # Panics
/// When they do not, with all findings and what to do about each.
///
/// ```
/// use horngate::{AdvertisedTools, Allowlist, Budget, Rulebase, Source, assert_pinned};
///
/// let rulebase = Rulebase::load([Source::new("a.pl", "may_execute_tool('U:Qa', tool_repl).")])?;
/// let allowlist = Allowlist::bind(&rulebase.evaluate(&Budget::default())?, "may_execute_tool/2")?;
/// let tools = AdvertisedTools::new().flagged(["repl"]).agent("U:Qa", ["repl"]);
/// assert_pinned(&allowlist, &tools);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
#[expect(
    clippy::panic,
    reason = "an assertion is for tests, which fail by panicking"
)]
pub fn assert_pinned(allowlist: &Allowlist, tools: &AdvertisedTools) {
    let pins = Pins::compare(allowlist, tools);
    if !pins.agree() {
        panic!("{pins}");
    }
}

struct Comparison<'a> {
    allowlist: &'a Allowlist,
    tools: &'a AdvertisedTools,
}

impl<'a> Comparison<'a> {
    fn findings(&self) -> Vec<Finding> {
        let key = self.allowlist.predicate();
        let wording = Wording {
            predicate: key.name(),
            prefix: self.allowlist.tool_prefix(),
        };
        let sides = self.sides();
        let found = differences(&sides);
        let mut findings = self.pairs(&wording, &sides, &found);
        findings.extend(self.nowhere(&sides));
        findings.extend(self.unreadable_grants());
        findings.extend(self.tools.repeated.iter().map(duplicate));
        findings.extend(self.look_alikes());
        findings.sort_by(|a, b| {
            (a.kind, &a.actor, &a.tool, &a.message).cmp(&(b.kind, &b.actor, &b.tool, &b.message))
        });
        findings
    }

    fn wants(&self, actor: &str) -> bool {
        self.tools.only.as_deref().is_none_or(|only| only == actor)
    }

    fn sides(&self) -> Sides<'a> {
        let tools = self.tools;
        let mut sides = Sides {
            granted: self.allowlist.grants().into_iter().collect(),
            shown: tools
                .agents
                .iter()
                .flat_map(|(agent, shown)| shown.iter().map(|tool| (&**agent, &**tool)))
                .collect(),
            agents: tools.agents().collect(),
            tools: tools.tools().collect(),
            ..Sides::default()
        };
        sides.granted.retain(|(actor, _)| self.wants(actor));
        sides.shown.retain(|(actor, _)| self.wants(actor));
        let named = sides.granted.iter().chain(&sides.shown);
        let unknown = named
            .map(|(_, tool)| *tool)
            .filter(|tool| !tools.tools.contains_key(*tool))
            .collect();
        sides.near_tools = nearest(unknown, || tools.tools().map(|(name, _)| name));
        let unknown = sides
            .granted
            .iter()
            .map(|(actor, _)| *actor)
            .chain(tools.only.as_deref())
            .filter(|actor| !tools.agents.contains_key(*actor))
            .collect();
        sides.near_agents = nearest(unknown, || tools.agents());
        sides
    }

    /// The findings about one actor and one tool.
    fn pairs(
        &self,
        wording: &Wording<'_>,
        sides: &Sides<'a>,
        found: &Differences<'a>,
    ) -> Vec<Finding> {
        let near =
            |pairs: &Pairs<'a>| -> BTreeMap<&'a str, &'a str> { pairs.iter().copied().collect() };
        let (near_tools, near_agents) = (near(&sides.near_tools), near(&sides.near_agents));
        let mut findings = Vec::new();
        for (actor, tool) in &found.advertised_not_granted {
            let mut finding = wording.advertised_not_granted(actor, tool);
            finding.list = self.list_of(tool);
            findings.push(finding);
        }
        let granted = |mut finding: Finding, actor: &str, tool: &str| {
            finding.grant = self.allowlist.values(actor, tool);
            finding
        };
        for (actor, tool) in &found.granted_never_advertised {
            findings.push(granted(
                wording.granted_never_advertised(actor, tool),
                actor,
                tool,
            ));
        }
        for (actor, tool) in &found.granted_unflagged {
            findings.push(granted(wording.granted_unflagged(actor, tool), actor, tool));
        }
        for (actor, tool) in &found.unknown_tool {
            let is_granted = sides.granted.contains(&(*actor, *tool));
            let near = near_tools.get(tool).copied();
            let mut finding = wording.unknown_tool(actor, tool, is_granted, near);
            let whole = format!("{}{tool}", wording.prefix);
            if is_granted && !wording.prefix.is_empty() && self.tools.tools.contains_key(&*whole) {
                finding.help = format!(
                    "a list calls it `{whole}`: take the prefix off there, or write `{}` here",
                    wording.atom(&whole)
                );
            }
            let is_granted = is_granted.then(|| self.allowlist.values(actor, tool));
            finding.grant = is_granted.flatten();
            findings.push(finding);
        }
        for (actor, tool) in &found.unknown_actor {
            let near = near_agents.get(actor).copied();
            let finding = Wording::unknown_actor(actor, Some(tool), near);
            findings.push(granted(finding, actor, tool));
        }
        findings
    }

    /// The one actor that is asked about is in no list and has no grant.
    fn nowhere(&self, sides: &Sides<'a>) -> Option<Finding> {
        let only = self.tools.only.as_deref()?;
        let known = sides.agents.contains(only) || !sides.granted.is_empty();
        let near = sides.near_agents.iter().find(|(name, _)| *name == only);
        (!known).then(|| Wording::unknown_actor(only, None, near.map(|(_, near)| *near)))
    }

    /// Tuples that are no grant of a tool to an actor: no decision ever asks for them.
    fn unreadable_grants(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for row in self.allowlist.rows() {
            if self.allowlist.names(row).is_some() {
                continue;
            }
            let [actor, tool] = row.map(|value| self.allowlist.term(value).to_string());
            let [actor_name, tool_name] = row.map(|value| self.allowlist.atom(value));
            if !self.wants(actor_name.unwrap_or(&actor)) {
                continue;
            }
            let prefix = self.allowlist.tool_prefix();
            let mut finding = match (actor_name, tool_name) {
                (None, _) => Wording::finding(
                    FindingKind::UnknownActor,
                    (Some(&actor), Some(&tool)),
                    format!(
                        "`{tool}` is granted to `{actor}`, which is no atom, so no agent is called that"
                    ),
                    "write the agent's name as an atom, in single quotes".to_owned(),
                ),
                (Some(actor), Some(name)) => Wording::finding(
                    FindingKind::UnknownTool,
                    (Some(actor), Some(&tool)),
                    format!(
                        "`{actor}` may run `{tool}`, which does not start with `{prefix}`, so no tool is called that"
                    ),
                    format!(
                        "write `{}`",
                        crate::syntax::quoted_atom(&format!("{prefix}{name}"))
                    ),
                ),
                (Some(actor), None) => Wording::finding(
                    FindingKind::UnknownTool,
                    (Some(actor), Some(&tool)),
                    format!(
                        "`{actor}` may run `{tool}`, which is no atom, so no tool is called that"
                    ),
                    format!("write the tool's name as an atom that starts with `{prefix}`"),
                ),
            };
            finding.grant = Some(row);
            findings.push(finding);
        }
        findings
    }

    fn list_of(&self, tool: &str) -> Option<String> {
        let list = self.tools.tools.get(tool)?.list.as_ref()?;
        Some(list.to_string())
    }

    /// Advertised names that look alike.
    fn look_alikes(&self) -> Vec<Finding> {
        let names: Vec<&str> = self.tools.tools().map(|(name, _)| name).collect();
        let two_words = |a: usize, b: usize| match (names.get(a), names.get(b)) {
            (Some(a), Some(b)) => are_singular_and_plural(a, b) || differ_in_a_word(a, b),
            _ => true,
        };
        let wanted = |a, b, likeness| likeness != Likeness::Edit || !two_words(a, b);
        let mut alike: BTreeSet<(&str, &str)> = near::alike(&names, wanted)
            .into_iter()
            .filter_map(|(a, b, _)| Some((*names.get(a)?, *names.get(b)?)))
            .collect();
        let mut folded: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for name in names {
            match fold(name) {
                letters if letters.is_empty() => {}
                letters => folded.entry(letters).or_default().push(name),
            }
        }
        for group in folded.into_values() {
            alike.extend(group.iter().copied().zip(group.iter().copied().skip(1)));
        }
        alike
            .into_iter()
            .map(|(a, b)| {
                let mut finding = Wording::finding(
                    FindingKind::NearName,
                    (None, Some(b)),
                    format!("`{a}` and `{b}` look alike"),
                    "rename one of them, lest a grant for one be read as a grant for the other"
                        .to_owned(),
                );
                finding.list = self.list_of(b);
                finding
            })
            .collect()
    }
}

fn duplicate(repeated: &Repeated) -> Finding {
    let tool = &*repeated.tool;
    let (message, help) = match &repeated.actor {
        Some(actor) => (
            format!("`{actor}` is shown two tools called `{tool}`"),
            "rename one of them: a grant cannot tell them apart",
        ),
        None => (
            format!("two lists define `{tool}` differently"),
            "rename one of them, or make the lists agree: a grant cannot tell them apart",
        ),
    };
    let pair = (repeated.actor.as_deref(), Some(tool));
    let mut finding = Wording::finding(FindingKind::DuplicateName, pair, message, help.to_owned());
    finding.list = repeated.list.as_ref().map(ToString::to_string);
    finding
}

/// For each unknown name the nearest of the known ones, as long as the search costs little.
fn nearest<'a, I: Iterator<Item = &'a str>>(
    unknown: BTreeSet<&'a str>,
    known: impl Fn() -> I,
) -> Pairs<'a> {
    let affordable = MAX_COMPARISONS / known().count().max(1);
    unknown
        .into_iter()
        .take(affordable)
        .filter_map(|name| Some((name, near::nearest(name, known())?)))
        .collect()
}

/// Whether two names one edit apart differ in the first letter of a word, as `get_user` and `set_user` do: two words, and
/// not one misread.
fn differ_in_a_word(a: &str, b: &str) -> bool {
    let mut before = None;
    for (x, y) in a.chars().zip(b.chars()) {
        if x != y {
            let starts_word = before.is_none_or(|c: char| !c.is_alphanumeric());
            return starts_word && a.chars().count() == b.chars().count();
        }
        before = Some(x);
    }
    false
}

fn are_singular_and_plural(a: &str, b: &str) -> bool {
    let plural = |one: &str, many: &str| many.strip_suffix('s') == Some(one);
    plural(a, b) || plural(b, a)
}

/// What is left of a name for somebody who reads it in passing: no case, no separators, nothing invisible.
fn fold(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

impl GrantingClauses<'_> {
    /// The clause that gives the grant that a finding is about.
    pub fn of(&mut self, finding: &Finding) -> Option<crate::Span> {
        self.clause(finding.grant?)
    }
}
