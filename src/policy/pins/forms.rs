//! The forms that lists of tools come in: horngate's own, MCP, OpenAI and Anthropic.
//!
//! Nothing here guesses: a text is of exactly one form, whole, or it is an error that says where.

use super::advertised::{Advertised, AdvertisedTools, Definition, Repeated};
use super::part::Part;
use super::tree::Tree;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// How long a list may be, in bytes.
const MAX_BYTES: usize = 1 << 24;
/// The same in YAML, whose parser takes a hundred bytes for one.
const MAX_YAML_BYTES: usize = 1 << 22;
/// How many tools a list may have, and how many it may show to its agents in all.
const MAX_NAMES: usize = 1_000_000;

/// The language that a list is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON
    Json,
    /// YAML 1.2, without aliases and tags
    Yaml,
    /// TOML
    Toml,
}

/// Why a text is no list of tools, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{message}")]
pub struct ToolListError {
    place: String,
    message: String,
}

impl ToolListError {
    /// `place` is where in the text, or empty.
    pub(super) fn new(place: &str, message: impl fmt::Display) -> Self {
        let colon = if place.is_empty() { "" } else { ": " };
        Self {
            place: format!("{place}{colon}"),
            message: message.to_string(),
        }
    }
}

/// A list of tools as it was read, before it is said who is shown them.
///
/// ```
/// use horngate::pins::{Syntax, ToolList};
/// let text = r#"[{"name": "repl", "description": "Runs code", "input_schema": {"type": "object"}}]"#;
/// let list = ToolList::parse(text, Syntax::Json)?;
/// assert!(!list.names_agents());
/// let tools = list.shown_to("repl.json", "U:Qa");
/// assert_eq!(tools.tools().collect::<Vec<_>>(), [("repl", true)]);
///
/// let error = ToolList::parse(r#"[{"name": "repl"}]"#, Syntax::Json).unwrap_err();
/// assert!(error.to_string().starts_with("at `[0]`: "));
/// # Ok::<(), horngate::pins::ToolListError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ToolList {
    tools: Vec<Tool>,
    agents: Option<Vec<(String, Vec<String>)>>,
}

#[derive(Clone, Debug)]
struct Tool {
    name: String,
    /// What the list says about approval; most forms cannot say it.
    flagged: Option<bool>,
    definition: Definition,
}

impl ToolList {
    /// Reads a list in any of the forms: horngate's own,
    /// `{"tools": {"repl": {"requires_approval": true}}, "agents": {"U:Qa": ["repl"]}}`; the result of MCP's
    /// `tools/list`, bare or in its JSON-RPC response; an array of tools as OpenAI or Anthropic have it.
    ///
    /// # Errors
    /// [`ToolListError`] with the place, when it is none of them.
    pub fn parse(text: &str, syntax: Syntax) -> Result<Self, ToolListError> {
        let limit = match syntax {
            Syntax::Yaml => MAX_YAML_BYTES,
            Syntax::Json | Syntax::Toml => MAX_BYTES,
        };
        if text.len() > limit {
            let message = format!("the list is longer than {limit} bytes");
            return Err(ToolListError::new("", message));
        }
        let list = Self::of(&Tree::parse(text, syntax)?)?;
        let shown = list.agents.iter().flatten().map(|(_, tools)| tools.len());
        if list.tools.len() > MAX_NAMES || shown.sum::<usize>() > MAX_NAMES {
            return Err(ToolListError::new(
                "",
                format!("the list has more than {MAX_NAMES} names"),
            ));
        }
        Ok(list)
    }

    fn of(tree: &Tree) -> Result<Self, ToolListError> {
        match tree {
            Tree::List(_) => array(tree),
            Tree::Map(_) => {
                let has = |key: &str| tree.get(key).is_some();
                if has("jsonrpc") || has("result") || has("error") {
                    return response(tree);
                }
                match tree.get("tools") {
                    Some(Tree::List(_)) if !has("agents") => mcp("", tree),
                    _ if has("tools") || has("agents") => own(tree),
                    _ => Err(unknown("", "an object without `tools`")),
                }
            }
            other => Err(unknown("", other.kind())),
        }
    }

    /// Whether the list itself says who is shown its tools, as horngate's own form does.
    #[must_use]
    pub fn names_agents(&self) -> bool {
        self.agents.is_some()
    }

    /// The tools as the list itself says who is shown them; `None` if it does not. `name` is shown for the list.
    #[must_use]
    pub fn advertised(&self, name: &str) -> Option<AdvertisedTools> {
        let agents = self.agents.as_ref()?;
        let mut all = self.tools_of(name);
        for (agent, tools) in agents {
            all.show(agent, tools.iter().map(|tool| &**tool), name);
        }
        Some(all)
    }

    /// The tools, all of them shown to `actor`. A tool of a list that cannot say so needs a grant.
    #[must_use]
    pub fn shown_to(&self, name: &str, actor: &str) -> AdvertisedTools {
        let mut all = self.tools_of(name);
        all.show(actor, self.tools.iter().map(|tool| &*tool.name), name);
        all
    }

    fn tools_of(&self, name: &str) -> AdvertisedTools {
        let list: Option<Arc<str>> = (!name.is_empty()).then(|| name.into());
        let mut all = AdvertisedTools::new();
        for tool in &self.tools {
            let known = all
                .tools
                .entry(tool.name.as_str().into())
                .or_insert_with(|| Advertised {
                    list: list.clone(),
                    ..Advertised::default()
                });
            known.flagged |= tool.flagged.unwrap_or(true);
            known.decided |= tool.flagged.is_some();
            known.definitions.insert(tool.definition);
        }
        all
    }
}

impl AdvertisedTools {
    fn show<'n>(&mut self, agent: &str, tools: impl Iterator<Item = &'n str>, list: &str) {
        let shown = self.agents.entry(agent.into()).or_default();
        for tool in tools {
            if !shown.insert(tool.into()) {
                self.repeated.insert(Repeated {
                    tool: tool.into(),
                    actor: Some(agent.into()),
                    list: (!list.is_empty()).then(|| list.into()),
                });
            }
        }
    }

    /// Reads horngate's own form, in JSON.
    ///
    /// # Errors
    /// [`ToolListError`] with the place.
    ///
    /// ```
    /// use horngate::AdvertisedTools;
    /// let tools = AdvertisedTools::from_json(r#"{
    ///     "tools": {"repl": {"requires_approval": true}, "read_file": {"requires_approval": false}},
    ///     "agents": {"U:Qa": ["repl", "read_file"]}
    /// }"#)?;
    /// assert_eq!(tools.tools().collect::<Vec<_>>(), [("read_file", false), ("repl", true)]);
    /// # Ok::<(), horngate::pins::ToolListError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, ToolListError> {
        Self::from_own(text, Syntax::Json)
    }

    /// Reads horngate's own form, in YAML.
    ///
    /// # Errors
    /// [`ToolListError`] with the place.
    ///
    /// ```
    /// use horngate::AdvertisedTools;
    /// let tools = AdvertisedTools::from_yaml("
    /// tools:
    ///   repl: {requires_approval: true}
    /// agents:
    ///   'U:Qa': [repl]
    /// ")?;
    /// assert_eq!(tools.agents().collect::<Vec<_>>(), ["U:Qa"]);
    /// # Ok::<(), horngate::pins::ToolListError>(())
    /// ```
    pub fn from_yaml(text: &str) -> Result<Self, ToolListError> {
        Self::from_own(text, Syntax::Yaml)
    }

    /// Reads horngate's own form, in TOML.
    ///
    /// # Errors
    /// [`ToolListError`] with the place.
    ///
    /// ```
    /// use horngate::AdvertisedTools;
    /// let tools = AdvertisedTools::from_toml("
    /// [tools]
    /// repl.requires_approval = true
    /// [agents]
    /// 'U:Qa' = ['repl']
    /// ")?;
    /// assert_eq!(tools.agents().collect::<Vec<_>>(), ["U:Qa"]);
    /// # Ok::<(), horngate::pins::ToolListError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, ToolListError> {
        Self::from_own(text, Syntax::Toml)
    }

    fn from_own(text: &str, syntax: Syntax) -> Result<Self, ToolListError> {
        let list = ToolList::parse(text, syntax)?;
        list.advertised("").ok_or_else(|| {
            ToolListError::new("", "the list names no agents: say who is shown its tools")
        })
    }

    /// Reads a list that names no agents, as MCP's `tools/list`, OpenAI and Anthropic have it, in JSON. All its tools are
    /// shown to `actor`, and each needs a grant unless [`AdvertisedTools::unflag`] says otherwise.
    ///
    /// # Errors
    /// [`ToolListError`] with the place.
    ///
    /// ```
    /// use horngate::AdvertisedTools;
    /// let listed = r#"{"jsonrpc": "2.0", "id": 2, "result": {"tools": [
    ///     {"name": "fetch", "description": "Fetches a page", "inputSchema": {"type": "object"}},
    ///     {"name": "ping", "inputSchema": {"type": "object"}}
    /// ]}}"#;
    /// let mut tools = AdvertisedTools::from_list("U:Qa", listed)?;
    /// tools.unflag("ping").unwrap();
    /// assert_eq!(tools.tools().collect::<Vec<_>>(), [("fetch", true), ("ping", false)]);
    /// # Ok::<(), horngate::pins::ToolListError>(())
    /// ```
    pub fn from_list(actor: &str, text: &str) -> Result<Self, ToolListError> {
        let list = ToolList::parse(text, Syntax::Json)?;
        if list.names_agents() {
            let message = "the list names its agents itself: read it with `from_json`";
            return Err(ToolListError::new("", message));
        }
        Ok(list.shown_to("", actor))
    }
}

fn unknown(place: &str, what: &str) -> ToolListError {
    let forms = "an object with `tools` and `agents`, a result of MCP's `tools/list`, or an array of tools as OpenAI or Anthropic have it";
    ToolListError::new(
        place,
        format!("{what} is no list of tools, which is {forms}"),
    )
}

/// horngate's own form.
fn own(tree: &Tree) -> Result<ToolList, ToolListError> {
    let whole = Part::whole(tree);
    whole.only(&["tools", "agents"])?;
    let mut tools = Vec::new();
    for (name, part) in whole.need("tools")?.entries()? {
        if name.is_empty() {
            return Err(part.error("an empty name"));
        }
        part.only(&["requires_approval", "description", "input_schema"])?;
        let approval = part.need("requires_approval")?;
        let Tree::Boolean(flagged) = approval.tree else {
            return Err(approval.wanted("`true` or `false`"));
        };
        tools.push(tool(
            name,
            Some(*flagged),
            part.given("description"),
            part.given("input_schema"),
        )?);
    }
    let mut agents = Vec::new();
    for (agent, part) in whole.need("agents")?.entries()? {
        if agent.is_empty() {
            return Err(part.error("an empty name"));
        }
        let shown = part.items()?.map(|item| item.name().map(str::to_owned));
        agents.push((agent.to_owned(), shown.collect::<Result<_, _>>()?));
    }
    Ok(ToolList {
        tools,
        agents: Some(agents),
    })
}

/// A JSON-RPC response to `tools/list`.
fn response(tree: &Tree) -> Result<ToolList, ToolListError> {
    let whole = Part::whole(tree);
    whole.only(&["jsonrpc", "id", "result", "error"])?;
    if let Some(error) = whole.get("error") {
        return Err(error.error("the server answered with an error, not with its tools"));
    }
    let result = whole.need("result")?;
    mcp(&result.place, result.tree)
}

/// The result of MCP's `tools/list`. What MCP allows beside the tools is left alone.
fn mcp(place: &str, tree: &Tree) -> Result<ToolList, ToolListError> {
    let whole = Part {
        place: place.to_owned(),
        tree,
    };
    if let Some(cursor) = whole.given("nextCursor") {
        return Err(cursor.error("this is one page of several: join the tools of all of them"));
    }
    let mut tools = Vec::new();
    for item in whole.need("tools")?.items()? {
        let schema = item.get("inputSchema");
        if schema.is_none() {
            return Err(item.error("`inputSchema` is missing, so this is no tool of MCP"));
        }
        let name = item.need("name")?.name()?;
        tools.push(tool(name, None, item.given("description"), schema)?);
    }
    Ok(ToolList {
        tools,
        agents: None,
    })
}

/// Whose array an item can be of.
#[derive(Clone, Copy, PartialEq)]
enum Maker {
    OpenAi,
    Anthropic,
}

/// An array of tools, all of one maker.
fn array(tree: &Tree) -> Result<ToolList, ToolListError> {
    let whole = Part::whole(tree);
    let (mut tools, mut makers) = (Vec::new(), BTreeSet::new());
    for item in whole.items()? {
        let maker = maker(&item)?;
        makers.insert(maker == Maker::OpenAi);
        if makers.len() > 1 {
            return Err(item.error("a tool of OpenAI and one of Anthropic in the same list"));
        }
        tools.push(match maker {
            Maker::OpenAi => {
                let function = item.get("function");
                let function = function.as_ref().unwrap_or(&item);
                let name = function.need("name")?.name()?;
                let schema = function.given("parameters");
                tool(name, None, function.given("description"), schema)?
            }
            Maker::Anthropic => {
                let name = item.need("name")?.name()?;
                let schema = item.given("input_schema");
                tool(name, None, item.given("description"), schema)?
            }
        });
    }
    Ok(ToolList {
        tools,
        agents: None,
    })
}

fn maker(item: &Part<'_>) -> Result<Maker, ToolListError> {
    if !matches!(item.tree, Tree::Map(_)) {
        return Err(item.wanted("an object"));
    }
    let kind = match item.get("type") {
        Some(part) => Some(part.text()?),
        None => None,
    };
    let has = |key: &str| item.get(key).is_some();
    match kind {
        Some("function") => Ok(Maker::OpenAi),
        None | Some("custom") if has("input_schema") => Ok(Maker::Anthropic),
        _ if has("inputSchema") => Err(item.error(
            "a tool as MCP has it: the list is to be the whole result, an object with `tools`",
        )),
        // `bash_20250124`: a tool that Anthropic defines and the caller runs.
        Some(kind) if has("name") && is_dated(kind) => Ok(Maker::Anthropic),
        Some(kind) => Err(item.error(format!(
            "a tool of type `{kind}` is defined by its maker and has no name that a grant could be for: take it out of the list"
        ))),
        None => Err(item.error(
            "neither a tool of OpenAI, which has `type`, nor one of Anthropic, which has `input_schema`",
        )),
    }
}

fn is_dated(kind: &str) -> bool {
    let date = kind.rsplit_once('_').map_or("", |(_, date)| date);
    date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())
}

fn tool(
    name: &str,
    flagged: Option<bool>,
    description: Option<Part<'_>>,
    schema: Option<Part<'_>>,
) -> Result<Tool, ToolListError> {
    if let Some(description) = &description {
        description.text()?;
    }
    if let Some(schema) = &schema
        && !matches!(schema.tree, Tree::Map(_) | Tree::Boolean(_))
    {
        return Err(schema.wanted("a JSON Schema, which is an object,"));
    }
    let described = description.is_some() || schema.is_some();
    let parts = [
        ("description", description.map(|part| part.tree.clone())),
        ("inputSchema", schema.map(|part| part.tree.clone())),
        ("name", Some(Tree::String(name.to_owned()))),
    ];
    let entries = parts
        .into_iter()
        .filter_map(|(key, tree)| Some((key.to_owned(), tree?)));
    let definition = Tree::Map(entries.collect());
    let canonical = serde_json_canonicalizer::to_vec(&definition)
        .map_err(|error| ToolListError::new(name, error))?;
    Ok(Tool {
        name: name.to_owned(),
        flagged,
        definition: Definition {
            digest: Sha256::digest(&canonical).into(),
            described,
        },
    })
}
