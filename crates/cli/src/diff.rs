//! `horngate diff`: the pairs that a change of the rules allows or denies.
//!
//! Nothing here judges a change; with `--grants-no-more-than` the code only says whether anything is allowed that was not.

use crate::args::{Diff, Format};
use crate::json::{Change, Clause};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::rules::{self, Bound};
use crate::{guard, json};
use horngate::{Allowlist, GrantingClauses, Sources};
use std::io::{self, Write};
use std::path::Path;

/// For how many pairs the clause is looked up: each may cost a question for each rule.
const MAX_LOOKED_UP: usize = 10_000;

pub(crate) fn run(args: &Diff) -> io::Result<Outcome> {
    let (old, new) = match sides(args) {
        Ok(sides) => sides,
        Err(problem) => return no_answer(args, &problem),
    };
    new.tell();
    let (old, new) = (&old.allowlist, &new.allowlist);
    let diff = horngate::Diff::between(old, new);
    let texts = |allowlist: &Allowlist, path: &Path, pairs: &[_]| match pairs {
        [] => Ok(Sources::default()),
        _ => rules::texts(allowlist, &[path.to_owned()]),
    };
    let sources = texts(old, &args.old, &diff.denied)
        .and_then(|sources| Ok((sources, texts(new, &args.new, &diff.allowed)?)));
    let (old_sources, new_sources) = match sources {
        Ok(sources) => sources,
        Err(problem) => return no_answer(args, &problem),
    };
    let allowed = changes(new, &new_sources, &diff.allowed);
    let denied = changes(old, &old_sources, &diff.denied);
    let outcome = Outcome::of(match args.grants_no_more_than {
        true => allowed.is_empty(),
        false => diff.is_empty(),
    });
    match args.format {
        Format::Json => json::print(&json::Diff {
            allowed,
            denied,
            error: None,
        })?,
        Format::Human => report(&allowed, &denied, new)?,
    }
    Ok(outcome)
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

/// Both sides, each evaluated once.
fn sides(args: &Diff) -> Result<(Bound, Bound), Problem> {
    let (paths, authority, budget) = (
        [args.old.clone(), args.new.clone()],
        args.authority.clone(),
        args.limits.budget(),
    );
    guard::run(args.limits.timeout, move || {
        let bind = |path| rules::bind_here(std::slice::from_ref(path), &authority, &budget, true);
        let [old, new] = &paths;
        Ok((bind(old)?, bind(new)?))
    })
}

/// The pairs, each with the clause that allows it on that side.
fn changes<'a>(
    side: &'a Allowlist,
    sources: &'a Sources,
    pairs: &[(&'a str, &'a str)],
) -> Vec<Change<'a>> {
    let mut clauses = GrantingClauses::new(side, sources);
    let change = |(at, (actor, tool)): (usize, &(&'a str, &'a str))| {
        let looked_up = at < MAX_LOOKED_UP;
        let span = looked_up.then(|| clauses.find(actor, tool)).flatten();
        Change {
            actor,
            tool,
            clause: span.map(|span| Clause::new(sources, span)),
        }
    };
    pairs.iter().enumerate().map(change).collect()
}

fn report(allowed: &[Change<'_>], denied: &[Change<'_>], new: &Allowlist) -> io::Result<()> {
    json::stdout(|out| {
        for change in allowed {
            write_change(out, change, "allowed", "may now run")?;
        }
        for change in denied {
            write_change(out, change, "denied", "may no longer run")?;
        }
        let count = |count: usize| match count {
            1 => "1 pair becomes".to_owned(),
            _ => format!("{count} pairs become"),
        };
        match (allowed.len(), denied.len()) {
            (0, 0) => writeln!(out, "ok: no pair changes, {} granted", new.grants().len()),
            (0, less) => writeln!(out, "{} denied, none allowed", count(less)),
            (more, 0) => writeln!(out, "{} allowed, none denied", count(more)),
            (more, less) => writeln!(out, "{} allowed, {less} denied", count(more)),
        }
    })
}

fn write_change(
    out: &mut dyn Write,
    change: &Change<'_>,
    kind: &str,
    verb: &str,
) -> io::Result<()> {
    let (actor, tool) = (Printable(change.actor), Printable(change.tool));
    writeln!(out, "{kind}: `{actor}` {verb} `{tool}`")?;
    let Some(clause) = &change.clause else {
        return Ok(());
    };
    let was = if kind == "denied" { "was by " } else { "by " };
    // Joining its lines would hide what stands behind a comment.
    let (first, more) = match clause.text.split_once('\n') {
        Some((first, _)) => (first.trim_end(), " …"),
        None => (clause.text, ""),
    };
    writeln!(
        out,
        "  {was}{}:{}: {}{more}",
        Printable(clause.file),
        clause.line,
        Printable(first)
    )
}
