//! The table: what passes, from whom, in which form. What is not in it does not pass.
//!
//! Nothing here depends on what a peer says about itself.

use crate::json::{Json, Object};

/// What becomes of a request of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    Initialize,
    Discover,
    ListTools,
    CallTool,
    ListResources,
    ListTemplates,
    ReadResource,
    Subscribe,
    ListPrompts,
    GetPrompt,
    Complete,
    Listen,
    /// Nothing in it is guarded.
    Plain,
}

/// A request of the client: its name, what becomes of it, and the members that its parameters may have.
type Row = (&'static str, Asks, &'static [&'static str]);

const FROM_CLIENT: &[Row] = &[
    (
        "initialize",
        Asks::Initialize,
        &["protocolVersion", "capabilities", "clientInfo"],
    ),
    ("server/discover", Asks::Discover, &[]),
    ("ping", Asks::Plain, &[]),
    ("logging/setLevel", Asks::Plain, &["level"]),
    ("tools/list", Asks::ListTools, &["cursor"]),
    (
        "tools/call",
        Asks::CallTool,
        &["name", "arguments", "inputResponses", "requestState"],
    ),
    ("resources/list", Asks::ListResources, &["cursor"]),
    ("resources/templates/list", Asks::ListTemplates, &["cursor"]),
    (
        "resources/read",
        Asks::ReadResource,
        &["uri", "inputResponses", "requestState"],
    ),
    ("resources/subscribe", Asks::Subscribe, &["uri"]),
    ("resources/unsubscribe", Asks::Subscribe, &["uri"]),
    ("prompts/list", Asks::ListPrompts, &["cursor"]),
    (
        "prompts/get",
        Asks::GetPrompt,
        &["name", "arguments", "inputResponses", "requestState"],
    ),
    (
        "completion/complete",
        Asks::Complete,
        &["ref", "argument", "context"],
    ),
    ("subscriptions/listen", Asks::Listen, &["notifications"]),
];

impl Asks {
    /// Leaves of a result what answers the request.
    pub(crate) fn result(self, result: &mut Object) {
        let members: &[&str] = match self {
            // What a tool gives is the tool's.
            Self::CallTool => return,
            Self::Initialize => &[
                "protocolVersion",
                "capabilities",
                "serverInfo",
                "instructions",
            ],
            Self::Discover => &[
                "supportedVersions",
                "capabilities",
                "serverInfo",
                "instructions",
                "ttlMs",
                "cacheScope",
            ],
            Self::ListTools => &["tools", "nextCursor", "ttlMs", "cacheScope"],
            Self::ListResources => &["resources", "nextCursor", "ttlMs", "cacheScope"],
            Self::ListTemplates => &["resourceTemplates", "nextCursor", "ttlMs", "cacheScope"],
            Self::ListPrompts => &["prompts", "nextCursor", "ttlMs", "cacheScope"],
            Self::ReadResource => &[
                "contents",
                "ttlMs",
                "cacheScope",
                "inputRequests",
                "requestState",
            ],
            Self::GetPrompt => &["description", "messages", "inputRequests", "requestState"],
            Self::Complete => &["completion"],
            Self::Subscribe | Self::Listen | Self::Plain => &[],
        };
        result.retain(|name| matches!(name, "_meta" | "resultType") || members.contains(&name));
    }
}

/// What becomes of a notification of the client, and its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    Initialized,
    Cancelled,
    Progress,
    Plain,
}

const TOLD_BY_CLIENT: &[(&str, Tells, &[&str])] = &[
    ("notifications/initialized", Tells::Initialized, &[]),
    (
        "notifications/cancelled",
        Tells::Cancelled,
        &["requestId", "reason"],
    ),
    (
        "notifications/progress",
        Tells::Progress,
        &["progressToken", "progress", "total", "message"],
    ),
    ("notifications/roots/list_changed", Tells::Plain, &[]),
];

/// Requests of the server. What they carry is for the client to judge.
const FROM_SERVER: &[&str] = &[
    "ping",
    "roots/list",
    "elicitation/create",
    "sampling/createMessage",
];

/// What becomes of a notification of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    Cancelled,
    Progress,
    ToolsChanged,
    ListChanged,
    ResourceUpdated,
    Plain,
}

const TOLD_BY_SERVER: &[(&str, Says)] = &[
    ("notifications/cancelled", Says::Cancelled),
    ("notifications/progress", Says::Progress),
    ("notifications/message", Says::Plain),
    ("notifications/tools/list_changed", Says::ToolsChanged),
    ("notifications/resources/list_changed", Says::ListChanged),
    ("notifications/prompts/list_changed", Says::ListChanged),
    ("notifications/resources/updated", Says::ResourceUpdated),
    ("notifications/elicitation/complete", Says::Plain),
    ("notifications/subscriptions/acknowledged", Says::Plain),
];

/// What a request of the client asks for, or why its parameters are refused. `None`: no such method.
pub(crate) fn asks(method: &str, params: &Object) -> Option<Result<Asks, String>> {
    let (_, asks, members) = FROM_CLIENT.iter().find(|(name, ..)| *name == method)?;
    Some(only(method, params, members).map(|()| *asks))
}

pub(crate) fn tells(method: &str, params: &Object) -> Option<Result<Tells, String>> {
    let (_, tells, members) = TOLD_BY_CLIENT.iter().find(|(name, ..)| *name == method)?;
    Some(only(method, params, members).map(|()| *tells))
}

pub(crate) fn server_asks(method: &str) -> bool {
    FROM_SERVER.contains(&method)
}

pub(crate) fn says(method: &str) -> Option<Says> {
    let (_, says) = TOLD_BY_SERVER.iter().find(|(name, _)| *name == method)?;
    Some(*says)
}

fn only(method: &str, params: &Object, members: &[&str]) -> Result<(), String> {
    for (name, value) in params.iter() {
        match name {
            "_meta" if value.as_object().is_none() => {
                return Err("`_meta` is not an object".to_owned());
            }
            "_meta" => {}
            _ if members.contains(&name) => {}
            _ => return Err(format!("`{method}` has no parameter `{name}` here")),
        }
    }
    Ok(())
}

/// What of each kind may pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passing {
    /// Prompts: some may be used.
    pub prompts: bool,
    /// Resources: some may be read.
    pub resources: bool,
    /// The server may ask the client's model.
    pub sampling: bool,
}

impl Passing {
    /// Leaves of a client's capabilities what the table knows.
    pub(crate) fn client_capabilities(self, capabilities: &mut Object) {
        capabilities.retain(|name| match name {
            "roots" | "elicitation" => true,
            "sampling" => self.sampling,
            _ => false,
        });
    }

    /// Leaves of a server's capabilities what the table knows.
    pub(crate) fn server_capabilities(self, capabilities: &mut Object) {
        capabilities.retain(|name| match name {
            "tools" | "logging" | "completions" => true,
            "prompts" => self.prompts,
            "resources" => self.resources,
            _ => false,
        });
    }

    /// Whether all that an unfinished result asks of the client may be asked.
    pub(crate) fn input_requests(self, result: &Object) -> Result<(), String> {
        let Some(requests) = result.get("inputRequests") else {
            return Ok(());
        };
        let Some(requests) = requests.as_object() else {
            return Err("`inputRequests` is not an object".to_owned());
        };
        for (_, request) in requests.iter() {
            let method = request
                .as_object()
                .and_then(|request| request.get("method"))
                .and_then(Json::as_str)
                .unwrap_or_default();
            match method {
                "roots/list" | "elicitation/create" => {}
                "sampling/createMessage" if self.sampling => {}
                _ => {
                    return Err(format!(
                        "the server asks for `{method}`, which does not pass"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The keys of the revision without sessions.
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a request carries of itself, in the revision without sessions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta(pub(crate) Option<Object>);

impl Meta {
    /// Takes it out of parameters, without the capabilities that do not pass.
    pub(crate) fn take(params: &mut Object, passing: Passing) -> Self {
        let mut meta = match params.remove("_meta") {
            Some(Json::Object(meta)) => meta,
            _ => return Self(None),
        };
        if let Some(slot) = meta.get_mut(CAPABILITIES) {
            match slot {
                Json::Object(capabilities) => passing.client_capabilities(capabilities),
                _ => *slot = Json::object().into(),
            }
        }
        Self(Some(meta))
    }

    /// Whether the request is of the revision without sessions.
    pub(crate) fn is_modern(&self) -> bool {
        let version = self.0.as_ref().and_then(|meta| meta.get(VERSION));
        version.is_some_and(|version| version.as_str().is_some())
    }

    pub(crate) fn token(&self) -> Option<&Json> {
        self.0.as_ref()?.get("progressToken")
    }

    /// What a list of tools may depend on.
    pub(crate) fn for_lists(&self) -> Option<Object> {
        let mut meta = self.0.clone().filter(|_| self.is_modern())?;
        meta.retain(|name| [VERSION, CLIENT, CAPABILITIES].contains(&name));
        Some(meta)
    }

    pub(crate) fn can_elicit(&self) -> bool {
        let capabilities = self.0.as_ref().and_then(|meta| meta.get(CAPABILITIES));
        capabilities
            .and_then(Json::as_object)
            .is_some_and(can_elicit)
    }

    /// Puts it back.
    pub(crate) fn put(self, params: &mut Object) {
        if let Some(meta) = self.0 {
            params.set("_meta", meta);
        }
    }
}

/// Whether a client with these capabilities can show a form.
pub(crate) fn can_elicit(capabilities: &Object) -> bool {
    match capabilities.get("elicitation") {
        Some(Json::Object(modes)) => modes.get("form").is_some() || modes.get("url").is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_page_has_the_table() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mcp.md");
        let text = std::fs::read_to_string(page).unwrap();
        let rows = |from: &str| -> BTreeSet<String> {
            let (_, text) = text.split_once(&format!("\nFrom the {from}:\n")).unwrap();
            text.lines()
                .skip_while(|line| line.is_empty())
                .take_while(|line| line.starts_with('|'))
                .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
                .collect()
        };
        let asked = FROM_CLIENT.iter().map(|(name, ..)| *name);
        let told = TOLD_BY_CLIENT.iter().map(|(name, ..)| *name);
        let table: BTreeSet<String> = asked.chain(told).map(str::to_owned).collect();
        assert_eq!(rows("client"), table);
        let told = TOLD_BY_SERVER.iter().map(|(name, _)| *name);
        let table: BTreeSet<String> = FROM_SERVER
            .iter()
            .copied()
            .chain(told)
            .map(str::to_owned)
            .collect();
        assert_eq!(rows("server"), table);
    }
}
