//! The command line of what authors of rules use beside the checks, and of what packages ship.
//!
//! Nothing here reads files.

use super::{Authority, Format, Limits};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Write one grant into a rule file
///
/// The fact goes where its kin stand: to its place where the facts are sorted, else after the last one of the actor, else
/// after the last of the predicate. All else stays byte for byte. The file is left alone if the rules would not check,
/// would not allow the pair, or would decide another pair otherwise.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate grant U:Qa remote_trigger rules/governance.pl\n  \
    horngate grant U:Qa remote_trigger rules/governance.pl --tools tools.json --dry-run\n\n\
    Exit codes: 0 granted, 1 nothing to do, 2 the file is left as it was.")]
pub(crate) struct Grant {
    #[command(flatten)]
    pub(crate) edit: Edit,
}

/// Take one grant out of a rule file
///
/// The fact goes, with its line and a comment behind it if nothing else stands there. All else stays byte for byte. What
/// a rule grants is not revoked: the rule is named, and the file is left alone.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate revoke U:Qa run_shell rules/governance.pl\n\n\
    Exit codes: 0 revoked, 1 nothing to do, 2 the file is left as it was.")]
pub(crate) struct Revoke {
    #[command(flatten)]
    pub(crate) edit: Edit,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Edit {
    /// Who calls
    pub(crate) actor: String,
    /// What is called, without the prefix
    pub(crate) tool: String,
    /// The rule file to edit
    pub(crate) file: PathBuf,
    /// Rule files, or folders, that are loaded together with FILE; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) rules: Vec<PathBuf>,
    /// Lists of tools, as for `pin`: warns of what would no longer agree with them; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) tools: Vec<PathBuf>,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) authority: Authority,
    /// What standard output is for
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// Goals in, solutions out
///
/// In a terminal lines are edited, completed and kept in a history; else each line of standard input is answered.
/// `:help` lists the commands: why, why not, the grants, loading more and once more.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate repl rules\n  \
    printf 'may_execute_tool(Who, tool_repl)\\n' | horngate repl rules\n\n\
    Exit codes: 0 the end, 2 a line from what is no terminal had no answer.")]
pub(crate) struct Repl {
    /// Rule files, or folders with `*.pl` files
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// How many solutions are shown at once
    #[arg(long, value_name = "N", default_value = "20")]
    pub(crate) limit: NonZeroUsize,
    /// Neither read nor write the history, `horngate/history` in the user's folder for state
    #[arg(long)]
    pub(crate) no_history: bool,
    #[command(flatten)]
    pub(crate) authority: Authority,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// What makes a shell complete commands and options
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate completions bash >~/.local/share/bash-completion/completions/horngate\n  \
    horngate completions zsh >~/.zfunc/_horngate\n  \
    horngate completions fish >~/.config/fish/completions/horngate.fish\n\n\
    Exit codes: 0 done, 2 it cannot be written.")]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// The manual pages
///
/// Without --out the page of the program itself goes to standard output.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    horngate man --out /usr/local/share/man/man1\n  \
    horngate man | man -l -\n\n\
    Exit codes: 0 done, 2 they cannot be written.")]
pub(crate) struct Man {
    /// The folder to write all pages to, `horngate.1` and one for each command
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}
