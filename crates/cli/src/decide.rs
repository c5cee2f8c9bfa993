//! `horngate decide`: one decision.
//!
//! Nothing here allows what was not derived, and no failure is anything but a denial.

use crate::args::{Decide, Format};
use crate::files::Keep;
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::rules::Bound;
use crate::watch::Watched;
use crate::{batch, json, render, rules};
use horngate::{Decision, DenyReason, syntax};
use std::io;

pub(crate) fn run(args: &Decide) -> io::Result<Outcome> {
    // The answers of a batch name no policy.
    let keep = if args.batch.is_some() {
        Keep::Nothing
    } else {
        Keep::Digests
    };
    if let (true, Some(file)) = (args.watch, &args.batch) {
        return batch::run(file, &mut Watched::new(args));
    }
    let mut bound = rules::bind(&args.rules, &args.authority, &args.limits, keep);
    if let Ok(bound) = &bound {
        bound.tell();
    }
    match (&args.batch, &args.actor, &args.tool) {
        (Some(file), ..) => {
            if let Err(problem) = &bound {
                problem.print();
            }
            batch::run(file, &mut bound)
        }
        (None, Some(actor), Some(tool)) => one(args, &bound, actor, tool),
        _ => Ok(Outcome::NoAnswer),
    }
}

/// A decision as it is reported: `allow` or `deny`, the reason, and how a command that asked it ends.
pub(crate) fn verdict(decision: &Decision<'_>) -> (&'static str, &'static str, Outcome) {
    match decision {
        Decision::Allow(_) => ("allow", "derived", Outcome::Yes),
        Decision::Deny(denial) if denial.reason == DenyReason::Error => NO_VERDICT,
        Decision::Deny(denial) => ("deny", denial.reason.as_str(), Outcome::No),
    }
}

/// What is reported when nothing could be decided.
pub(crate) const NO_VERDICT: (&str, &str, Outcome) = ("deny", "error", Outcome::NoAnswer);

fn one(
    args: &Decide,
    bound: &Result<Bound, Problem>,
    actor: &str,
    tool: &str,
) -> io::Result<Outcome> {
    let ((decision, reason, outcome), message) = match bound {
        Ok(bound) => {
            let decision = bound.allowlist.decide(actor, tool);
            let message = match decision {
                Decision::Allow(grant) => format!("{grant} is derived"),
                Decision::Deny(denial) => denial.to_string(),
            };
            (verdict(&decision), message)
        }
        Err(problem) => (NO_VERDICT, problem.message()),
    };
    match args.format {
        Format::Json => json::print(&json::Decision {
            decision,
            actor,
            tool,
            atom: syntax::quoted_atom(&format!("{}{tool}", args.authority.tool_prefix)),
            allowlist: args.authority.allowlist.key.to_string(),
            reason,
            message,
            policy_hash: bound
                .as_ref()
                .ok()
                .and_then(|bound| bound.allowlist.policy_hash()),
            error: bound.as_ref().err().map(Problem::json),
        })?,
        Format::Human => {
            if let Err(problem) = bound {
                problem.print_details();
            }
            if reason == DenyReason::UnknownTool.as_str()
                && let Some(tool) = tool.strip_prefix(&*args.authority.tool_prefix)
                && !args.authority.tool_prefix.is_empty()
            {
                render::tell(&format!(
                    "note: tools are named without the prefix, as in `{tool}`"
                ));
            }
            let message = Printable(&message);
            json::stdout(|out| match outcome {
                Outcome::Yes => writeln!(out, "allow: {message}"),
                _ => writeln!(out, "deny: {reason}: {message}"),
            })?;
        }
    }
    Ok(outcome)
}
