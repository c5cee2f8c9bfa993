//! The policy of a gate at one moment: the allowlist and what narrows it.
//!
//! Nothing here grants beyond the allowlist.

use crate::context::{Delegation, InvocationContext};
use crate::outcome::Reason;
use crate::spec::Level;
use horngate::{Allowlist, Argument, Decision, Restriction, RestrictionError};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Doubts about an allowlist on which no gate is built unless its builder names them and a reason.
///
/// ```
/// assert!(horngate_gate::DOUBTS.contains(&"default-allow"));
/// ```
pub const DOUBTS: [&str; 3] = ["default-allow", "always-true", "cartesian-grant"];

/// Why rules cannot be a gate's policy.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A predicate that narrows is not clean, or almost has the name of one.
    #[error(transparent)]
    Restriction(#[from] Box<RestrictionError>),
    /// A tuple that would narrow nothing.
    #[error("`{predicate}` has {tuple}, which restricts nothing: {help}")]
    Tuple {
        /// The predicate.
        predicate: String,
        /// The tuple.
        tuple: String,
        /// What to write.
        help: String,
    },
    /// The rules have no name, so that nothing can be approved under them.
    #[error("the rules were loaded without digests")]
    Unnamed,
    /// The allowlist is doubtful.
    #[error("{lint}: {message}; name the lint and a reason if that is meant")]
    Doubt {
        /// The lint.
        lint: String,
        /// What it found.
        message: String,
    },
}

/// What the rules demand of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) level: Level,
    pub(crate) reason: String,
}

/// A table by actor and tool.
type ByCall<T> = BTreeMap<Box<str>, BTreeMap<Box<str>, T>>;

/// The rules, bound.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) allowlist: Allowlist,
    demands: ByCall<Demand>,
    /// By actor and tool who may approve; `None` when the rules do not say.
    approvers: Option<ByCall<BTreeSet<String>>>,
}

impl Rules {
    /// Binds the predicates that narrow the allowlist. `accepted` names the doubts that its builder gave a reason for.
    pub(crate) fn bind(
        allowlist: Allowlist,
        accepted: &BTreeMap<String, String>,
    ) -> Result<Self, PolicyError> {
        let doubt = allowlist
            .doubts()
            .iter()
            .find(|doubt| !accepted.contains_key(doubt.code.kind()));
        if let Some(doubt) = doubt {
            return Err(PolicyError::Doubt {
                lint: doubt.code.kind().to_owned(),
                message: doubt.message.clone(),
            });
        }
        let bind = |name, arities: &[usize]| {
            Restriction::bind(allowlist.model(), name, arities).map_err(Box::new)
        };
        let mut demands: ByCall<Demand> = BTreeMap::new();
        for (name, level) in [
            ("confirm_tool", Level::Confirm),
            ("destructive_tool", Level::Destructive),
        ] {
            for bound in bind(name, &[2, 3])? {
                for row in bound.rows() {
                    let (actor, tool) = call_of(&bound, &row, 0, allowlist.tool_prefix())?;
                    let reason = match row.get(2) {
                        Some(reason) => reason.text().to_owned(),
                        None => format!("`{}` asks for it", bound.predicate()),
                    };
                    let slot = demands.entry(actor).or_default().entry(tool);
                    let demand = slot.or_insert_with(|| Demand {
                        level: Level::None,
                        reason: String::new(),
                    });
                    if level > demand.level {
                        *demand = Demand { level, reason };
                    }
                }
            }
        }
        let mut approvers = None;
        for bound in bind("may_approve", &[3])? {
            let table: &mut ByCall<BTreeSet<String>> = approvers.get_or_insert_default();
            for row in bound.rows() {
                let (actor, tool) = call_of(&bound, &row, 1, allowlist.tool_prefix())?;
                let Some(person) = row.first().and_then(Argument::atom) else {
                    return Err(restricts_nothing(&bound, &row, "a person is an atom"));
                };
                let people = table.entry(actor).or_default().entry(tool).or_default();
                people.insert(person.to_owned());
            }
        }
        Ok(Self {
            allowlist,
            demands,
            approvers,
        })
    }

    /// Decides one call: what is derived for it, as facts, or why it is denied.
    pub(crate) fn decide(
        &self,
        context: &InvocationContext,
        tool: &str,
        delegation: Delegation,
    ) -> Result<String, (Reason, String)> {
        let mut derivation = String::new();
        self.each_actor(context, delegation, |actor| {
            match self.allowlist.decide(actor, tool) {
                Decision::Allow(grant) => {
                    if !derivation.is_empty() {
                        derivation.push_str(", ");
                    }
                    let _ = write!(derivation, "{grant}");
                    Ok(())
                }
                Decision::Deny(denial) => Err((denial.reason.into(), denial.to_string())),
            }
        })?;
        Ok(derivation)
    }

    /// Whether a call is allowed.
    pub(crate) fn allows(
        &self,
        context: &InvocationContext,
        tool: &str,
        delegation: Delegation,
    ) -> bool {
        let decide = |actor: &str| match self.allowlist.decide(actor, tool) {
            Decision::Allow(_) => Ok(()),
            Decision::Deny(_) => Err(()),
        };
        self.each_actor(context, delegation, decide).is_ok()
    }

    /// Those who need a grant: the caller, or all for whom it acts, too.
    fn each_actor<E>(
        &self,
        context: &InvocationContext,
        delegation: Delegation,
        mut decide: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        match delegation {
            Delegation::Own => decide(context.actor()),
            Delegation::Intersect => context.chain().try_for_each(decide),
        }
    }

    /// The strictest that the rules demand of any actor of the chain.
    pub(crate) fn demand(&self, context: &InvocationContext, tool: &str) -> Option<&Demand> {
        if self.demands.is_empty() {
            return None;
        }
        context
            .chain()
            .filter_map(|actor| self.demands.get(actor)?.get(tool))
            .max_by_key(|demand| demand.level)
    }

    /// Whether `person` may approve a call of a chain of actors: nobody does who is a member of it, and where the rules
    /// say who may, they must say so of each member. Else an actor could choose who approves by whom it sends.
    pub(crate) fn may_approve<'a>(
        &self,
        person: &str,
        chain: impl IntoIterator<Item = &'a str>,
        tool: &str,
    ) -> bool {
        chain.into_iter().all(|actor| {
            actor != person
                && self.approvers.as_ref().is_none_or(|table| {
                    let people = table.get(actor).and_then(|tools| tools.get(tool));
                    people.is_some_and(|people| people.contains(person))
                })
        })
    }
}

/// The actor and the tool, without its prefix, of a tuple that has them from `at` on.
fn call_of(
    bound: &Restriction,
    row: &[Argument],
    at: usize,
    prefix: &str,
) -> Result<(Box<str>, Box<str>), PolicyError> {
    let atom = |at: usize| row.get(at).and_then(Argument::atom);
    let Some(actor) = atom(at) else {
        return Err(restricts_nothing(
            bound,
            row,
            "an actor is an atom, as in `'U:Qa'`",
        ));
    };
    let Some(tool) = atom(at + 1).and_then(|tool| tool.strip_prefix(prefix)) else {
        let help = format!("a tool is an atom that starts with `{prefix}`");
        return Err(restricts_nothing(bound, row, &help));
    };
    Ok((actor.into(), tool.into()))
}

fn restricts_nothing(bound: &Restriction, row: &[Argument], help: &str) -> PolicyError {
    let texts: Vec<&str> = row.iter().map(Argument::text).collect();
    PolicyError::Tuple {
        predicate: bound.predicate().to_string(),
        tuple: format!("({})", texts.join(", ")),
        help: help.to_owned(),
    }
}
