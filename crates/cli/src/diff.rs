//! `horngate diff`: the pairs that a change of the rules allows or denies, each with why.
//!
//! Nothing here judges a change; with `--grants-no-more-than` the code only says whether anything is allowed that was not.

use crate::args::{Diff, Format};
use crate::files::Keep;
use crate::json::{Change, Clause, Lost};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::rules::{self, Bound};
use crate::{guard, json, tree};
use horngate::explain::{Claim, ClauseText, Explainer, Proof, lost};
use horngate::{Allowlist, Budget, GrantingClauses, Model, Sources};
use serde_json::value::RawValue;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// For how many pairs of a side the clause is looked up, which may cost a question for each rule.
const MAX_CLAUSES: usize = 10_000;
/// For how many pairs of a side the proof is looked up.
const MAX_PROOFS: usize = 1_000;
/// How many proofs people are shown as trees.
const MAX_TREES: usize = 20;

/// A pair that changes.
struct Changed {
    actor: String,
    tool: String,
    /// The clause that allows it now, or did so before.
    clause: Option<ClauseText>,
    /// The proof of that.
    proof: Option<Proof>,
    /// What of the proof holds no more; empty for what becomes allowed.
    lost: Vec<(Claim, Option<ClauseText>)>,
}

/// What was found.
struct Answer {
    new: Bound,
    allowed: Vec<Changed>,
    denied: Vec<Changed>,
}

pub(crate) fn run(args: &Diff) -> io::Result<Outcome> {
    let answer = match answer(args) {
        Ok(answer) => answer,
        Err(problem) => return no_answer(args, &problem),
    };
    answer.new.tell();
    match args.format {
        Format::Json => json::print(&json::Diff {
            allowed: answer.allowed.iter().map(document).collect(),
            denied: answer.denied.iter().map(document).collect(),
            error: None,
        })?,
        Format::Human => report(&answer)?,
    }
    let fewer = args.grants_no_more_than || answer.denied.is_empty();
    Ok(Outcome::of(answer.allowed.is_empty() && fewer))
}

fn no_answer(args: &Diff, problem: &Problem) -> io::Result<Outcome> {
    match args.format {
        Format::Json => json::print(&json::Diff {
            allowed: Vec::new(),
            denied: Vec::new(),
            error: Some(problem.json()),
        })?,
        Format::Human => problem.print(),
    }
    Ok(Outcome::NoAnswer)
}

/// Evaluates each side once, and looks at what changes.
fn answer(args: &Diff) -> Result<Answer, Problem> {
    let (paths, authority, budget) = (
        [args.old.clone(), args.new.clone()],
        args.authority.clone(),
        args.limits.budget(),
    );
    guard::run(args.limits.timeout, move || {
        let bind = |path: &PathBuf| {
            rules::bind_here(
                std::slice::from_ref(path),
                &authority,
                &budget,
                Keep::Places,
            )
        };
        let [old_path, new_path] = &paths;
        let (old, new) = (bind(old_path)?, bind(new_path)?);
        let diff = horngate::Diff::between(&old.allowlist, &new.allowlist);
        let new_model = new.allowlist.model();
        let allowed = changes(&new.allowlist, new_path, &diff.allowed, None, &budget)?;
        let denied = changes(
            &old.allowlist,
            old_path,
            &diff.denied,
            Some(new_model),
            &budget,
        )?;
        Ok(Answer {
            new,
            allowed,
            denied,
        })
    })
}

/// The pairs that one side allows and the other denies; `other`: the model to say what was lost.
fn changes(
    side: &Allowlist,
    path: &Path,
    pairs: &[(&str, &str)],
    other: Option<&Model>,
    budget: &Budget,
) -> Result<Vec<Changed>, Problem> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let sources = rules::texts(side, &[path.to_owned()])?;
    let mut clauses = GrantingClauses::new(side, &sources);
    let mut explainer = Explainer::new(side.model()).with_texts(&sources);
    let changed = |(at, (actor, tool)): (usize, &(&str, &str))| {
        let proof = match at < MAX_PROOFS {
            true => explainer.why_allowed(side, actor, tool)?,
            false => None,
        };
        let first = proof.as_ref().and_then(|proof| proof.steps().first());
        let proven = proof.as_ref().zip(first);
        let clause = match proven.and_then(|(proof, step)| proof.clause(step).cloned()) {
            None if at < MAX_CLAUSES => {
                let span = clauses.find(actor, tool);
                span.map(|span| clause_text(&sources, span))
            }
            found => found,
        };
        let lost = match (&proof, other) {
            (Some(proof), Some(model)) => lost_steps(proof, model, budget),
            _ => Vec::new(),
        };
        Ok(Changed {
            actor: (*actor).to_owned(),
            tool: (*tool).to_owned(),
            clause,
            proof,
            lost,
        })
    };
    pairs.iter().enumerate().map(changed).collect()
}

fn clause_text(sources: &Sources, span: horngate::Span) -> ClauseText {
    let start = sources.start(span);
    ClauseText {
        file: sources.name(span).to_owned(),
        line: start.line,
        column: start.column,
        text: sources.text(span).to_owned(),
    }
}

fn lost_steps(proof: &Proof, model: &Model, budget: &Budget) -> Vec<(Claim, Option<ClauseText>)> {
    lost(proof, model, budget)
        .into_iter()
        .filter_map(|at| proof.steps().get(at))
        .map(|step| (step.claim().clone(), proof.clause(step).cloned()))
        .collect()
}

fn document(changed: &Changed) -> Change<'_> {
    // What becomes allowed has its proof, what becomes denied what its proof lost.
    let proof = match (&changed.proof, changed.lost.is_empty()) {
        (Some(proof), true) => RawValue::from_string(proof.to_json_node()).ok(),
        _ => None,
    };
    let lost = changed.lost.iter().map(|(claim, clause)| {
        let clause = clause.as_ref().map(Clause::new);
        match claim {
            Claim::Absent(text) => Lost::Absent {
                absent: text,
                clause,
            },
            other => Lost::Fact {
                fact: other.text(),
                clause,
            },
        }
    });
    Change {
        actor: &changed.actor,
        tool: &changed.tool,
        clause: changed.clause.as_ref().map(Clause::new),
        proof,
        lost: lost.collect(),
    }
}

fn report(answer: &Answer) -> io::Result<()> {
    let (allowed, denied) = (&answer.allowed, &answer.denied);
    json::stdout(|out| {
        for (at, changed) in allowed.iter().enumerate() {
            write_allowed(out, changed, at < MAX_TREES)?;
        }
        for changed in denied {
            write_denied(out, changed)?;
        }
        let count = |count: usize| match count {
            1 => "1 pair becomes".to_owned(),
            _ => format!("{count} pairs become"),
        };
        match (allowed.len(), denied.len()) {
            (0, 0) => {
                let grants = answer.new.allowlist.grants().len();
                writeln!(out, "ok: no pair changes, {grants} granted")
            }
            (0, less) => writeln!(out, "{} denied, none allowed", count(less)),
            (more, 0) => writeln!(out, "{} allowed, none denied", count(more)),
            (more, less) => writeln!(out, "{} allowed, {less} denied", count(more)),
        }
    })
}

fn write_allowed(out: &mut dyn Write, changed: &Changed, as_tree: bool) -> io::Result<()> {
    let (actor, tool) = (Printable(&changed.actor), Printable(&changed.tool));
    writeln!(out, "allowed: `{actor}` may now run `{tool}`")?;
    match &changed.proof {
        Some(proof) if as_tree && proof.steps().len() > 1 => tree::proof(out, proof),
        _ => write_clause(out, "  by ", changed.clause.as_ref()),
    }
}

fn write_denied(out: &mut dyn Write, changed: &Changed) -> io::Result<()> {
    let (actor, tool) = (Printable(&changed.actor), Printable(&changed.tool));
    writeln!(out, "denied: `{actor}` may no longer run `{tool}`")?;
    write_clause(out, "  was by ", changed.clause.as_ref())?;
    for (claim, clause) in &changed.lost {
        // A grant that is gone, or whose clause is another, is told already.
        if *clause == changed.clause {
            continue;
        }
        let what = match claim {
            Claim::Absent(_) => "now there is ",
            _ => "lost: ",
        };
        write!(out, "  {what}{}", Printable(claim.text()))?;
        match clause {
            Some(clause) => writeln!(out, "  {}", tree::place(clause))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

fn write_clause(out: &mut dyn Write, lead: &str, clause: Option<&ClauseText>) -> io::Result<()> {
    match clause {
        Some(clause) => tree::line(out, lead, clause, tree::width()),
        None => Ok(()),
    }
}
