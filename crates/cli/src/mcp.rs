//! `horngate mcp`: a server behind the rules.
//!
//! Nothing here reads a message; standard output is the client's alone.

use crate::args::{Mcp, Pass};
use crate::files::Keep;
use crate::outcome::Outcome;
use crate::problem::Problem;
use crate::{guard, render, rules, secret};
use horngate_gate::{ApproverKey, BuildError, PolicyError, RESTRICTIONS};
use horngate_mcp::{Mode, Namespace, Passing, ProxyError, Remote, Server, Settings};
use std::io;

pub(crate) fn run(args: &Mcp) -> io::Result<Outcome> {
    let settings = match settings(args) {
        Ok(settings) => settings,
        Err(problem) => {
            problem.print();
            return Ok(Outcome::NoAnswer);
        }
    };
    if !matches!(settings.mode, Mode::Enforce) {
        render::tell("warning: this is no gate: every call passes, whatever the rules say");
    }
    match horngate_mcp::run(settings, io::stdin(), io::stdout()) {
        Ok(code) => Ok(Outcome::Theirs(code)),
        Err(error) => {
            render::tell(&format!("error: {}", told(&error)));
            Ok(Outcome::NoAnswer)
        }
    }
}

/// An error, with what to type where the command line can do something about it.
fn told(error: &ProxyError) -> String {
    if let ProxyError::Gate(gate) = error
        && let BuildError::Policy(PolicyError::Doubt { lint, message }) = &**gate
    {
        return format!("{lint}: {message}; give `--accept-doubt {lint}=REASON` if that is meant");
    }
    error.to_string()
}

fn settings(args: &Mcp) -> Result<Settings, Problem> {
    let usage = |option: &str, why: String| Problem::Usage(format!("`{option}`: {why}"));
    let namespace = args.namespace.as_deref().map(Namespace::parse).transpose();
    let namespace = namespace.map_err(|error| usage("--namespace", error.to_string()))?;
    let mut approvers = Vec::new();
    for (name, key) in &args.approver {
        let key =
            ApproverKey::parse(key).map_err(|error| usage("--approver", error.to_string()))?;
        approvers.push((name.clone(), key));
    }
    let (paths, authority, budget) = (
        args.rules.paths.clone(),
        args.authority.clone(),
        args.limits.budget(),
    );
    let names = [&RESTRICTIONS[..], &horngate_mcp::PREDICATES].concat();
    let server = server(args)?;
    let bound = guard::run(args.limits.timeout, move || {
        rules::bind_here_with(&paths, &authority, &budget, Keep::Digests, &names)
    })?;
    bound.tell();
    let passes = |what| args.pass.contains(&what);
    Ok(Settings {
        allowlist: bound.allowlist,
        actor: args.actor.clone(),
        server,
        namespace,
        lock: args.lock.clone(),
        confined: args.confined.clone(),
        store: args.store.clone(),
        approvers,
        elicit: args.elicit.clone(),
        audit: args.audit.clone(),
        audit_key: args.audit_key.as_deref().map(secret::log_key).transpose()?,
        mode: match (&args.suggest, args.observe) {
            (Some(path), _) => Mode::Suggest(path.clone()),
            (None, true) => Mode::Observe,
            (None, false) => Mode::Enforce,
        },
        pass: Passing {
            prompts: passes(Pass::Prompts),
            resources: passes(Pass::Resources),
            sampling: passes(Pass::Sampling),
        },
        accepted: args.accept_doubt.clone(),
    })
}

fn server(args: &Mcp) -> Result<Server, Problem> {
    let Some(url) = &args.url else {
        return Ok(Server::Command(args.server.clone()));
    };
    let token = match &args.token_env {
        None => None,
        Some(name) => Some(
            std::env::var(name)
                .map_err(|error| Problem::Usage(format!("`--token-env`: `{name}`: {error}")))?,
        ),
    };
    let remote =
        Remote::new(url, token).map_err(|error| Problem::Usage(format!("`--url`: {error}")))?;
    Ok(Server::Url(remote))
}
