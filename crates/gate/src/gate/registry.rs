//! The tools of a gate.
//!
//! Nothing here hands out a tool: what leaves is what a tool says about itself.

use crate::digest::Digest;
use crate::schema::Schema;
use crate::spec::{ToolSpec, check_name, look};
use crate::tool::Erased;
use crate::visible::visible;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The server of tools that are in this process.
pub(crate) const LOCAL: &str = "local";

/// Why a tool cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}`: {reason}")]
pub struct ToolRefused {
    /// The tool's name.
    pub tool: String,
    /// Why not.
    pub reason: String,
}

/// A tool that exists and cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Its name, as the server gives it.
    pub name: String,
    /// Why it is hidden.
    pub reason: String,
}

/// One tool.
pub(crate) struct Entry {
    pub(crate) spec: ToolSpec,
    pub(crate) server: String,
    pub(crate) definition: Digest,
    pub(crate) schema: Schema,
    /// Why it needs no grant, if it needs none.
    pub(crate) confined: Option<&'static str>,
    pub(crate) tool: Box<dyn Erased>,
}

#[derive(Clone, Default)]
pub(crate) struct Registry {
    tools: BTreeMap<String, Arc<Entry>>,
    /// By what the eye sees the name.
    looks: BTreeMap<String, String>,
    pub(crate) hidden: Vec<Hidden>,
}

impl Registry {
    pub(crate) fn add(
        &mut self,
        spec: ToolSpec,
        server: &str,
        confined: Option<&'static str>,
        tool: Box<dyn Erased>,
    ) -> Result<(), ToolRefused> {
        let name = spec.name().to_owned();
        let refuse = |reason| ToolRefused {
            tool: visible(&name),
            reason,
        };
        check_name(&name).map_err(refuse)?;
        match self.looks.get(&look(&name)) {
            Some(other) if *other == name => {
                return Err(refuse("there is one of that name already".to_owned()));
            }
            Some(other) => return Err(refuse(format!("its name looks like `{other}`"))),
            None => {}
        }
        let schema = Schema::compile(spec.input_schema()).map_err(refuse)?;
        let entry = Entry {
            definition: spec.digest(server),
            spec,
            server: server.to_owned(),
            schema,
            confined,
            tool,
        };
        self.looks.insert(look(&name), name.clone());
        self.tools.insert(name, Arc::new(entry));
        Ok(())
    }

    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let shown = visible(name);
        self.hidden.retain(|hidden| hidden.name != shown);
        let known = self.tools.remove(name).is_some();
        if known {
            self.looks.remove(&look(name));
        }
        known
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Entry>> {
        self.tools.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.tools.values()
    }
}
