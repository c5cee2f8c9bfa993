//! `horngate completions` and `horngate man`: what packages of the program ship beside it.
//!
//! Nothing here is written by hand: all of it comes from the command line's own description.

use crate::args::{Cli, Completions, Man};
use crate::outcome::Outcome;
use crate::{json, render, replace};
use clap::{Command, CommandFactory};
use std::fs;
use std::io;

pub(crate) fn completions(args: &Completions) -> io::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "horngate", &mut script);
    json::stdout(|out| out.write_all(&script))?;
    Ok(Outcome::Yes)
}

pub(crate) fn man(args: &Man) -> io::Result<Outcome> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.out else {
        let (_, page) = page(&command)?;
        json::stdout(|out| out.write_all(&page))?;
        return Ok(Outcome::Yes);
    };
    let written = fs::create_dir_all(folder).and_then(|()| {
        let mut open = vec![&command];
        while let Some(command) = open.pop() {
            let (name, page) = page(command)?;
            replace::whole(&folder.join(name), &page)?;
            open.extend(
                command
                    .get_subcommands()
                    .filter(|command| !command.is_hide_set()),
            );
        }
        Ok(())
    });
    match written {
        Ok(()) => Ok(Outcome::Yes),
        Err(error) => {
            let folder = folder.display();
            render::tell(&format!("error: cannot write to `{folder}`: {error}"));
            Ok(Outcome::NoAnswer)
        }
    }
}

/// The name of a command's page, and the page.
fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render(&mut page)?;
    Ok((man.get_filename(), page))
}
