//! `horngate repl`: goals in, solutions out.
//!
//! Nothing here decides, and no rules that were refused are asked: while they are, no goal has an answer.

mod complete;
mod history;
mod session;

use crate::args::Repl;
use crate::outcome::Outcome;
use crate::{json, render};
use complete::Assistant;
use rustyline::config::Config;
use rustyline::error::ReadlineError;
use rustyline::{CompletionType, Editor, history::FileHistory};
use session::{Next, Session};
use std::io::{self, BufRead, IsTerminal, Read};
use std::path::PathBuf;

/// The longest line that is read from what is no terminal, without its end.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// How many lines the history keeps.
const HISTORY: usize = 1_000;

pub(crate) fn run(args: &Repl) -> io::Result<Outcome> {
    let mut session = Session::new(args);
    session.start();
    if io::stdin().is_terminal() && io::stdout().is_terminal() {
        return terminal(args, session);
    }
    script(&mut session)
}

/// Reads line by line; whoever writes scripts wants to know if a line had no answer.
fn script(session: &mut Session) -> io::Result<Outcome> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        input
            .by_ref()
            .take(MAX_LINE_BYTES + 1)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        if line.last() != Some(&b'\n') && line.len() as u64 > MAX_LINE_BYTES {
            input.skip_until(b'\n')?;
            session.fail(&format!("the line is longer than {MAX_LINE_BYTES} bytes"));
            continue;
        }
        match std::str::from_utf8(&line) {
            Ok(line) => {
                if session.line(line)? == Next::Quit {
                    break;
                }
            }
            Err(_) => session.fail("the line is not UTF-8"),
        }
    }
    Ok(match session.has_failed() {
        true => Outcome::NoAnswer,
        false => Outcome::Yes,
    })
}

fn terminal(args: &Repl, session: Session) -> io::Result<Outcome> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(HISTORY)
        .map_err(as_io)?
        .build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(as_io)?;
    editor.set_helper(Some(Assistant::new(session)));
    let history = history(args, &mut editor);
    json::stdout(|out| {
        writeln!(
            out,
            "A goal, as in `may_execute_tool(Who, Tool)`, or `:help`. Tab completes, Ctrl-D ends."
        )
    })?;
    loop {
        match editor.readline("?- ") {
            Ok(line) => {
                if !line.trim().is_empty() && editor.add_history_entry(&line).map_err(as_io)? {
                    keep(history.as_ref(), &mut editor);
                }
                let next = match editor.helper_mut() {
                    Some(assistant) => assistant.session.line(&line)?,
                    None => Next::Quit,
                };
                if next == Next::Quit {
                    return Ok(Outcome::Yes);
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(Outcome::Yes),
            Err(error) => return Err(as_io(error)),
        }
    }
}

/// Loads the history, if there is to be one; where it lies.
fn history(args: &Repl, editor: &mut Editor<Assistant, FileHistory>) -> Option<PathBuf> {
    if args.no_history {
        return None;
    }
    let path = history::path()?;
    match editor.load_history(&path) {
        Ok(()) => {}
        Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent()?;
            if let Err(error) = history::create_folder(folder) {
                let folder = folder.display();
                render::tell(&format!("note: no history is kept: `{folder}`: {error}"));
                return None;
            }
        }
        Err(error) => {
            let path = path.display();
            render::tell(&format!("note: no history is kept: `{path}`: {error}"));
            return None;
        }
    }
    Some(path)
}

/// Writes the last line down at once: a session may end in any way.
fn keep(path: Option<&PathBuf>, editor: &mut Editor<Assistant, FileHistory>) {
    if let Some(path) = path {
        // A line less in the history is no reason to stop.
        let _ = editor.append_history(path);
    }
}

fn as_io(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other),
    }
}
