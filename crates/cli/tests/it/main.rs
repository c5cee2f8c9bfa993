//! The binary, seen from outside: what it prints, and above all the code with which it ends.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking, its helpers too"
)]

mod approvals;
mod audit;
mod batch;
mod budgets;
mod cases;
mod check;
mod compile;
mod decide;
mod diff;
mod explain;
mod fmt;
mod grant;
mod grants;
mod hook;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod mcp_docs;
mod packaging;
mod peer;
mod pin;
mod process;
mod query;
mod readme;
mod repl;
mod test;
mod watch;

use assert_cmd::Command;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The root of the workspace, where `rules/` lies.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with the files given.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The binary, to be run in `folder` whatever the environment of the tests is.
fn horngate(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horngate"));
    command.current_dir(folder);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

/// What a run gave.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(folder: &Path, args: &[&str]) -> Run {
    run_with(folder, args, "")
}

fn run_with(folder: &Path, args: &[&str], input: &str) -> Run {
    let output = horngate(folder)
        .args(args)
        .write_stdin(input)
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// The JSON document that the run printed.
    fn json(&self) -> serde_json::Value {
        assert!(self.stdout.ends_with('\n'));
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// A session as one would see it in a terminal, standard error first.
fn session(folder: &Path, lines: &[&[&str]]) -> String {
    let mut text = String::new();
    for args in lines {
        let Run {
            code,
            stdout,
            stderr,
        } = run(folder, args);
        let quoted = args.iter().map(|arg| match *arg {
            "" => " ''".to_owned(),
            arg if arg.contains([' ', '(', '\'', '*', '\\']) => format!(" \"{arg}\""),
            arg => format!(" {arg}"),
        });
        writeln!(text, "$ horngate{}", quoted.collect::<String>()).unwrap();
        write!(text, "{stderr}{stdout}? {code}\n\n").unwrap();
    }
    text.replace(env!("CARGO_PKG_VERSION"), "VERSION")
        .replace("},{", "},\n{")
}
