//! What the line editor knows of rules: completion, and whether a line is whole.
//!
//! Nothing here evaluates anything.

use super::session::{COMMANDS, Session};
use horngate::Rulebase;
use horngate::syntax::quoted_atom;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::cell::RefCell;

/// How many candidates are offered.
const MAX_OFFERED: usize = 200;

/// The helper of the line editor.
pub(crate) struct Assistant {
    pub(crate) session: Session,
    files: FilenameCompleter,
    /// The names of the rules, found when they are first wanted.
    names: RefCell<Option<Names>>,
}

/// What can stand in a goal.
pub(crate) struct Names {
    /// How often rules had been loaded when they were found.
    loads: usize,
    /// As written, with the bracket of a call; and as shown. Sorted.
    names: Vec<(String, String)>,
}

impl Assistant {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session,
            files: FilenameCompleter::new(),
            names: RefCell::new(None),
        }
    }

    fn names(&self, start: &str) -> Vec<Pair> {
        let Some(rulebase) = self.session.rulebase() else {
            return Vec::new();
        };
        let loads = self.session.loads();
        let mut known = self.names.borrow_mut();
        if known.as_ref().is_none_or(|known| known.loads != loads) {
            *known = Some(Names::of(rulebase, loads));
        }
        known
            .as_ref()
            .map(|known| known.starting(start))
            .unwrap_or_default()
    }
}

impl Names {
    fn of(rulebase: &Rulebase, loads: usize) -> Self {
        let predicates = rulebase.predicates().map(|key| {
            let name = quoted_atom(key.name()).to_string();
            let bracket = if key.arity() > 0 { "(" } else { "" };
            (format!("{name}{bracket}"), key.to_string())
        });
        let atoms = rulebase.atoms().map(|atom| {
            let atom = quoted_atom(atom).to_string();
            (atom.clone(), atom)
        });
        let mut names: Vec<(String, String)> = predicates.chain(atoms).collect();
        names.sort_unstable();
        names.dedup();
        Self { loads, names }
    }

    fn starting(&self, start: &str) -> Vec<Pair> {
        let from = self
            .names
            .partition_point(|(name, _)| name.as_str() < start);
        let names = self.names.iter().skip(from);
        names
            .take_while(|(name, _)| name.starts_with(start))
            .take(MAX_OFFERED)
            .map(|(name, shown)| Pair {
                display: shown.clone(),
                replacement: name.clone(),
            })
            .collect()
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..position).unwrap_or(line);
        if before.trim_start().starts_with(":load ") {
            return self.files.complete(line, position, context);
        }
        let start = word_start(before);
        let word = before.get(start..).unwrap_or("");
        if word.starts_with(':') {
            let commands = COMMANDS.iter().filter(|(name, ..)| name.starts_with(word));
            let offered = commands.map(|(name, argument, _)| Pair {
                display: format!("{name} {argument}"),
                replacement: match argument.is_empty() {
                    true => (*name).to_owned(),
                    false => format!("{name} "),
                },
            });
            return Ok((start, offered.collect()));
        }
        match word {
            // Everything is no help.
            "" => Ok((start, Vec::new())),
            word => Ok((start, self.names(word))),
        }
    }
}

/// Where the last word starts: a name, a quoted name that is not closed, or a command at the start of the line.
pub(crate) fn word_start(before: &str) -> usize {
    let (mut quoted, mut plain) = (None, 0);
    for (at, c) in before.char_indices() {
        match (quoted, c) {
            (None, '\'') => quoted = Some(at),
            (Some(_), '\'') => (quoted, plain) = (None, at + c.len_utf8()),
            (Some(_), _) => {}
            (None, ':') if before.get(..at).is_some_and(|text| text.trim().is_empty()) => {
                plain = at
            }
            (None, c) if c.is_alphanumeric() || c == '_' => {}
            (None, c) => plain = at + c.len_utf8(),
        }
    }
    quoted.unwrap_or(plain)
}

impl Validator for Assistant {
    /// A goal goes on in the next line while a bracket is open, or behind a comma.
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_whole(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

/// Whether a goal needs no further line.
pub(crate) fn is_whole(input: &str) -> bool {
    let (mut open, mut quote) = (0_usize, None);
    for c in input.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(end), c) if c == end => quote = None,
            (Some(_), _) => {}
            (None, '(' | '[') => open += 1,
            (None, ')' | ']') => open = open.saturating_sub(1),
            _ => {}
        }
    }
    // A quote that is not closed is a mistake to be told, since it must not go over lines.
    quote.is_some() || (open == 0 && !input.trim_end().ends_with(','))
}

impl Highlighter for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Helper for Assistant {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_start_where_a_name_does() {
        for (before, word) in [
            ("", ""),
            ("may", "may"),
            (":wh", ":wh"),
            (":why may_ex", "may_ex"),
            ("p(X, tool_", "tool_"),
            ("p('U:Q", "'U:Q"),
            ("p('U:Qa', ", ""),
            ("p('U:Qa', b_", "b_"),
            ("\\+ q", "q"),
            ("é", "é"),
        ] {
            assert_eq!(before.get(word_start(before)..), Some(word), "{before}");
        }
    }

    #[test]
    fn a_goal_goes_on_while_it_is_open() {
        for whole in [
            "",
            "p(X)",
            "p(X).",
            "p(X), q(X)",
            "p('(')",
            "p(X))",
            "p('a",
            ":why p(X)",
        ] {
            assert!(is_whole(whole), "{whole}");
        }
        for open in ["p(", "p(X),", "p([a, b", ":why p(X, ", "p(X),\n  q(Y), "] {
            assert!(!is_whole(open), "{open}");
        }
    }
}
