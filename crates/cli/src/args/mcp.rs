//! The arguments of `horngate mcp`.
//!
//! Nothing here reads files.

use super::{Authority, Limits, Rules};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// Put an MCP server behind the rules: only what the actor is granted passes
///
/// Start this in the place of the server. Every tool needs a grant, whatever the server says about it. A call that a
/// rule of `confirm_tool` or `destructive_tool` asks a person about is held until somebody approves it. Prompts and
/// resources need grants of their own (`may_use_prompt(Actor, Name)`, `may_read_resource(Actor, Uri)`).
#[derive(Debug, Args)]
#[command(
    override_usage = "horngate mcp --rules <PATH> --actor <ACTOR> [OPTIONS] -- <SERVER> [ARGS]...\n       \
    horngate mcp --rules <PATH> --actor <ACTOR> [OPTIONS] --url <URL>"
)]
#[command(after_long_help = "Examples:\n  \
    horngate mcp --rules rules --actor U:Qa -- mcp-server-git --repository .\n  \
    horngate mcp --rules rules --actor U:Qa --lock git.lock --audit audit.jsonl -- uvx mcp-server-git\n  \
    horngate mcp --rules rules --actor U:Qa --store a.db --approver ann=PUBLIC_KEY -- npx -y SERVER\n  \
    horngate mcp --rules rules --actor U:Qa --suggest facts.pl -- npx -y SERVER\n  \
    horngate mcp --rules rules --actor U:Qa --url https://example.org/mcp --token-env MCP_TOKEN\n\n\
    Exit codes: the server's, and 2 when there is no gate.")]
pub(crate) struct Mcp {
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// Who calls; no message can say otherwise
    #[arg(long)]
    pub(crate) actor: String,
    /// The server is at this URL (streamable HTTP): over TLS, or on this machine
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    pub(crate) url: Option<String>,
    /// The environment variable with the bearer token for the URL
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub(crate) token_env: Option<String>,
    /// Rules name the tool x of this server `tool_NAME::x`; small letters, digits and `-`
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    /// Only tools defined as in this file are shown and run; it is written if it is not there
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    /// This tool can do no harm and needs no grant; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) confined: Vec<String>,
    /// The SQLite file where calls wait for approval
    #[arg(long, value_name = "FILE", requires = "approver")]
    pub(crate) store: Option<PathBuf>,
    /// Somebody whose signature approves, with their public key; may be repeated
    #[arg(long, value_name = "NAME=KEY", requires = "store", value_parser = pair)]
    pub(crate) approver: Vec<(String, String)>,
    /// Ask whoever sits at the client, by a form, and take their answer for that of NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) elicit: Option<String>,
    /// A log of all that is asked and answered; what cannot be written there is denied
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// The file with the log's key: its bytes, without one line end
    #[arg(long, value_name = "FILE", requires = "audit")]
    pub(crate) audit_key: Option<PathBuf>,
    /// Let this pass without asking the rules
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT")]
    pub(crate) pass: Vec<Pass>,
    /// Let everything pass, and record what would be denied: no gate
    #[arg(long, conflicts_with = "suggest")]
    pub(crate) observe: bool,
    /// As --observe, and write the facts that would grant what was used: no gate
    #[arg(long, value_name = "FILE")]
    pub(crate) suggest: Option<PathBuf>,
    /// The rules have this doubt (default-allow, always-true, cartesian-grant), and why that is meant; may be repeated
    #[arg(long, value_name = "LINT=REASON", value_parser = super::gate::doubt)]
    pub(crate) accept_doubt: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) authority: Authority,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// The server's command
    #[arg(last = true, required_unless_present = "url", value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}

/// What can pass beside tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pass {
    /// Prompts of the server
    Prompts,
    /// Resources of the server
    Resources,
    /// Requests of the server to the client's model
    Sampling,
}

/// The two sides of the first `=`, neither empty.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.trim().is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("write two things with `=` between them".to_owned()),
    }
}
