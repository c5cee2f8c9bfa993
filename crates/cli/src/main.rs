//! `horngate`, the command line: files, rendering and clocks around the library.
//!
//! No failure here is ever exit code 0: bad usage, an unreadable file, refused rules, a budget, a panic and output
//! that cannot be written all end with 2.

mod approvals;
mod args;
mod audit;
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
mod grant;
mod grants;
mod guard;
mod hook;
mod json;
mod lists;
#[cfg(unix)]
mod mcp;
mod outcome;
mod packaging;
mod pin;
mod printable;
mod problem;
mod query;
mod render;
mod repl;
mod replace;
mod rules;
mod sarif;
mod secret;
mod test;
mod tree;
mod watch;
mod when;

use args::{Cli, Command};
use clap::Parser;
use clap::error::ErrorKind;
use grant::Wish;
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
        Command::Test(args) => test::run(args),
        Command::Grant(args) => grant::run(&args.edit, Wish::Grant),
        Command::Revoke(args) => grant::run(&args.edit, Wish::Revoke),
        Command::Repl(args) => repl::run(args),
        Command::Completions(args) => packaging::completions(args),
        Command::Man(args) => packaging::man(args),
        Command::Compile(args) => compile::run(args),
        Command::Approvals(args) => approvals::run(args),
        Command::Audit(args) => audit::run(args),
        Command::Hook(args) if hook::run(args) => Ok(Outcome::Yes),
        Command::Hook(_) => Ok(Outcome::NoAnswer),
        #[cfg(unix)]
        Command::Mcp(args) => mcp::run(args),
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
/// named `--help` must not be allowed. A hook ends with 0 only when it allows.
fn usage(error: &clap::Error) -> Outcome {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    let words = match std::env::args_os().nth(1) {
        Some(first) if first == "approvals" || first == "audit" => 4,
        Some(first) if first == "hook" => 0,
        _ => 3,
    };
    match error.print() {
        Ok(()) if asked && std::env::args_os().count() <= words => Outcome::Yes,
        _ => Outcome::NoAnswer,
    }
}
