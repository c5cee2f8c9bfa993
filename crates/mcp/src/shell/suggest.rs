//! The facts that would grant what was used.
//!
//! Nothing here grants: it is a text for somebody to read, who then puts into the rules what they mean.

use super::guard::Used;
use super::{ProxyError, tell};
use horngate::Allowlist;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub(super) struct Suggestions {
    path: PathBuf,
    predicate: String,
    actor: String,
    prefix: String,
    used: BTreeSet<Used>,
    written: bool,
}

impl Suggestions {
    pub(super) fn new(path: &Path, allowlist: &Allowlist, actor: &str) -> Result<Self, ProxyError> {
        let mut suggestions = Self {
            path: path.to_owned(),
            predicate: allowlist.predicate().name().to_owned(),
            actor: actor.to_owned(),
            prefix: allowlist.tool_prefix().to_owned(),
            used: BTreeSet::new(),
            written: false,
        };
        suggestions.write()?;
        Ok(suggestions)
    }

    pub(super) fn add(&mut self, used: Used) -> Result<(), ProxyError> {
        match self.used.insert(used) {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Writes the file anew, whole or not at all.
    fn write(&mut self) -> Result<(), ProxyError> {
        let path = self.path.clone();
        let unwritten = |error| ProxyError::Unwritten(path, error);
        let folder = match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let beside = folder.join(format!(".{name}.{}", std::process::id()));
        let written = std::fs::File::create_new(&beside).and_then(|mut file| {
            file.write_all(self.text().as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, &self.path)
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&beside);
        }
        self.written = written.is_ok();
        written.map_err(unwritten)
    }

    fn text(&self) -> String {
        let mut text = "% What was used and is not granted. Read it, and copy into the rules what you mean to grant.\n"
            .to_owned();
        let actor = quoted(&self.actor);
        let predicate = quoted(&self.predicate);
        for used in &self.used {
            let _ = match used {
                Used::Tool(tool) => {
                    let tool = quoted(&format!("{}{tool}", self.prefix));
                    writeln!(text, "{predicate}({actor}, {tool}).")
                }
                Used::Resource(uri) => {
                    writeln!(text, "may_read_resource({actor}, {}).", quoted(uri))
                }
                Used::Prompt(name) => writeln!(text, "may_use_prompt({actor}, {}).", quoted(name)),
            };
        }
        text
    }
}

impl Drop for Suggestions {
    fn drop(&mut self) {
        if !self.written {
            return;
        }
        let count = self.used.len();
        let path = self.path.display();
        tell(&format!(
            "wrote `{path}`: facts for {count} things that were used without a grant"
        ));
    }
}

/// An atom as it is written in rules.
fn quoted(text: &str) -> String {
    let mut chars = text.chars();
    let plain = chars.next().is_some_and(|c| c.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain {
        return text.to_owned();
    }
    let mut shown = "'".to_owned();
    for c in text.chars() {
        let _ = match c {
            '\'' => write!(shown, "\\'"),
            '\\' => write!(shown, "\\\\"),
            c if horngate_gate::visible(c.encode_utf8(&mut [0; 4])).len() > c.len_utf8() => {
                write!(shown, "\\x{:x}\\", u32::from(c))
            }
            c => write!(shown, "{c}"),
        };
    }
    shown.push('\'');
    shown
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use horngate::{Allowlist, Budget, Rulebase, Source};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_grants_what_was_used(actor in "[ -~é\n]{1,8}", tool in "[a-zA-Z0-9_./:-]{1,8}") {
            let tool_atom = quoted(&format!("tool_{tool}"));
            let rules = format!("may_execute_tool({}, {tool_atom}).\n", quoted(&actor));
            let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
            let model = rulebase.evaluate(&Budget::default()).unwrap();
            let allowlist = Allowlist::bind(&model, "may_execute_tool/2").unwrap();
            prop_assert!(allowlist.decide(&actor, &tool).is_allow());
        }
    }
}
