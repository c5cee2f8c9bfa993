//! What an operator sets, and the gate that it comes to.
//!
//! Nothing here is taken from a message: who calls is said on the command line.

use super::guard::{Allowed, Elicitation, Gated, Guard, Links};
use super::http::Remote;
use super::suggest::Suggestions;
use crate::catalog::name_here;
use crate::{Lock, Namespace, Passing, Terms};
use horngate::pins::ToolLock;
use horngate::{Allowlist, BindError, Restriction, RestrictionError};
use horngate_gate::{
    ApproverKey, AuditLog, BuildError, Deferred, Durability, Gate, InvocationContext, InvocationId,
    MemoryStore, Signatory, SqliteStore, Store, StoreError,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The predicates that decide about other things than tools: `may_read_resource/2` and `may_use_prompt/2`.
pub const PREDICATES: [&str; 2] = [MAY_READ, MAY_USE];
const MAY_READ: &str = "may_read_resource";
const MAY_USE: &str = "may_use_prompt";

/// Where the server is.
#[derive(Clone, Debug)]
pub enum Server {
    /// A program that is started, and spoken to over its standard input and output.
    Command(Vec<OsString>),
    /// A server that is spoken to over streamable HTTP.
    Url(Remote),
}

/// Programs that only start others: the name of what they start says more.
const STARTERS: [&str; 12] = [
    "npx", "uvx", "uv", "bunx", "deno", "node", "python", "python3", "pipx", "docker", "podman",
    "env",
];

impl Server {
    /// What people know the server by. Its own word for it is not asked, and arguments are left out: they may be secret.
    pub(crate) fn name(&self, namespace: Option<&Namespace>) -> String {
        if let Some(namespace) = namespace {
            return namespace.to_string();
        }
        let command = match self {
            Self::Command(command) => command,
            Self::Url(remote) => return remote.name(),
        };
        let mut words = command.iter().map(|word| word.to_string_lossy());
        let program = words.next().unwrap_or_default();
        let program = Path::new(&*program).file_name().unwrap_or_default();
        let mut name = program.to_string_lossy().into_owned();
        if STARTERS.contains(&&*name) {
            for word in words {
                name.push(' ');
                name.push_str(&word);
                if !word.starts_with('-') {
                    break;
                }
            }
        }
        name
    }
}

/// Whether the proxy is a gate.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// It is.
    #[default]
    Enforce,
    /// It is not: everything passes, and what a gate would have denied is recorded.
    Observe,
    /// As `Observe`, and the facts that would grant what was used are written to this file.
    Suggest(PathBuf),
}

/// What an operator sets.
pub struct Settings {
    /// The rules. Their model has what narrows the allowlist and [`PREDICATES`], as far as they are defined.
    pub allowlist: Allowlist,
    /// Who calls.
    pub actor: String,
    /// Where the server is.
    pub server: Server,
    /// The server's name in the names of its tools.
    pub namespace: Option<Namespace>,
    /// The file with the reviewed definitions; it is written if it is not there.
    pub lock: Option<PathBuf>,
    /// Tools, by the server's name, that need no grant.
    pub confined: Vec<String>,
    /// Where approvals are kept; in memory without it.
    pub store: Option<PathBuf>,
    /// Whose signatures on approvals count.
    pub approvers: Vec<(String, ApproverKey)>,
    /// The client's user is asked for consent, and answers under this name.
    pub elicit: Option<String>,
    /// The audit log.
    pub audit: Option<PathBuf>,
    /// Its key: each hash is then an HMAC.
    pub audit_key: Option<Vec<u8>>,
    /// Whether the proxy is a gate.
    pub mode: Mode,
    /// What passes without asking the rules.
    pub pass: Passing,
    /// Doubts about the rules that are meant, each with a reason.
    pub accepted: Vec<(String, String)>,
}

/// Why there is no session, or none any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The gate cannot be built.
    #[error(transparent)]
    Gate(#[from] Box<BuildError>),
    /// A predicate about resources or prompts cannot decide.
    #[error(transparent)]
    Bind(#[from] Box<BindError>),
    /// The same, by its name or number of arguments.
    #[error(transparent)]
    Restriction(#[from] Box<RestrictionError>),
    /// A predicate about resources or prompts is doubtful.
    #[error("{0}")]
    Doubt(String),
    /// The store cannot be opened.
    #[error("the approvals cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// Something cannot be recorded.
    #[error("the audit log cannot be written: {0}")]
    Unrecorded(io::Error),
    /// A file cannot be read.
    #[error("cannot read `{path}`: {why}", path = .0.display(), why = .1)]
    Unreadable(PathBuf, String),
    /// A file cannot be written.
    #[error("cannot write `{path}`: {why}", path = .0.display(), why = .1)]
    Unwritten(PathBuf, io::Error),
    /// The server cannot be started.
    #[error("the server cannot be started: {0}")]
    Server(io::Error),
    /// A setting makes no sense.
    #[error("{0}")]
    Setting(String),
    /// The system fails.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// What a session needs.
pub(super) struct Built {
    pub(super) guard: Guard,
    pub(super) terms: Terms,
    pub(super) who: InvocationContext,
    pub(super) signatory: Option<Signatory>,
    pub(super) store: Arc<dyn Store>,
    pub(super) gate_name: String,
    pub(super) audit: Option<Arc<AuditLog>>,
    pub(super) suggestions: Option<Suggestions>,
}

impl Settings {
    pub(super) fn build(&self, links: Links) -> Result<Built, ProxyError> {
        let session = random()?;
        let server = self.server.name(self.namespace.as_ref());
        let mut gate_name = format!("mcp {} {server}", self.actor);
        let store: Arc<dyn Store> = match &self.store {
            Some(path) => Arc::new(SqliteStore::open(path)?),
            None => Arc::new(MemoryStore::new()),
        };
        let audit = match &self.audit {
            Some(path) => Some(Arc::new(
                AuditLog::open_with(path, Durability::EachLine, self.audit_key.as_deref())
                    .map_err(ProxyError::Unrecorded)?,
            )),
            None => None,
        };
        let mut builder = Gate::builder(self.allowlist.clone()).store(Arc::clone(&store));
        if let Some(audit) = &audit {
            builder = builder.audit(Arc::clone(audit));
        }
        for (lint, reason) in &self.accepted {
            builder = builder.accept_doubt(lint, reason);
        }
        let signatory = match &self.elicit {
            None => None,
            Some(person) => {
                // The key is this session's, so the gate is, too.
                gate_name = format!("{gate_name} {session}");
                Some(Signatory::generate(person.as_str())?)
            }
        };
        if let Some(signatory) = &signatory {
            let links = links.clone();
            let person = signatory.name().to_owned();
            builder = builder
                .approver_key(person.as_str(), signatory.key())
                .approver(Elicitation { person, links });
        }
        let nobody = self.approvers.is_empty() && self.elicit.is_none();
        if (self.store.is_some() && nobody) || (self.store.is_none() && !self.approvers.is_empty())
        {
            let message = "approvals need both a store and somebody who approves: \
                give `--store FILE` and `--approver NAME=KEY`";
            return Err(ProxyError::Setting(message.to_owned()));
        }
        if !self.approvers.is_empty() {
            builder = builder.approver(Deferred::new());
        }
        for (person, key) in &self.approvers {
            builder = builder.approver_key(person.as_str(), key.clone());
        }
        let builder = builder.name(gate_name.as_str());
        let boxed = |error| ProxyError::Gate(Box::new(error));
        let gated = match &self.mode {
            Mode::Enforce => Gated::Gate(builder.build().map_err(boxed)?),
            Mode::Observe | Mode::Suggest(_) => {
                Gated::Observer(Arc::new(builder.observe().map_err(boxed)?))
            }
        };
        let observes = super::guard::is_observer(&self.mode);
        let resources = self.allowed(MAY_READ, self.pass.resources)?;
        let prompts = self.allowed(MAY_USE, self.pass.prompts)?;
        let passing = Passing {
            prompts: prompts.any() || observes,
            resources: resources.any() || observes,
            sampling: self.pass.sampling || observes,
        };
        let mut confined = BTreeSet::new();
        for name in &self.confined {
            let here = name_here(self.namespace.as_ref(), name);
            confined.insert(here.map_err(|why| ProxyError::Setting(format!("`{name}`: {why}")))?);
        }
        let who = InvocationContext::new(&self.actor, &session, InvocationId(0));
        let suggestions = match &self.mode {
            Mode::Suggest(path) => Some(Suggestions::new(path, &self.allowlist, &self.actor)?),
            Mode::Enforce | Mode::Observe => None,
        };
        Ok(Built {
            guard: Guard {
                gated,
                links,
                who: who.clone(),
                server,
                confined,
                resources,
                prompts,
                installed: BTreeMap::new(),
            },
            terms: Terms {
                namespace: self.namespace.clone(),
                lock: self.read_lock()?,
                passing,
                elicit: self.elicit.is_some(),
            },
            who,
            signatory,
            store,
            gate_name,
            audit,
            suggestions,
        })
    }

    /// Binds a predicate about something else than tools, if the rules have it.
    fn allowed(&self, name: &str, all: bool) -> Result<Allowed, ProxyError> {
        let model = self.allowlist.model();
        let defined = Restriction::bind(model, name, &[2]).map_err(Box::new)?;
        if defined.is_empty() {
            return Ok(Allowed { all, by: None });
        }
        let predicate = format!("{name}/2");
        let allowlist = Allowlist::bind_with_prefix(model, &predicate, "").map_err(Box::new)?;
        let accepted = |kind: &str| self.accepted.iter().any(|(lint, _)| lint == kind);
        let doubts = ["default-allow", "always-true", "cartesian-grant"];
        let doubt = allowlist.doubts().iter().find(|doubt| {
            let kind = doubt.code.kind();
            doubts.contains(&kind) && !accepted(kind)
        });
        if let Some(doubt) = doubt {
            let (kind, message) = (doubt.code.kind(), &doubt.message);
            return Err(ProxyError::Doubt(format!(
                "{kind}: {message}; accept the doubt, with a reason, if that is meant"
            )));
        }
        Ok(Allowed {
            all,
            by: Some(allowlist),
        })
    }

    fn read_lock(&self) -> Result<Lock, ProxyError> {
        let Some(path) = &self.lock else {
            return Ok(Lock::Off);
        };
        match std::fs::read_to_string(path) {
            Ok(text) => match ToolLock::parse(&text) {
                Ok(lock) => Ok(Lock::Reviewed(lock)),
                Err(error) => Err(ProxyError::Unreadable(path.clone(), error.to_string())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Lock::First),
            Err(error) => Err(ProxyError::Unreadable(path.clone(), error.to_string())),
        }
    }
}

/// A name for a session that nobody can guess or meet by chance.
fn random() -> Result<String, ProxyError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::Server;

    #[test]
    fn names_say_what_runs_and_no_secrets() {
        let name = |words: &str| {
            let words = words.split(' ').map(Into::into).collect();
            Server::Command(words).name(None)
        };
        assert_eq!(
            name("/usr/bin/mcp-server-git --key s3cret"),
            "mcp-server-git"
        );
        assert_eq!(name("mcp-server-pg postgres://u:pw@h/d"), "mcp-server-pg");
        assert_eq!(
            name("npx -y @modelcontextprotocol/server-filesystem /tmp"),
            "npx -y @modelcontextprotocol/server-filesystem"
        );
        assert_eq!(name("docker run -e KEY=s3cret image"), "docker run");
    }
}
