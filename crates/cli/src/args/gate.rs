//! The arguments of the commands around a gate: approvals, its log, a coding agent's hook.
//!
//! Nothing here reads files.

use super::{Authority, Format, Limits, Rules};
use clap::{Args, Subcommand};
use horngate_gate::{DOUBTS, State};
use std::path::PathBuf;

/// Answer calls that wait for a person
///
/// A gate that cannot ask at once leaves its question in a SQLite store. Who answers signs with a key, and a gate takes
/// only answers that are signed by one of its approvers' keys.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate approvals keygen --key ann.key\n  \
    horngate approvals list --store approvals.db --state pending\n  \
    horngate approvals show --store approvals.db ID\n  \
    horngate approvals approve --store approvals.db --key ann.key ID\n\n\
    Exit codes: 0 done, 1 there is no such request (or it is too late for that), 2 an error.")]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) action: Action,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    Keygen(Keygen),
    List(List),
    Show(Show),
    Approve(Approve),
    Deny(Deny),
    Revoke(Revoke),
}

/// Make an approver's key
///
/// The secret goes into a new file that only its owner can read. The line printed, NAME=KEY, is public: it tells a gate
/// whose answers count.
#[derive(Debug, Args)]
pub(crate) struct Keygen {
    /// The file to write; it must not be there yet
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// Who the key is for, as `may_approve/3` names them; without it the file's name says so, as `ann.key` does
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A key belongs to no store; taken so that all these commands take it
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) store: Option<PathBuf>,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
}

/// All requests, the oldest first
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) store: StoreFile,
    /// Only those in this state: pending, approved, denied, consumed, expired or void; may be repeated
    #[arg(long, value_name = "STATE", value_parser = state)]
    pub(crate) state: Vec<State>,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
}

/// One request, whole
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) one: One,
}

/// Consent to one request, which can then be used once, for two minutes
#[derive(Debug, Args)]
pub(crate) struct Approve {
    #[command(flatten)]
    pub(crate) answer: Answer,
    /// The gate's rules, or a folder with `*.pl` files: nothing is signed if `may_approve/3` has somebody else; may be
    /// repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) rules: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) authority: Authority,
}

/// Decline one request
#[derive(Debug, Args)]
pub(crate) struct Deny {
    #[command(flatten)]
    pub(crate) answer: Answer,
}

/// Void an approval that was not used, or a request that was not answered
#[derive(Debug, Args)]
pub(crate) struct Revoke {
    #[command(flatten)]
    pub(crate) one: One,
}

#[derive(Debug, Args)]
pub(crate) struct StoreFile {
    /// The SQLite store that the gate keeps approvals in
    #[arg(long = "store", value_name = "FILE")]
    pub(crate) path: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    #[command(flatten)]
    pub(crate) store: StoreFile,
    /// The request, as `list` names it
    pub(crate) id: String,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    #[command(flatten)]
    pub(crate) one: One,
    /// The key that `keygen` wrote; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// Only if the request is still what `show` said, by its digest: whoever can write to the store could change it
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

fn state(text: &str) -> Result<State, String> {
    State::parse(text)
        .ok_or_else(|| "a state is pending, approved, denied, consumed, expired or void".to_owned())
}

/// Look at a gate's audit log
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) action: AuditAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditAction {
    Verify(Verify),
}

/// Is the log's hash chain whole?
///
/// Shows lines that were changed, taken away from within, or added. That lines are missing at the end shows only against a
/// count or a hash of an earlier look, kept elsewhere; that all was written anew, only with a key.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate audit verify audit.jsonl\n  \
    horngate audit verify audit.jsonl --head \"$HEAD\" --count 120\n\n\
    Exit codes: 0 whole, 1 broken, 2 the log cannot be read.")]
pub(crate) struct Verify {
    /// The log; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The hash of a line that must be there, as an earlier look has printed it
    #[arg(long, value_name = "HASH", value_parser = hash)]
    pub(crate) head: Option<String>,
    /// At least so many lines must be there
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    /// The file with the log's key, if it has one: its bytes, without one line end
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
}

fn hash(text: &str) -> Result<String, String> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_hash {
        true => Ok(text.to_ascii_lowercase()),
        false => Err("a hash is 64 hexadecimal digits".to_owned()),
    }
}

pub(super) fn doubt(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((lint, _)) if !DOUBTS.contains(&lint) => {
            Err(format!("a doubt is one of {}", DOUBTS.join(", ")))
        }
        Some((lint, reason)) if !reason.trim().is_empty() => {
            Ok((lint.to_owned(), reason.to_owned()))
        }
        _ => Err("say why that is meant, as in `cartesian-grant=all may do all`".to_owned()),
    }
}

/// A coding agent's hook before it runs a tool
///
/// Reads the host's JSON from standard input and decides for the tool it names and the actor that the flag names; no
/// field of the JSON is believed who calls. Whatever a person would have to confirm is denied: a hook asks nobody. Without
/// `--timeout` it denies after 20 seconds, before hosts go on without an answer.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:\n  \
    echo '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"repl\",\"tool_input\":{}}' |\n    \
    horngate hook --rules rules --actor U:Qa\n\n\
    Exit codes: 0 allowed, with the host's JSON on standard output; 2 denied, for whatever reason. There is no\n\
    other, also for `--help`.")]
pub(crate) struct Hook {
    #[command(flatten)]
    pub(crate) rules: Rules,
    /// Who calls
    #[arg(long)]
    pub(crate) actor: String,
    #[command(flatten)]
    pub(crate) authority: Authority,
    /// The allowlist has this doubt (default-allow, always-true, cartesian-grant), and why that is meant; may be repeated
    #[arg(long, value_name = "LINT=REASON", value_parser = doubt)]
    pub(crate) accept_doubt: Vec<(String, String)>,
    /// A log of all that is asked and answered; what cannot be written there is denied
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// The file with the log's key: its bytes, without one line end
    #[arg(long, value_name = "FILE", requires = "audit")]
    pub(crate) audit_key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// This is the process that may die.
    #[arg(long, hide = true)]
    pub(crate) worker: bool,
}
