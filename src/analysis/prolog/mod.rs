//! What SWI-Prolog itself defines, by name: the facts about it that the analysis needs.
//!
//! The text files beside this one are dumped from SWI-Prolog by `tests/peers/dump_names.pl`
//! (`hooks.txt` is written by hand). Nothing here decides what is accepted, reads files at run
//! time or runs Prolog: the tables are part of the binary.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What becomes of a rule file's own clause for a predicate of SWI-Prolog's module `system`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// SWI-Prolog refuses, drops or obeys the clause, or compiles calls past it.
    Locked,
    /// The clause quietly replaces the builtin for the file's module.
    Open,
}

/// Arities and what belongs to each, by name: a handful an entry, so they are searched in order.
type ByName<T> = HashMap<String, Vec<(usize, T)>>;

static SYSTEM: LazyLock<ByName<System>> = LazyLock::new(|| {
    by_name(include_str!("system.txt"), |state| match state {
        "open" => System::Open,
        _ => System::Locked,
    })
});

static AUTOLOAD: LazyLock<ByName<&'static str>> =
    LazyLock::new(|| by_name(include_str!("autoload.txt"), |library| library));

static HOOKS: LazyLock<ByName<()>> = LazyLock::new(|| {
    let mut hooks: ByName<()> = HashMap::new();
    for (name, arity) in include_str!("hooks.txt").lines().filter_map(indicator) {
        hooks.entry(name).or_default().push((arity, ()));
    }
    hooks
});

static LIBRARIES: LazyLock<HashMap<&'static str, Vec<(String, usize)>>> = LazyLock::new(|| {
    let mut libraries: HashMap<&'static str, Vec<(String, usize)>> = HashMap::new();
    for line in include_str!("libraries.txt").lines() {
        // A library that exports nothing is a line of its own.
        let (library, export) = line.split_once(' ').unwrap_or((line, ""));
        libraries
            .entry(library)
            .or_default()
            .extend(indicator(export));
    }
    libraries
});

static REWRITING: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    include_str!("rewriting.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect()
});

/// How SWI-Prolog treats a user clause for its builtin `name/arity`; `None` if it has no such builtin.
pub(crate) fn system(name: &str, arity: usize) -> Option<System> {
    // `call/N` exists for every N from 1 on.
    if name == "call" && arity > 0 {
        return Some(System::Locked);
    }
    find(&SYSTEM, name, arity)
}

/// The arities with which `name` is a builtin, in ascending order (of `call/N`, only the first few).
pub(crate) fn system_arities(name: &str) -> impl Iterator<Item = usize> {
    let mut arities: Vec<usize> = SYSTEM
        .get(name)
        .into_iter()
        .flatten()
        .map(|&(arity, _)| arity)
        .collect();
    arities.sort_unstable();
    arities.into_iter()
}

/// What `library(library)` exports, by name and arity; `None` if rule files may not load it.
pub(crate) fn library_exports(library: &str) -> Option<&'static [(String, usize)]> {
    LIBRARIES.get(library).map(Vec::as_slice)
}

/// Why a rule file may not load `library(library)`: what it changes in the file that loads it.
/// `None` says only that nothing of the kind is recorded.
pub(crate) fn rewriting(library: &str) -> Option<&'static str> {
    REWRITING.get(library).copied()
}

/// The library from which SWI-Prolog would load an undefined `name/arity` at its first call.
pub(crate) fn autoloaded(name: &str, arity: usize) -> Option<&'static str> {
    find(&AUTOLOAD, name, arity)
}

/// Whether a clause for `name/arity` would change how SWI-Prolog loads the rest of the program.
pub(crate) fn hook(name: &str, arity: usize) -> bool {
    find(&HOOKS, name, arity).is_some()
}

fn find<T: Copy>(table: &ByName<T>, name: &str, arity: usize) -> Option<T> {
    table
        .get(name)?
        .iter()
        .find(|&&(known, _)| known == arity)
        .map(|&(_, value)| value)
}

/// Reads lines of `name/arity value`.
fn by_name<T>(text: &'static str, value: impl Fn(&'static str) -> T) -> ByName<T> {
    let mut table: ByName<T> = HashMap::new();
    for line in text.lines() {
        if let Some((key, rest)) = line.rsplit_once(' ')
            && let Some((name, arity)) = indicator(key)
        {
            table.entry(name).or_default().push((arity, value(rest)));
        }
    }
    table
}

/// Reads `name/arity`, the name as `writeq` writes it.
fn indicator(text: &str) -> Option<(String, usize)> {
    let (name, arity) = text.rsplit_once('/')?;
    Some((unquote(name), arity.parse().ok()?))
}

/// Undoes `writeq`'s quotes. Names of predicates need no other escape than these.
fn unquote(name: &str) -> String {
    match name
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
    {
        Some(inner) => inner.replace("\\'", "'").replace("\\\\", "\\"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_locked_open_or_unknown() {
        assert_eq!(system("atom_length", 2), Some(System::Locked));
        assert_eq!(system(",", 2), Some(System::Locked));
        assert_eq!(system("\\+", 1), Some(System::Locked));
        assert_eq!(system("!", 0), Some(System::Locked));
        assert_eq!(system("->", 2), Some(System::Locked));
        assert_eq!(system("*->", 2), Some(System::Locked));
        assert_eq!(system(":", 2), Some(System::Locked));
        assert_eq!(system("call", 12), Some(System::Locked));
        assert_eq!(system("call", 0), None);
        assert_eq!(system("not", 1), Some(System::Open));
        assert_eq!(system("print_message", 2), Some(System::Open));
        assert_eq!(system("atom_length", 3), None);
        assert_eq!(system("append", 3), None);
        assert_eq!(system("may_execute_tool", 2), None);
    }

    #[test]
    fn every_line_is_read() {
        let pairs = |table: &ByName<System>| table.values().map(Vec::len).sum::<usize>();
        assert_eq!(pairs(&SYSTEM), include_str!("system.txt").lines().count());
        assert_eq!(
            AUTOLOAD.values().map(Vec::len).sum::<usize>(),
            include_str!("autoload.txt").lines().count()
        );
        assert_eq!(
            HOOKS.values().map(Vec::len).sum::<usize>(),
            include_str!("hooks.txt").lines().count()
        );
        assert_eq!(
            LIBRARIES
                .values()
                .map(|exports| exports.len().max(1))
                .sum::<usize>(),
            include_str!("libraries.txt").lines().count()
        );
        assert_eq!(
            REWRITING.len(),
            include_str!("rewriting.txt").lines().count()
        );
    }

    #[test]
    fn every_state_is_a_known_word() {
        for line in include_str!("system.txt").lines() {
            assert!(
                line.ends_with(" open") || line.ends_with(" locked"),
                "{line}"
            );
        }
    }

    #[test]
    fn names_are_unquoted() {
        assert_eq!(unquote("member"), "member");
        assert_eq!(unquote("'[|]'"), "[|]");
        assert_eq!(unquote("'a\\'b\\\\c'"), "a'b\\c");
        assert_eq!(system("[|]", 2), Some(System::Locked));
        assert!(SYSTEM.keys().all(|name| !name.starts_with('\'')));
    }

    #[test]
    fn arities_of_a_builtin_are_sorted() {
        assert_eq!(system_arities("format").collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(system_arities("no such builtin").count(), 0);
    }

    #[test]
    fn libraries_are_accepted_rewriting_or_neither() {
        let lists = library_exports("lists").unwrap();
        assert!(
            lists
                .iter()
                .any(|(name, arity)| name == "member" && *arity == 2)
        );
        assert!(library_exports("dcg/basics").is_some());
        assert!(library_exports("plunit").is_some());
        assert!(library_exports("tabling").is_some_and(<[_]>::is_empty));
        assert_eq!(library_exports("yall"), None);
        assert_eq!(rewriting("yall"), Some("rewrites goals"));
        assert_eq!(rewriting("lists"), None);
        assert!(
            REWRITING
                .keys()
                .all(|library| library_exports(library).is_none())
        );
    }

    #[test]
    fn libraries_that_are_named_in_the_design_are_accepted() {
        for library in [
            "lists",
            "apply",
            "aggregate",
            "pairs",
            "option",
            "error",
            "debug",
            "readutil",
            "strings",
            "tabling",
            "plunit",
        ] {
            assert!(library_exports(library).is_some(), "{library}");
        }
    }

    #[test]
    fn the_autoloader_knows_the_libraries() {
        assert_eq!(autoloaded("append", 3), Some("lists"));
        assert_eq!(autoloaded("append", 7), None);
        assert_eq!(autoloaded("maplist", 3), Some("apply"));
    }

    #[test]
    fn hooks_go_by_arity() {
        assert!(hook("term_expansion", 2));
        assert!(hook("term_expansion", 4));
        assert!(!hook("term_expansion", 3));
        assert!(!hook("resource", 2));
    }
}
