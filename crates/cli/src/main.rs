//! `horngate`, the command line: files, rendering and clocks around the library.
//!
//! No failure here is ever exit code 0: bad usage, an unreadable file, refused rules, a budget, a panic and output
//! that cannot be written all end with 2.

mod args;
mod batch;
mod check;
mod compile;
mod decide;
mod diff;
mod dot;
mod excerpt;
mod explain;
mod files;
mod fmt;
mod grants;
mod guard;
mod json;
mod lists;
mod outcome;
mod pin;
mod printable;
mod problem;
mod query;
mod render;
mod replace;
mod rules;
mod sarif;
mod tree;

use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use outcome::Outcome;
use std::io::{self, Write};
use std::panic;
use std::process::ExitCode;

fn main() -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let text = format!("error: internal error, please report it: {info}");
        let _ = writeln!(io::stderr().lock(), "{}", printable::printable(&text));
    }));
    panic::catch_unwind(run).unwrap_or(Outcome::NoAnswer).into()
}

fn run() -> Outcome {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let result = match &cli.command {
        Command::Check(args) => check::run(args),
        Command::Query(args) => query::run(args),
        Command::Decide(args) => decide::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Grants(args) => grants::run(args),
        Command::Pin(args) => pin::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Fmt(args) => fmt::run(args),
        Command::Compile(args) => compile::run(args),
    };
    result.unwrap_or_else(|error| {
        // Whoever closed the pipe does not want to hear more.
        if error.kind() != io::ErrorKind::BrokenPipe {
            render::tell(&format!("error: {error}"));
        }
        Outcome::NoAnswer
    })
}

/// Bad usage, or help and version. These end with 0 only when they are all that was asked for: an actor or tool
/// named `--help` must not be allowed.
fn usage(error: &clap::Error) -> Outcome {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    match error.print() {
        Ok(()) if asked && std::env::args_os().count() <= 3 => Outcome::Yes,
        _ => Outcome::NoAnswer,
    }
}
