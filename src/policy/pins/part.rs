//! A part of a tree and its place in the text, for errors that say where.
//!
//! Nothing here knows the forms of lists.

use super::forms::ToolListError;
use super::tree::Tree;
use std::fmt;

/// A part of the text and its place, as `tools.repl` or `[3].name`.
pub(super) struct Part<'t> {
    pub(super) place: String,
    pub(super) tree: &'t Tree,
}

impl<'t> Part<'t> {
    pub(super) fn whole(tree: &'t Tree) -> Self {
        Part {
            place: String::new(),
            tree,
        }
    }

    pub(super) fn error(&self, message: impl fmt::Display) -> ToolListError {
        match self.place.as_str() {
            "" => ToolListError::new("", message),
            place => ToolListError::new(&format!("at `{place}`"), message),
        }
    }

    pub(super) fn wanted(&self, what: &str) -> ToolListError {
        self.error(format!("{what} is wanted here, not {}", self.tree.kind()))
    }

    fn inner(&self, key: &str, tree: &'t Tree) -> Part<'t> {
        let plain = key.chars().all(|c| c.is_alphanumeric() || c == '_') && !key.is_empty();
        let place = match (self.place.as_str(), plain) {
            ("", true) => key.to_owned(),
            (outer, true) => format!("{outer}.{key}"),
            (outer, false) => format!("{outer}[{key:?}]"),
        };
        Part { place, tree }
    }

    pub(super) fn get(&self, key: &str) -> Option<Part<'t>> {
        Some(self.inner(key, self.tree.get(key)?))
    }

    /// The value of a key; one that is `null` is as good as missing.
    pub(super) fn given(&self, key: &str) -> Option<Part<'t>> {
        self.get(key).filter(|part| *part.tree != Tree::Null)
    }

    pub(super) fn need(&self, key: &str) -> Result<Part<'t>, ToolListError> {
        self.get(key)
            .ok_or_else(|| self.error(format!("`{key}` is missing")))
    }

    pub(super) fn entries(
        &self,
    ) -> Result<impl Iterator<Item = (&'t str, Part<'t>)>, ToolListError> {
        match self.tree {
            Tree::Map(entries) => Ok(entries
                .iter()
                .map(|(key, tree)| (key.as_str(), self.inner(key, tree)))),
            _ => Err(self.wanted("an object")),
        }
    }

    pub(super) fn items(&self) -> Result<impl Iterator<Item = Part<'t>>, ToolListError> {
        match self.tree {
            Tree::List(items) => Ok(items.iter().enumerate().map(|(at, tree)| Part {
                place: format!("{}[{at}]", self.place),
                tree,
            })),
            _ => Err(self.wanted("a list")),
        }
    }

    pub(super) fn text(&self) -> Result<&'t str, ToolListError> {
        match self.tree {
            Tree::String(text) => Ok(text),
            _ => Err(self.wanted("a string")),
        }
    }

    /// The name of a tool or an agent.
    pub(super) fn name(&self) -> Result<&'t str, ToolListError> {
        match self.text()? {
            "" => Err(self.error("an empty name")),
            name => Ok(name),
        }
    }

    pub(super) fn only(&self, known: &[&str]) -> Result<(), ToolListError> {
        for (key, part) in self.entries()? {
            if !known.contains(&key) {
                let fields: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
                return Err(part.error(format!("unknown field; known are {}", fields.join(", "))));
            }
        }
        Ok(())
    }
}
