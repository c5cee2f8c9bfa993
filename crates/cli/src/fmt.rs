//! `horngate fmt`: rule files in canonical layout.
//!
//! Nothing here changes what a file means, and one that does not parse is left alone.

use crate::args::Fmt;
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::{Problem, Unreadable};
use crate::replace::replace;
use crate::{files, guard, json};
use horngate::{Source, Sources, syntax};
use std::io::{self, Read};
use std::path::Path;

pub(crate) fn run(args: &Fmt) -> io::Result<Outcome> {
    let names = match &*args.paths {
        [only] if only.as_os_str() == "-" => return standard_input(args),
        paths => files::names(paths),
    };
    let names = match names {
        Ok(names) => names,
        Err(problem) => return Ok(no_answer(&problem)),
    };
    let (mut outcome, mut changed) = (Outcome::Yes, 0);
    for name in &names {
        match file(name, args.check) {
            Ok(false) => {}
            Ok(true) => {
                let what = if args.check {
                    "would change"
                } else {
                    "formatted"
                };
                let name = name.display().to_string();
                json::stdout(|out| writeln!(out, "{what}: {}", Printable(&name)))?;
                outcome = outcome.max(Outcome::of(!args.check));
                changed += 1;
            }
            Err(problem) => outcome = outcome.max(no_answer(&problem)),
        }
    }
    if args.check && outcome == Outcome::Yes {
        let count = match names.len() {
            1 => "1 file is".to_owned(),
            count => format!("{count} files are"),
        };
        json::stdout(|out| writeln!(out, "ok: {count} laid out"))?;
    } else if args.check {
        json::stdout(|out| writeln!(out, "{changed} of {} would change", names.len()))?;
    }
    Ok(outcome)
}

fn no_answer(problem: &Problem) -> Outcome {
    problem.print();
    Outcome::NoAnswer
}

/// Lays out one file; whether that changes it.
fn file(path: &Path, check: bool) -> Result<bool, Problem> {
    let unreadable =
        |error: io::Error| Problem::Unreadable(vec![Unreadable::new(path, error.to_string())]);
    let old = files::bytes(path).map_err(unreadable)?;
    let new = formatted(path.display().to_string(), old.clone())?;
    if new.as_bytes() == old {
        return Ok(false);
    }
    if !check {
        replace(path, &old, new.as_bytes()).map_err(|error| {
            Problem::Unwritten(format!("cannot write `{}`: {error}", path.display()))
        })?;
    }
    Ok(true)
}

fn formatted(name: String, bytes: Vec<u8>) -> Result<String, Problem> {
    guard::run(None, move || {
        let source = Source::from_bytes(name, bytes);
        syntax::format(&source).map_err(|diagnostics| Problem::Refused {
            message: format!("`{}` is left as it is", source.name()),
            sources: Sources::new([source]),
            diagnostics,
        })
    })
}

/// From standard input to standard output.
fn standard_input(args: &Fmt) -> io::Result<Outcome> {
    let mut old = Vec::new();
    let limit = u64::try_from(horngate::MAX_SOURCE_BYTES).unwrap_or(u64::MAX);
    io::stdin()
        .lock()
        .take(limit.saturating_add(1))
        .read_to_end(&mut old)?;
    let new = match formatted("<stdin>".to_owned(), old.clone()) {
        Ok(new) => new,
        Err(problem) => return Ok(no_answer(&problem)),
    };
    if args.check {
        return Ok(Outcome::of(new.as_bytes() == old));
    }
    json::stdout(|out| out.write_all(new.as_bytes()))?;
    Ok(Outcome::Yes)
}
