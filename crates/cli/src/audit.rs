//! `horngate audit verify`: the hash chain of an audit log.
//!
//! Nothing here repairs a log.

use crate::args::{Audit, AuditAction, Format, Verify};
use crate::outcome::Outcome;
use crate::problem::{Problem, Unreadable};
use crate::{json, render, secret};
use horngate_gate::{Broken, Whole, verify};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufReader};
use std::thread;
use std::time::Duration;

/// How long a line that is being written may take.
const WRITING: Duration = Duration::from_millis(200);

#[derive(Default, Serialize)]
struct Document<'a> {
    file: String,
    whole: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    torn: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Vec<json::Diagnostic<'a>>>,
}

pub(crate) fn run(args: &Audit) -> io::Result<Outcome> {
    let AuditAction::Verify(args) = &args.action;
    let found = match look(args) {
        // Somebody may be writing it just now.
        Ok(Err(Broken { torn: true, .. })) if args.file.to_str() != Some("-") => {
            thread::sleep(WRITING);
            look(args)
        }
        found => found,
    };
    match args.format {
        Format::Json => json::print(&document(args, &found))?,
        Format::Human => report(&found)?,
    }
    Ok(match found {
        Ok(Ok(_)) => Outcome::Yes,
        Ok(Err(_)) => Outcome::No,
        Err(_) => Outcome::NoAnswer,
    })
}

fn look(args: &Verify) -> Result<Result<Whole, Broken>, Problem> {
    let key = args.key.as_deref().map(secret::log_key).transpose()?;
    let (key, head) = (key.as_deref(), args.head.as_deref());
    let looked = match args.file.to_str() {
        Some("-") => verify(io::stdin().lock(), key, head, args.count),
        _ => File::open(&args.file)
            .and_then(|file| verify(BufReader::new(file), key, head, args.count)),
    };
    looked
        .map_err(|error| Problem::Unreadable(vec![Unreadable::new(&args.file, error.to_string())]))
}

fn document<'a>(args: &Verify, found: &'a Result<Result<Whole, Broken>, Problem>) -> Document<'a> {
    let file = args.file.display().to_string();
    match found {
        Ok(Ok(whole)) => Document {
            file,
            whole: true,
            count: Some(whole.count),
            head: Some(&whole.head),
            ..Document::default()
        },
        Ok(Err(broken)) => Document {
            file,
            line: Some(broken.line),
            what: Some(&broken.what),
            torn: Some(broken.torn),
            ..Document::default()
        },
        Err(problem) => Document {
            file,
            error: Some(problem.json()),
            ..Document::default()
        },
    }
}

fn report(found: &Result<Result<Whole, Broken>, Problem>) -> io::Result<()> {
    match found {
        Ok(Ok(Whole { count, head })) => {
            json::stdout(|out| writeln!(out, "whole\ncount {count}\nhead  {head}"))
        }
        Ok(Err(broken)) => {
            json::stdout(|out| writeln!(out, "broken: {broken}"))?;
            if broken.torn {
                render::tell(
                    "note: a writer was stopped amid a line; the next line that a gate writes mends that and says so",
                );
            }
            Ok(())
        }
        Err(problem) => {
            problem.print();
            Ok(())
        }
    }
}
