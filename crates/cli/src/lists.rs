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
    let mut unshown = None;
    for (path, text) in texts {
        let syntax = syntax(&path).unwrap_or(Syntax::Json);
        let list = match ToolList::parse(&text, syntax) {
            Ok(list) => list,
            Err(error) => {
                unreadable.push(Unreadable::new(&path, error.to_string()));
                continue;
            }
        };
        let name = path.display().to_string();
        match (list.advertised(&name), actor) {
            (Some(list), _) => tools = tools.and(list),
            (None, Some(actor)) => tools = tools.and(list.shown_to(&name, actor)),
            (None, None) => unshown = unshown.or(Some(name)),
        }
    }
    if !unreadable.is_empty() {
        return Err(Problem::Unreadable(unreadable));
    }
    if let Some(name) = unshown {
        return Err(Problem::Usage(format!(
            "`{name}` names no agents: say with `--actor` who is shown its tools"
        )));
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

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LIMIT).read_to_string(&mut text)?;
    Ok(text)
}
