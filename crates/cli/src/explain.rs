//! `horngate explain`: why something is allowed or holds, why not, and whether a proof is valid.
//!
//! Nothing here decides: a pair is explained as `decide` answers it, a goal as `query` does.

use crate::args::{Explain, ExplainFormat};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::{decide, dot, files, guard, json, query, render, rules, tree};
use horngate::explain::{Explainer, Proof, Verified, Verifier, VerifyError, WhyNot};
use horngate::{Decision, Rulebase, syntax};
use std::io;
use std::path::Path;

/// How long a proof document may be.
const MAX_DOCUMENT_BYTES: u64 = 256 << 20;
/// How many steps a verification may take, unless `--max-firings` says fewer.
const MAX_VERIFY_STEPS: u64 = 100_000_000;

/// An explanation, and what it is one of.
#[derive(Debug)]
pub(crate) struct Explained {
    /// The answer in one line.
    headline: String,
    explanation: Explanation,
    policy_hash: String,
    remarks: Vec<String>,
}

#[derive(Debug)]
enum Explanation {
    Why(Proof),
    WhyNot(WhyNot),
}

pub(crate) fn run(args: &Explain) -> io::Result<Outcome> {
    if let Some(file) = &args.verify {
        return verify(args, file);
    }
    let own = args.clone();
    let explained = guard::run(args.limits.timeout, move || {
        let rulebase = rules::whole(&own.rules.paths, &own.limits.budget())?;
        match (&own.goal, &own.actor, &own.tool) {
            (Some(goal), ..) => of_goal(&own, &rulebase, goal),
            (None, Some(actor), Some(tool)) => of_pair(&own, &rulebase, actor, tool),
            _ => Err(Problem::Internal("there is nothing to explain".to_owned())),
        }
    });
    let explained = match explained {
        Ok(explained) => explained,
        Err(problem) => return no_answer(args, &problem),
    };
    explained
        .remarks
        .iter()
        .for_each(|remark| render::tell(remark));
    match (args.format, &explained.explanation) {
        (ExplainFormat::Json, Explanation::Why(proof)) => {
            let document = proof.to_json(&explained.policy_hash);
            json::stdout(|out| writeln!(out, "{document}"))?;
        }
        (ExplainFormat::Json, Explanation::WhyNot(why_not)) => {
            let document = why_not.to_json(&explained.policy_hash);
            json::stdout(|out| writeln!(out, "{document}"))?;
        }
        (ExplainFormat::Dot, Explanation::Why(proof)) => {
            json::stdout(|out| dot::proof(out, proof))?;
        }
        (ExplainFormat::Dot, Explanation::WhyNot(why_not)) => {
            json::stdout(|out| dot::why_not(out, why_not))?;
        }
        (ExplainFormat::Human, explanation) => json::stdout(|out| {
            writeln!(out, "{}", Printable(&explained.headline))?;
            match explanation {
                Explanation::Why(proof) => tree::proof(out, proof),
                Explanation::WhyNot(why_not) => tree::why_not(out, why_not),
            }
        })?,
    }
    let yes = match &explained.explanation {
        Explanation::Why(_) => true,
        Explanation::WhyNot(why_not) => {
            if why_not.is_exhausted() {
                render::tell("note: the search came to its limits: more may be missing, or less");
            }
            false
        }
    };
    Ok(Outcome::of(yes))
}

/// Explains what `decide` answers for the pair.
fn of_pair(
    args: &Explain,
    rulebase: &Rulebase,
    actor: &str,
    tool: &str,
) -> Result<Explained, Problem> {
    let bound = rules::bound(rulebase, &args.authority, &args.limits.budget())?;
    let allowlist = &bound.allowlist;
    rules::keep(allowlist.model());
    let mut explainer = Explainer::new(allowlist.model());
    let decision = allowlist.decide(actor, tool);
    let (_, reason, _) = decide::verdict(&decision);
    let (headline, explanation) = match decision {
        Decision::Allow(grant) => {
            let proof = explainer.why_allowed(allowlist, actor, tool)?;
            let headline = format!("allow: {grant} is derived");
            (headline, proof.map(Explanation::Why))
        }
        Decision::Deny(denial) => {
            let why_not = explainer.why_denied(allowlist, actor, tool);
            let headline = format!("deny: {reason}: {denial}");
            (headline, why_not.map(Explanation::WhyNot))
        }
    };
    let lost = || Problem::Internal("the decision and its explanation differ".to_owned());
    Ok(Explained {
        headline,
        explanation: explanation.ok_or_else(lost)?,
        policy_hash: allowlist.policy_hash().ok_or_else(unnamed)?,
        remarks: bound.remarks().to_vec(),
    })
}

/// Explains what `query` answers.
fn of_goal(args: &Explain, rulebase: &Rulebase, goal: &str) -> Result<Explained, Problem> {
    let model = query::model(rulebase, goal, &args.limits.budget())?;
    rules::keep(&model);
    let mut explainer = Explainer::new(&model);
    let (headline, explanation) = match explainer.why(goal)? {
        Some(proof) => {
            let conclusion = proof.steps().first().map(|step| step.claim().text());
            let headline = format!("yes: {}", conclusion.unwrap_or_default());
            (headline, Explanation::Why(proof))
        }
        None => match explainer.why_not(goal)? {
            Some(why_not) => (format!("no: {}", goal.trim()), Explanation::WhyNot(why_not)),
            None => {
                let message = "the answer and its explanation differ";
                return Err(Problem::Internal(message.to_owned()));
            }
        },
    };
    let (allowlist, prefix) = (&args.authority.allowlist, &args.authority.tool_prefix);
    Ok(Explained {
        headline,
        explanation,
        policy_hash: model
            .policy_hash(&allowlist.key, prefix)
            .ok_or_else(unnamed)?,
        remarks: Vec::new(),
    })
}

fn unnamed() -> Problem {
    Problem::Internal("the rules were read without their digests".to_owned())
}

fn no_answer(args: &Explain, problem: &Problem) -> io::Result<Outcome> {
    match args.format {
        ExplainFormat::Json => {
            let pair = args.actor.as_ref().zip(args.tool.as_ref());
            let pair = pair.map(|(actor, tool)| {
                let prefix = &args.authority.tool_prefix;
                let predicate = syntax::quoted_atom(args.authority.allowlist.key.name());
                let actor = syntax::quoted_atom(actor);
                let tool = syntax::quoted_atom(&format!("{prefix}{tool}"));
                format!("{predicate}({actor},{tool})")
            });
            json::print(&json::ExplainProblem {
                goal: args.goal.as_deref().or(pair.as_deref()),
                error: problem.json(),
            })?;
        }
        ExplainFormat::Human | ExplainFormat::Dot => problem.print(),
    }
    Ok(Outcome::NoAnswer)
}

fn verify(args: &Explain, file: &Path) -> io::Result<Outcome> {
    let (own, file) = (args.clone(), file.to_owned());
    let verified = guard::run(args.limits.timeout, move || {
        let document = files::text(&file, MAX_DOCUMENT_BYTES)?;
        let rulebase = rules::whole(&own.rules.paths, &own.limits.budget())?;
        let steps = own.limits.budget().firings.min(MAX_VERIFY_STEPS);
        let verified = Verifier::new(&rulebase)
            .with_policy(&own.authority.allowlist.key, &own.authority.tool_prefix)
            .with_steps(steps)
            .verify(&document);
        match verified {
            Err(VerifyError::Undecided(reason)) => Err(Problem::Undecided(reason)),
            other => Ok(other),
        }
    });
    let verified = match verified {
        Ok(verified) => verified,
        Err(problem) => return no_answer(args, &problem),
    };
    match args.format {
        ExplainFormat::Json => json::print(&as_json(&verified))?,
        ExplainFormat::Human | ExplainFormat::Dot => json::stdout(|out| match &verified {
            Ok(Verified { goal, nodes }) => {
                let steps = if *nodes == 1 { "step" } else { "steps" };
                writeln!(out, "valid: {} ({nodes} {steps})", Printable(goal))
            }
            Err(error) => writeln!(out, "not valid: {}", Printable(&error.to_string())),
        })?,
    }
    Ok(Outcome::of(verified.is_ok()))
}

fn as_json(verified: &Result<Verified, VerifyError>) -> json::Verified<'_> {
    let (goal, node, reason) = match verified {
        Ok(Verified { goal, .. }) => (Some(goal.as_str()), None, None),
        Err(VerifyError::Invalid { node, reason }) => {
            (None, node.as_deref(), Some(reason.as_str()))
        }
        Err(_) => (None, None, None),
    };
    json::Verified {
        valid: verified.is_ok(),
        goal,
        node,
        reason,
    }
}
