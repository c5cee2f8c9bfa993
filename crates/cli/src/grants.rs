//! `horngate grants`: who may run what.
//!
//! Nothing here is a grant that `decide` would not give.

use crate::args::{Grants, GrantsFormat};
use crate::files::Keep;
use crate::json;
use crate::json::Pair;
use crate::outcome::Outcome;
use crate::printable::printable;
use crate::problem::Problem;
use crate::rules::{self, Bound};
use std::io;

pub(crate) fn run(args: &Grants) -> io::Result<Outcome> {
    let bound = match rules::bind(&args.rules, &args.authority, &args.limits, Keep::Nothing) {
        Ok(bound) => bound,
        Err(problem) => return no_answer(args, &problem),
    };
    bound.tell();
    let grants = pairs(&bound, args.actor.as_deref(), args.tool.as_deref());
    match args.format {
        GrantsFormat::Human => table(&grants)?,
        GrantsFormat::Json => json::print(&json::Grants {
            grants: &grants,
            error: None,
        })?,
        GrantsFormat::Csv => csv(&grants)?,
    }
    Ok(Outcome::of(!grants.is_empty()))
}

/// The grants of an actor and for a tool, if these are given.
pub(crate) fn pairs<'b>(
    bound: &'b Bound,
    actor: Option<&str>,
    tool: Option<&str>,
) -> Vec<Pair<'b>> {
    let wanted = |filter: Option<&str>, text: &str| filter.is_none_or(|filter| filter == text);
    let grants = bound.allowlist.grants().into_iter();
    grants
        .map(|(actor, tool)| Pair { actor, tool })
        .filter(|pair| wanted(actor, pair.actor) && wanted(tool, pair.tool))
        .collect()
}

fn no_answer(args: &Grants, problem: &Problem) -> io::Result<Outcome> {
    match args.format {
        GrantsFormat::Json => json::print(&json::Grants {
            grants: &[],
            error: Some(problem.json()),
        })?,
        GrantsFormat::Human | GrantsFormat::Csv => problem.print(),
    }
    Ok(Outcome::NoAnswer)
}

pub(crate) fn table(grants: &[Pair<'_>]) -> io::Result<()> {
    if grants.is_empty() {
        return json::stdout(|out| writeln!(out, "no grants"));
    }
    let rows: Vec<(String, String)> = std::iter::once(("ACTOR".to_owned(), "TOOL".to_owned()))
        .chain(
            grants
                .iter()
                .map(|pair| (printable(pair.actor), printable(pair.tool))),
        )
        .collect();
    let width = rows
        .iter()
        .map(|(actor, _)| actor.chars().count())
        .max()
        .unwrap_or(0);
    json::stdout(|out| {
        rows.iter()
            .try_for_each(|(actor, tool)| writeln!(out, "{actor:width$}  {tool}"))
    })
}

fn csv(grants: &[Pair<'_>]) -> io::Result<()> {
    json::stdout(|out| {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["actor", "tool"])?;
        for pair in grants {
            writer.write_record([pair.actor, pair.tool])?;
        }
        writer.flush()
    })
}
