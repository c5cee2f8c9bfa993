//! From the paths of `--tools` to what agents are shown.
//!
//! Nothing here guesses: the language of a file is told by its name, and who is shown a list by the list or `--actor`.

use crate::files::{self, Kind};
use crate::problem::{Problem, Unreadable};
use horngate::AdvertisedTools;
use horngate::pins::{Syntax, ToolList};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// One byte more than the longest list.
const LIMIT: u64 = (1 << 24) + 1;

const LISTS: Kind = Kind {
    has: |path| syntax(path).is_some(),
    name: "list of tools (`*.json`, `*.yaml`, `*.yml`, `*.toml`, sub-folders left out)",
};

/// Reads all lists.
///
/// # Errors
/// All that cannot be read, that is no list of tools, or that names no agents when there is no `actor`; and tools that
/// cannot be unflagged.
pub(crate) fn read(
    paths: &[PathBuf],
    actor: Option<&str>,
    unflagged: &[String],
) -> Result<AdvertisedTools, Problem> {
    let texts = files::each(paths, LISTS, |path| Ok((path.to_owned(), text(path)?)))?;
    let (mut tools, mut unreadable) = (AdvertisedTools::new(), Vec::new());
    for (path, text) in texts {
        match list(&path, &text, actor) {
            Ok(list) => tools = tools.and(list),
            Err(reason) => unreadable.push(Unreadable::new(&path, reason)),
        }
    }
    if !unreadable.is_empty() {
        return Err(Problem::Unreadable(unreadable));
    }
    for name in unflagged {
        tools
            .unflag(name)
            .map_err(|error| Problem::Usage(format!("`--unflagged {name}`: {error}")))?;
    }
    Ok(match actor {
        Some(actor) => tools.only(actor),
        None => tools,
    })
}

/// The language of a file of that name; a name that does not tell is JSON.
fn syntax(path: &Path) -> Option<Syntax> {
    let hidden = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'));
    match path.extension()?.to_str()? {
        _ if hidden => None,
        "json" => Some(Syntax::Json),
        "yaml" | "yml" => Some(Syntax::Yaml),
        "toml" => Some(Syntax::Toml),
        _ => None,
    }
}

fn list(path: &Path, text: &str, actor: Option<&str>) -> Result<AdvertisedTools, String> {
    let name = path.display().to_string();
    let syntax = syntax(path).unwrap_or(Syntax::Json);
    let list = ToolList::parse(text, syntax).map_err(|error| error.to_string())?;
    match (list.advertised(&name), actor) {
        (Some(tools), _) => Ok(tools),
        (None, Some(actor)) => Ok(list.shown_to(&name, actor)),
        (None, None) => {
            Err("the list names no agents: say with `--actor` who is shown its tools".to_owned())
        }
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LIMIT).read_to_string(&mut text)?;
    Ok(text)
}
