//! From the arguments to a rulebase, and from there to a bound allowlist.
//!
//! Nothing here decides.

use crate::args::{Authority, Limits, Rules};
use crate::problem::Problem;
use crate::{files, guard, render};
use horngate::{Allowlist, Diagnostic, Model, PredicateKey, Rulebase, Severity};
use std::collections::HashSet;
use std::path::PathBuf;

/// An allowlist that decides.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) allowlist: Allowlist,
    /// What people should know of the rules, a line each.
    remarks: Vec<String>,
}

impl Bound {
    /// Tells people what they should know of the rules, on standard error.
    pub(crate) fn tell(&self) {
        self.remarks.iter().for_each(|remark| render::tell(remark));
    }
}

/// The kinds of finding for which no gate is built on an allowlist unless its builder says why.
const DOUBTFUL: [&str; 3] = ["default-allow", "always-true", "cartesian-grant"];

/// Does something with the rulebase of the files that the paths name. They are loaded piece by piece; when that or
/// the work fails all is done again over whole texts, which can say why.
pub(crate) fn with<T>(
    paths: &[PathBuf],
    work: impl Fn(&Rulebase) -> Result<T, Problem>,
) -> Result<T, Problem> {
    if let Some(rulebase) = files::load(paths)?
        && let Ok(done) = work(&rulebase)
    {
        return Ok(done);
    }
    work(&Rulebase::load(files::read(paths)?)?)
}

/// Reads the rules, derives the allowlist's slice and binds it, all within the limits.
pub(crate) fn bind(
    rules: &Rules,
    authority: &Authority,
    limits: &Limits,
) -> Result<Bound, Problem> {
    let (paths, authority, budget) = (rules.paths.clone(), authority.clone(), limits.budget());
    guard::run(limits.timeout, move || {
        let wanted = &authority.allowlist;
        with(&paths, |rulebase| {
            let model = rulebase.evaluate_slice(std::slice::from_ref(&wanted.key), &budget)?;
            keep(&model);
            let prefix = &authority.tool_prefix;
            let allowlist = Allowlist::bind_with_prefix(&model, &wanted.text, prefix)?;
            Ok(Bound {
                remarks: remarks(rulebase, &wanted.key),
                allowlist,
            })
        })
    })
}

/// Keeps a model until the process ends, which is soon: taking a large one apart would only cost time.
pub(crate) fn keep(model: &Model) {
    std::mem::forget(model.clone());
}

/// The names of the predicates that the allowlist depends on, as diagnostics name them.
pub(crate) fn slice(rulebase: &Rulebase, key: &PredicateKey) -> HashSet<String> {
    rulebase
        .slice(key)
        .into_iter()
        .map(ToString::to_string)
        .collect()
}

fn remarks(rulebase: &Rulebase, key: &PredicateKey) -> Vec<String> {
    let slice = slice(rulebase, key);
    let of_slice = |found: &Diagnostic| {
        found
            .predicate
            .as_ref()
            .is_some_and(|predicate| slice.contains(predicate))
    };
    let all = rulebase.diagnostics().iter();
    let mut remarks: Vec<String> = all
        .clone()
        .filter(|found| DOUBTFUL.contains(&found.code.kind()) && of_slice(found))
        .map(|found| {
            format!(
                "{}: {}: {}",
                found.severity,
                found.code.kind(),
                found.message
            )
        })
        .collect();
    let is_fault = |found: &&Diagnostic| found.severity == Severity::Error;
    let faults = match all.filter(is_fault).count() {
        0 => return remarks,
        1 => "1 fault".to_owned(),
        count => format!("{count} faults"),
    };
    // The slice of what is bound has no fault.
    remarks.push(format!(
        "note: {faults} outside the slice of {key}; see horngate check"
    ));
    remarks
}
