//! From the arguments to a rulebase, and from there to a bound allowlist.
//!
//! Nothing here decides.

use crate::args::{Authority, Limits, Rules};
use crate::problem::Problem;
use crate::{files, guard};
use horngate::{Allowlist, Rulebase, Severity};
use std::collections::HashSet;
use std::path::PathBuf;

/// An allowlist that decides.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) allowlist: Allowlist,
    /// What is wrong elsewhere in the rules, in one line.
    pub(crate) elsewhere: Option<String>,
}

/// The rulebase of the files that the paths name.
pub(crate) fn rulebase(paths: &[PathBuf]) -> Result<Rulebase, Problem> {
    Ok(Rulebase::load(files::read(paths)?)?)
}

/// Reads the rules, derives the allowlist's slice and binds it, all within the limits.
pub(crate) fn bind(
    rules: &Rules,
    authority: &Authority,
    limits: &Limits,
) -> Result<Bound, Problem> {
    let (paths, authority, budget) = (rules.paths.clone(), authority.clone(), limits.budget());
    guard::run(limits.timeout, move || {
        let rulebase = rulebase(&paths)?;
        let wanted = &authority.allowlist;
        let model = rulebase.evaluate_slice(std::slice::from_ref(&wanted.key), &budget)?;
        let allowlist = Allowlist::bind_with_prefix(&model, &wanted.text, &authority.tool_prefix)?;
        Ok(Bound {
            elsewhere: elsewhere(&rulebase, &allowlist),
            allowlist,
        })
    })
}

/// The names of the predicates that the allowlist depends on, as diagnostics name them.
pub(crate) fn slice(rulebase: &Rulebase, key: &horngate::PredicateKey) -> HashSet<String> {
    rulebase
        .slice(key)
        .into_iter()
        .map(ToString::to_string)
        .collect()
}

fn elsewhere(rulebase: &Rulebase, allowlist: &Allowlist) -> Option<String> {
    let key = allowlist.predicate();
    let count = rulebase
        .diagnostics()
        .iter()
        .filter(|found| found.severity == Severity::Error)
        .count();
    // The slice of what is bound has no fault.
    match count {
        0 => None,
        1 => Some(format!(
            "note: 1 fault outside the slice of {key}; see horngate check"
        )),
        _ => Some(format!(
            "note: {count} faults outside the slice of {key}; see horngate check"
        )),
    }
}
