//! `horngate pin`: rules against the tools that agents are shown.
//!
//! Nothing here changes what is granted, and no finding is mended.

use crate::args::{Format, Pin};
use crate::files::Keep;
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::{Problem, Unreadable};
use crate::rules::{self, Bound};
use crate::{guard, json, lists, render};
use horngate::pins::{Finding, Pins, ToolLock};
use horngate::{AdvertisedTools, GrantingClauses};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What was found.
struct Answer {
    bound: Bound,
    tools: AdvertisedTools,
    findings: Vec<(Finding, Option<Place>)>,
}

/// A file, and the line in it if it is known.
struct Place {
    file: String,
    line: Option<usize>,
}

pub(crate) fn run(args: &Pin) -> io::Result<Outcome> {
    let answer = answer(args).and_then(|mut answer| {
        if let Some(path) = &args.lock {
            lock(path, &mut answer)?;
        }
        Ok(answer)
    });
    let answer = match answer {
        Ok(answer) => answer,
        Err(problem) => return no_answer(args, &problem),
    };
    answer.bound.tell();
    match args.format {
        Format::Json => json::print(&json::Pin {
            findings: answer.findings.iter().map(document).collect(),
            error: None,
        })?,
        Format::Human => report(&answer, args.actor.as_deref())?,
    }
    Ok(Outcome::of(answer.findings.is_empty()))
}

fn no_answer(args: &Pin, problem: &Problem) -> io::Result<Outcome> {
    match args.format {
        Format::Json => json::print(&json::Pin {
            findings: Vec::new(),
            error: Some(problem.json()),
        })?,
        Format::Human => problem.print(),
    }
    Ok(Outcome::NoAnswer)
}

fn answer(args: &Pin) -> Result<Answer, Problem> {
    let (paths, authority, budget) = (
        args.rules.paths.clone(),
        args.authority.clone(),
        args.limits.budget(),
    );
    let (lists, actor, unflagged) = (
        args.tools.clone(),
        args.actor.clone(),
        args.unflagged.clone(),
    );
    guard::run(args.limits.timeout, move || {
        let tools = lists::read(&lists, actor.as_deref(), &unflagged)?;
        let bound = rules::bind_here(&paths, &authority, &budget, Keep::Places)?;
        let pins = Pins::compare(&bound.allowlist, &tools);
        let findings = placed(&bound, &paths, pins.findings())?;
        Ok(Answer {
            bound,
            tools,
            findings,
        })
    })
}

/// The findings, each with the place of its grant, or else of the list that it is about.
fn placed(
    bound: &Bound,
    paths: &[PathBuf],
    findings: &[Finding],
) -> Result<Vec<(Finding, Option<Place>)>, Problem> {
    if findings.is_empty() {
        return Ok(Vec::new());
    }
    let sources = rules::texts(&bound.allowlist, paths)?;
    let mut clauses = GrantingClauses::new(&bound.allowlist, &sources);
    let place = |finding: &Finding| match clauses.of(finding) {
        Some(span) => Some(Place {
            file: sources.name(span).to_owned(),
            line: Some(sources.start(span).line),
        }),
        None => listed(finding),
    };
    let places: Vec<Option<Place>> = findings.iter().map(place).collect();
    Ok(findings.iter().cloned().zip(places).collect())
}

fn listed(finding: &Finding) -> Option<Place> {
    let file = finding.list.clone()?;
    Some(Place { file, line: None })
}

/// Adds the findings about definitions that changed; writes the lock if there is none.
fn lock(path: &Path, answer: &mut Answer) -> Result<(), Problem> {
    let unreadable = |reason: String| Problem::Unreadable(vec![Unreadable::new(path, reason)]);
    match fs::read_to_string(path) {
        Ok(text) => {
            let lock = ToolLock::parse(&text).map_err(|error| unreadable(error.to_string()))?;
            let changed = lock.changed(&answer.tools).into_iter();
            answer.findings.extend(changed.map(|finding| {
                let place = listed(&finding);
                (finding, place)
            }));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let lock = ToolLock::of(&answer.tools)
                .map_err(|error| Problem::Usage(format!("`--lock`: {error}")))?;
            write_new(path, &lock.to_string()).map_err(|error| {
                Problem::Unwritten(format!("cannot write `{}`: {error}", path.display()))
            })?;
            render::tell(&format!(
                "note: wrote `{}` with the definitions of {}",
                path.display(),
                count(lock.len(), "tool")
            ));
        }
        Err(error) => return Err(unreadable(error.to_string())),
    }
    let bare: Vec<&str> = ToolLock::undescribed(&answer.tools).collect();
    if let [first, rest @ ..] = &*bare {
        let more = match rest.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        render::tell(&format!(
            "note: the lists define only the name of `{first}`{more}: the lock sees no other change of that"
        ));
    }
    Ok(())
}

/// Writes a file that must not be there yet, whole or not at all.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a lock would be refused, and never be written anew.
        let _ = fs::remove_file(path);
    }
    written
}

fn document((finding, place): &(Finding, Option<Place>)) -> json::Finding<'_> {
    json::Finding::new(
        finding,
        place.as_ref().map(|place| place.file.as_str()),
        place.as_ref().and_then(|place| place.line),
    )
}

fn report(answer: &Answer, actor: Option<&str>) -> io::Result<()> {
    json::stdout(|out| {
        for (finding, place) in &answer.findings {
            writeln!(out, "{}", Printable(&finding.to_string()))?;
            match place {
                Some(Place {
                    file,
                    line: Some(line),
                }) => writeln!(out, "  at {}:{line}", Printable(file))?,
                Some(Place { file, line: None }) => writeln!(out, "  at {}", Printable(file))?,
                None => {}
            }
            writeln!(out, "  help: {}", Printable(&finding.help))?;
        }
        match answer.findings.len() {
            0 => {
                let tools: Vec<bool> = answer.tools.tools().map(|(_, flagged)| flagged).collect();
                let wanted = |name: &str| actor.is_none_or(|actor| actor == name);
                let grants = answer.bound.allowlist.grants();
                let grants = grants.iter().filter(|(actor, _)| wanted(actor));
                writeln!(
                    out,
                    "ok: rules and tools agree: {}, {} ({} flagged), {}",
                    count(grants.count(), "grant"),
                    count(tools.len(), "tool"),
                    tools.iter().filter(|flagged| **flagged).count(),
                    count(
                        answer.tools.agents().filter(|name| wanted(name)).count(),
                        "agent"
                    ),
                )
            }
            findings => writeln!(out, "{}", count(findings, "finding")),
        }
    })
}

fn count(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
