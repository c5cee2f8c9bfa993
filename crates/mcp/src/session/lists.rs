//! Lists: every page of every list is filtered by what decides the calls.
//!
//! Nothing here shows a part of a list that was not filtered.

use super::{Sent, Session, Warden, Whom};
use crate::catalog::{Catalog, Lock};
use crate::frame::{INTERNAL_ERROR, INVALID_PARAMS, Outcome, error};
use crate::json::{Json, Object};
use crate::methods::{Asks, Meta};
use crate::session::Action;

/// How many pages a list may have, and how many tools.
const MAX_PAGES: usize = 256;
const MAX_TOOLS: usize = 4096;
/// How many bytes all its pages may have.
const MAX_BYTES: usize = 2 * crate::MAX_FRAME_BYTES;
/// How often a list is read again that changes while it is read.
const MAX_AGAIN: usize = 2;

/// Reads the whole list of tools, page by page.
#[derive(Debug)]
pub(super) struct Walk {
    /// What the list may depend on, as text.
    pub(super) key: String,
    meta: Option<Object>,
    pages: usize,
    bytes: usize,
    again: usize,
    items: Vec<Json>,
    /// The first page without its tools.
    head: Option<Object>,
    /// The server said meanwhile that the list has changed.
    pub(super) outdated: bool,
}

/// Something that waits for the list of tools.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) meta: Option<Object>,
    pub(super) wants: Wants,
}

#[derive(Debug)]
pub(super) enum Wants {
    List {
        whom: Whom,
        modern: bool,
    },
    Page {
        whom: Whom,
        params: Object,
        modern: bool,
    },
    Call(u64),
    /// A call that the gate has let pass, and that is to be compared once more.
    Release(u64),
}

const UNLISTED: &str = "the tools of the server cannot be listed";

pub(super) fn key_of(meta: Option<&Object>) -> String {
    meta.map(ToString::to_string).unwrap_or_default()
}

impl<W: Warden> Session<W> {
    /// Waits for the list of tools, which is read if nobody does.
    pub(super) fn wait_for_list(&mut self, waiter: Waiter) {
        self.waiting.push_back(waiter);
        self.walk_on();
    }

    fn walk_on(&mut self) {
        if self.walk.is_some() {
            return;
        }
        let Some(first) = self.waiting.front() else {
            return;
        };
        self.walk_from(first.meta.clone(), 0);
    }

    fn walk_from(&mut self, meta: Option<Object>, again: usize) {
        self.walk = Some(Walk {
            key: key_of(meta.as_ref()),
            meta,
            pages: 0,
            bytes: 0,
            again,
            items: Vec::new(),
            head: None,
            outdated: false,
        });
        self.walk_page(None);
    }

    /// Nothing waits any more for requests that are over.
    pub(super) fn stop_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        let waits = |waiter: &Waiter| match &waiter.wants {
            Wants::List { whom, .. } | Wants::Page { whom, .. } => self.waits(whom),
            Wants::Call(ticket) | Wants::Release(ticket) => self.calls.contains_key(ticket),
        };
        let waiting = waiting.into_iter().filter(waits).collect();
        self.waiting = waiting;
    }

    fn walk_page(&mut self, cursor: Option<Json>) {
        let mut params = Json::object();
        if let Some(walk) = &mut self.walk {
            walk.pages += 1;
            if let Some(meta) = &walk.meta {
                params.set("_meta", meta.clone());
            }
        }
        if let Some(cursor) = cursor {
            params.set("cursor", cursor);
        }
        self.send_server("tools/list", params, Sent::Walk);
    }

    /// A page of the proxy's own reading has arrived.
    pub(super) fn walked(&mut self, outcome: Outcome) {
        let mut result = match outcome {
            Outcome::Result(result) => result,
            Outcome::Error(error) => return self.walk_failed(error),
        };
        let bytes = self.frame_bytes;
        let Some(walk) = &mut self.walk else { return };
        walk.bytes = walk.bytes.saturating_add(bytes);
        let fail = |why: &str| error(INTERNAL_ERROR, &format!("the list of tools {why}"));
        let Some(Json::Array(items)) = result.remove("tools") else {
            return self.walk_failed(fail("is no list"));
        };
        walk.items.extend(items);
        let more = result.remove("nextCursor");
        Asks::ListTools.result(&mut result);
        walk.head.get_or_insert(result);
        let long = walk.items.len() > MAX_TOOLS || walk.bytes > MAX_BYTES;
        if long || (more.is_some() && walk.pages >= MAX_PAGES) {
            return self.walk_failed(fail("is too long"));
        }
        match more {
            Some(cursor @ Json::String(_)) => self.walk_page(Some(cursor)),
            Some(_) => self.walk_failed(fail("has a cursor that is no text")),
            None => self.walk_done(),
        }
    }

    fn walk_done(&mut self) {
        let Some(walk) = self.walk.take() else { return };
        if walk.outdated && walk.again < MAX_AGAIN {
            return self.walk_from(walk.meta, walk.again + 1);
        }
        let namespace = self.terms.namespace.as_ref();
        let mut catalog = Catalog::of(walk.items, namespace, &self.terms.lock);
        let generation = self.number();
        catalog.since(&self.catalog, generation);
        if let Some(lock) = catalog.lock.take() {
            self.out.push(Action::WriteLock(lock.to_string()));
            self.terms.lock = Lock::Reviewed(lock);
        }
        self.warden.install(&catalog.specs);
        let head = walk.head.unwrap_or_default();
        for (name, why) in &catalog.withheld {
            if self.catalog.withheld.get(name) != Some(why) {
                self.out.push(Action::Note(super::Note {
                    kind: super::NoteKind::Refused,
                    method: "tools/list".to_owned(),
                    subject: name.clone(),
                    reason: "withheld",
                    detail: why.clone(),
                }));
            }
        }
        self.catalog = catalog;
        self.fresh = (!walk.outdated).then(|| walk.key.clone());
        for waiter in self.served(&walk.key) {
            match waiter.wants {
                Wants::List { whom, modern } => {
                    let tools = self.catalog.shown(&self.warden.granted());
                    let result = filtered(head.clone(), "tools", tools, modern);
                    self.told.retain(|(method, _)| !method.contains("/tools/"));
                    self.answer(&whom, Outcome::Result(result));
                }
                Wants::Page {
                    whom,
                    params,
                    modern,
                } => {
                    self.forward(whom, "tools/list", params, Asks::ListTools, modern);
                }
                Wants::Call(ticket) => self.start(ticket),
                Wants::Release(ticket) => self.send_call(ticket),
            }
        }
        self.walk_on();
    }

    fn walk_failed(&mut self, error: Object) {
        let Some(walk) = self.walk.take() else { return };
        self.fresh = None;
        for waiter in self.served(&walk.key) {
            match waiter.wants {
                Wants::List { whom, .. } | Wants::Page { whom, .. } => {
                    self.answer(&whom, Outcome::Error(error.clone()));
                }
                Wants::Call(ticket) => self.deny_unstarted(ticket, "error", UNLISTED),
                Wants::Release(ticket) => self.hold_back(ticket, "error", UNLISTED),
            }
        }
        self.walk_on();
    }

    fn served(&mut self, key: &str) -> Vec<Waiter> {
        let waiting = std::mem::take(&mut self.waiting);
        let (served, others): (Vec<Waiter>, Vec<Waiter>) = waiting
            .into_iter()
            .partition(|waiter| key_of(waiter.meta.as_ref()) == key);
        self.waiting = others.into();
        served
    }

    /// Whether the list of tools that is known is the one for a request.
    pub(super) fn knows_list(&self, meta: Option<&Object>) -> bool {
        self.fresh.as_deref() == Some(&*key_of(meta))
    }

    /// The client asks for the list, or a page of it.
    pub(super) fn list_tools(&mut self, whom: Whom, mut params: Object, meta: Meta) {
        let (modern, lists) = (meta.is_modern(), meta.for_lists());
        let wants = match params.get("cursor") {
            None => Wants::List { whom, modern },
            Some(Json::String(_)) => {
                meta.put(&mut params);
                Wants::Page {
                    whom,
                    params,
                    modern,
                }
            }
            Some(_) => return self.answer_error(&whom, INVALID_PARAMS, "a cursor is a text"),
        };
        self.wait_for_list(Waiter { meta: lists, wants });
    }

    /// What the client gets to see of a list.
    pub(super) fn filter(
        &self,
        asks: Asks,
        mut result: Object,
        modern: bool,
    ) -> Result<Object, String> {
        let (member, key) = match asks {
            Asks::ListTools => ("tools", "name"),
            Asks::ListResources => ("resources", "uri"),
            Asks::ListTemplates => ("resourceTemplates", "uriTemplate"),
            Asks::ListPrompts => ("prompts", "name"),
            _ => return Ok(result),
        };
        let Some(Json::Array(items)) = result.remove(member) else {
            return Err(format!(
                "the answer of the server has no list of `{member}`"
            ));
        };
        let items = match asks {
            Asks::ListTools => self.catalog.only(items, &self.warden.granted()),
            _ => items
                .into_iter()
                .filter(|item| {
                    let name = item.as_object().and_then(|item| super::text(item, key));
                    name.is_some_and(|name| match asks {
                        Asks::ListPrompts => self.warden.may_use(name),
                        _ => self.warden.may_read(name),
                    })
                })
                .collect(),
        };
        Ok(filtered(result, member, items, modern))
    }
}

/// A list that is for one caller only.
fn filtered(mut result: Object, member: &str, items: Vec<Json>, modern: bool) -> Object {
    result.set(member, items);
    if modern || result.get("cacheScope").is_some() {
        result.set("cacheScope", "private");
    }
    result
}
