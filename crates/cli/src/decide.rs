//! `horngate decide`: one decision.
//!
//! Nothing here allows what was not derived, and no failure is anything but a denial.

use crate::args::{Decide, Format};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::rules::Bound;
use crate::{batch, json, render, rules};
use horngate::{Decision, DenyReason, syntax};
use std::io;

pub(crate) fn run(args: &Decide) -> io::Result<Outcome> {
    let bound = rules::bind(&args.rules, &args.authority, &args.limits);
    if let Ok(Bound {
        elsewhere: Some(note),
        ..
    }) = &bound
    {
        render::tell(note);
    }
    let outcome = match (&args.batch, &args.actor, &args.tool) {
        (Some(file), ..) => batch::run(file, &bound),
        (None, Some(actor), Some(tool)) => one(args, &bound, actor, tool),
        _ => Ok(Outcome::NoAnswer),
    };
    // The process ends here: taking a large model apart would only cost time.
    std::mem::forget(bound);
    outcome
}

fn one(
    args: &Decide,
    bound: &Result<Bound, Problem>,
    actor: &str,
    tool: &str,
) -> io::Result<Outcome> {
    let mut answer = json::Decision {
        decision: "deny",
        actor,
        tool,
        atom: syntax::quoted_atom(&format!("{}{tool}", args.authority.tool_prefix)),
        allowlist: args.authority.allowlist.key.to_string(),
        reason: DenyReason::Error.as_str(),
        message: String::new(),
        policy_hash: None,
        error: None,
    };
    let outcome = match bound {
        Ok(bound) => {
            answer.policy_hash = Some(bound.allowlist.policy_hash());
            let decision = bound.allowlist.decide(actor, tool);
            match decision {
                Decision::Allow(grant) => {
                    answer.decision = "allow";
                    answer.reason = "derived";
                    answer.message = format!("`{grant}` is derived");
                }
                Decision::Deny(denial) => {
                    answer.reason = denial.reason.as_str();
                    answer.message = denial.to_string();
                }
            }
            match decision {
                Decision::Allow(_) => Outcome::Yes,
                Decision::Deny(denial) if denial.reason == DenyReason::Error => Outcome::NoAnswer,
                Decision::Deny(_) => Outcome::No,
            }
        }
        Err(problem) => {
            answer.message = problem.message();
            answer.error = Some(problem.json());
            Outcome::NoAnswer
        }
    };
    match args.format {
        Format::Json => json::print(&answer)?,
        Format::Human => print_human(bound, &answer)?,
    }
    Ok(outcome)
}

fn print_human(bound: &Result<Bound, Problem>, answer: &json::Decision<'_>) -> io::Result<()> {
    if let Err(problem) = bound {
        problem.print();
    }
    json::stdout(|out| {
        let colon = if answer.decision == "allow" { "" } else { ":" };
        let (decision, reason) = (answer.decision, answer.reason);
        writeln!(
            out,
            "{decision}{colon} {reason}: {}",
            Printable(&answer.message)
        )
    })
}
