//! From the paths of a command line to the texts of rule files.
//!
//! Nothing here parses, and no file is ever skipped because it cannot be read.

use crate::problem::{Problem, Unreadable};
use horngate::{Budget, Loader, MAX_SOURCE_BYTES, NotClean, Refused, Rulebase, Source, Sources};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How many bytes are read at once.
const PIECE: usize = 1 << 17;

/// Reads every rule file that the paths name, in order; a file named twice is read once.
///
/// A folder means its `*.pl` files, sorted, without `*_tests.pl`, hidden files and sub-folders.
///
/// # Errors
/// All that cannot be read, and folders without a rule file.
pub(crate) fn read(paths: &[PathBuf]) -> Result<Vec<Source>, Problem> {
    each(paths, RULES, |path| {
        Ok(Source::from_bytes(path.display().to_string(), bytes(path)?))
    })
}

/// A text of another kind, up to a limit; `-` is standard input.
///
/// # Errors
/// What cannot be read, is longer or is not UTF-8.
pub(crate) fn text(path: &Path, limit: u64) -> Result<String, Problem> {
    let more = limit.saturating_add(1);
    let bytes = match path.to_str() {
        Some("-") => {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().take(more).read_to_end(&mut bytes);
            read.map(|_| bytes)
        }
        _ => bytes_up_to(path, more),
    };
    bytes
        .and_then(|bytes| match bytes.len() as u64 > limit {
            true => Err(io::Error::other("the file is too long")),
            false => String::from_utf8(bytes).map_err(io::Error::other),
        })
        .map_err(|error| Problem::Unreadable(vec![Unreadable::new(path, error.to_string())]))
}

/// The rule files that the paths name, in order, each once. They may still be unreadable.
///
/// # Errors
/// Paths that do not exist, and folders without a rule file.
pub(crate) fn names(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    each(paths, RULES, |path| Ok(path.to_owned()))
}

/// The same, some maybe twice, for whoever looks often and wants no more than that.
///
/// # Errors
/// As [`names`].
pub(crate) fn listed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    match expand_all(paths, RULES) {
        (files, unreadable) if unreadable.is_empty() => Ok(files),
        (_, unreadable) => Err(Problem::Unreadable(unreadable)),
    }
}

/// What is kept of the texts of rules beside their meaning.
#[derive(Clone, Copy)]
pub(crate) enum Keep {
    /// Nothing: the policy gets no name.
    Nothing,
    /// The digest of each, so that the policy has a name.
    Digests,
    /// That, and the place of each fact.
    Places,
}

/// Loads the files piece by piece, so that none is held whole. `Ok(None)`: the rules are not clean, or a path is no
/// regular file and could not be read a second time to say why.
///
/// # Errors
/// As [`read`], and when there are more clauses than the budget has.
pub(crate) fn load(
    paths: &[PathBuf],
    budget: &Budget,
    keep: Keep,
) -> Result<Option<Rulebase>, Problem> {
    let mut loader = Loader::within(budget);
    loader = match keep {
        Keep::Nothing => loader.without_digests(),
        Keep::Digests => loader,
        Keep::Places => loader.with_places(),
    };
    let mut regular = true;
    let mut piece = vec![0; PIECE];
    each(paths, RULES, |path| {
        let mut file = File::open(path)?;
        regular = regular && file.metadata()?.is_file();
        if !regular {
            return Ok(());
        }
        loader.begin(path.display().to_string());
        loop {
            let length = match file.read(&mut piece) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            match piece.get(..length) {
                None | Some([]) => return Ok(()),
                Some(bytes) => loader.feed(bytes),
            }
        }
    })?;
    if !regular {
        return Ok(None);
    }
    match loader.finish() {
        Ok(rulebase) => Ok(Some(rulebase)),
        Err(NotClean {
            exceeded: Some(found),
            ..
        }) => {
            let refused = Refused {
                sources: Sources::new(read(paths)?),
                diagnostics: vec![*found],
            };
            Err(refused.into())
        }
        Err(_) => Ok(None),
    }
}

/// Reads the rule files that the paths name and the files of tests beside them, which come last.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_with_tests(paths: &[PathBuf]) -> Result<Vec<Source>, Problem> {
    let named = each(paths, WITH_TESTS, |path| Ok(path.to_owned()))?;
    let (mut rules, mut tests): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for path in named {
        if is_tests(&path) {
            tests.push(path);
            continue;
        }
        let beside = path.file_stem().map(|stem| {
            let mut name = stem.to_owned();
            name.push(TESTS);
            path.with_file_name(name)
        });
        // One that is there and cannot be read is an error, and not as if it were not there.
        tests.extend(beside.filter(|file| fs::symlink_metadata(file).is_ok()));
        rules.push(path);
    }
    rules.append(&mut tests);
    read(&rules)
}

/// What a folder stands for.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) has: fn(&Path) -> bool,
    /// For the message that there is none.
    pub(crate) name: &'static str,
}

const RULES: Kind = Kind {
    has: is_rule_file,
    name: "rule file (`*.pl`, tests and sub-folders left out)",
};

const WITH_TESTS: Kind = Kind {
    has: |path| is_rule_file(path) || is_tests(path),
    name: "rule file (`*.pl`, sub-folders left out)",
};

/// How the name of a file of tests ends.
const TESTS: &str = "_tests.pl";

/// Does something with every file that the paths name, in order, each file once.
pub(crate) fn each<T>(
    paths: &[PathBuf],
    kind: Kind,
    mut with: impl FnMut(&Path) -> io::Result<T>,
) -> Result<Vec<T>, Problem> {
    let (wanted, mut unreadable) = expand_all(paths, kind);
    let (mut done, mut seen) = (Vec::new(), HashSet::new());
    for path in wanted {
        let place = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if !seen.insert(place) {
            continue;
        }
        match with(&path) {
            Ok(result) => done.push(result),
            Err(error) => unreadable.push(Unreadable::new(&path, error.to_string())),
        }
    }
    if unreadable.is_empty() {
        Ok(done)
    } else {
        Err(Problem::Unreadable(unreadable))
    }
}

/// The files that the paths name, some maybe twice, and the paths that name none.
fn expand_all(paths: &[PathBuf], kind: Kind) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let (mut wanted, mut unreadable) = (Vec::new(), Vec::new());
    for path in paths {
        match expand(path, kind) {
            Ok(files) => wanted.extend(files),
            Err(reason) => unreadable.push(Unreadable::new(path, reason)),
        }
    }
    (wanted, unreadable)
}

fn expand(path: &Path, kind: Kind) -> Result<Vec<PathBuf>, String> {
    let is_folder = fs::metadata(path)
        .map_err(|error| error.to_string())?
        .is_dir();
    if !is_folder {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| error.to_string())? {
        let file = entry.map_err(|error| error.to_string())?.path();
        // An entry that cannot be looked at is kept: reading it says why.
        if (kind.has)(&file) && !file.is_dir() {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(format!("the folder has no {}", kind.name));
    }
    Ok(files)
}

fn is_rule_file(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(OsStr::to_string_lossy)
        .unwrap_or_default();
    name.ends_with(".pl") && !name.ends_with(TESTS) && !name.starts_with('.')
}

fn is_tests(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(OsStr::to_string_lossy)
        .unwrap_or_default();
    name.ends_with(TESTS) && !name.starts_with('.')
}

/// The bytes of a file, up to one more than a source may have.
pub(crate) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let limit = u64::try_from(MAX_SOURCE_BYTES).unwrap_or(u64::MAX);
    bytes_up_to(path, limit.saturating_add(1))
}

fn bytes_up_to(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
