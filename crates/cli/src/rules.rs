//! From the arguments to a rulebase, and from there to a bound allowlist.
//!
//! Nothing here decides.

use crate::args::{Authority, Limits, Rules};
use crate::files::Keep;
use crate::problem::Problem;
use crate::{files, guard, render};
use horngate::{Allowlist, Budget, Diagnostic, PredicateKey, Program, Rulebase, Severity, Sources};
use std::path::PathBuf;

/// An allowlist that decides.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) allowlist: Allowlist,
    /// What people should know of the rules, a line each.
    remarks: Vec<String>,
}

impl Bound {
    /// What people should know of the rules, a line each.
    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Tells people what they should know of the rules, on standard error.
    pub(crate) fn tell(&self) {
        self.remarks.iter().for_each(|remark| render::tell(remark));
    }
}

/// Does something with the rulebase of the files that the paths name. They are loaded piece by piece; when that or
/// the work fails all is done again over whole texts, which can say why. Only a budget that ran out is not spent
/// twice: the texts are read to show the place.
pub(crate) fn with<T>(
    paths: &[PathBuf],
    budget: &Budget,
    work: impl Fn(&Rulebase) -> Result<T, Problem>,
) -> Result<T, Problem> {
    with_kept(paths, budget, Keep::Nothing, work)
}

fn with_kept<T>(
    paths: &[PathBuf],
    budget: &Budget,
    keep: Keep,
    work: impl Fn(&Rulebase) -> Result<T, Problem>,
) -> Result<T, Problem> {
    if let Some(rulebase) = files::load(paths, budget, keep)? {
        match work(&rulebase) {
            Ok(done) => return Ok(done),
            Err(problem) if problem.is_of_a_budget() => {
                drop(rulebase);
                return Err(problem.over(files::read(paths)?));
            }
            Err(_) => {}
        }
    }
    work(&whole(paths, budget)?)
}

/// Reads the rules, derives the allowlist's slice and binds it, all within the limits.
pub(crate) fn bind(
    rules: &Rules,
    authority: &Authority,
    limits: &Limits,
    keep: Keep,
) -> Result<Bound, Problem> {
    let (paths, authority, budget) = (rules.paths.clone(), authority.clone(), limits.budget());
    guard::run(limits.timeout, move || {
        bind_here(&paths, &authority, &budget, keep)
    })
}

/// The same once more in a process that goes on: nothing is kept that the allowlist does not hold.
pub(crate) fn bind_again(
    rules: &Rules,
    authority: &Authority,
    limits: &Limits,
    keep: Keep,
) -> Result<Bound, Problem> {
    let (paths, authority, budget) = (rules.paths.clone(), authority.clone(), limits.budget());
    guard::run(limits.timeout, move || {
        with_kept(&paths, &budget, keep, |rulebase| {
            bound(rulebase, &authority, &budget)
        })
    })
}

/// As [`bind`], in this thread.
pub(crate) fn bind_here(
    paths: &[PathBuf],
    authority: &Authority,
    budget: &Budget,
    keep: Keep,
) -> Result<Bound, Problem> {
    bind_here_with(paths, authority, budget, keep, &[])
}

/// The same; the predicates of these names are derived, too, whatever their arity.
pub(crate) fn bind_here_with(
    paths: &[PathBuf],
    authority: &Authority,
    budget: &Budget,
    keep: Keep,
    names: &[&str],
) -> Result<Bound, Problem> {
    let bound = with_kept(paths, budget, keep, |rulebase| {
        let named = rulebase
            .predicates()
            .filter(|key| names.contains(&key.name()));
        bound_of(rulebase, authority, budget, named)
    })?;
    self::keep(bound.allowlist.model());
    Ok(bound)
}

/// The rules of the files that the paths name, read whole.
pub(crate) fn whole(paths: &[PathBuf], budget: &Budget) -> Result<Rulebase, Problem> {
    let program = Program::parse_within(files::read(paths)?, budget);
    Ok(Rulebase::check(program).rulebase?)
}

/// Derives the allowlist's slice and binds it.
pub(crate) fn bound(
    rulebase: &Rulebase,
    authority: &Authority,
    budget: &Budget,
) -> Result<Bound, Problem> {
    bound_of(rulebase, authority, budget, [])
}

fn bound_of<'r>(
    rulebase: &'r Rulebase,
    authority: &Authority,
    budget: &Budget,
    others: impl IntoIterator<Item = &'r PredicateKey>,
) -> Result<Bound, Problem> {
    let wanted = &authority.allowlist;
    let mut roots = vec![wanted.key.clone()];
    roots.extend(others.into_iter().cloned());
    let model = rulebase
        .evaluate_slice(&roots, budget)
        .map_err(|exceeded| Problem::budget(rulebase.sources(), &exceeded))?;
    let prefix = &authority.tool_prefix;
    let allowlist = Allowlist::bind_with_prefix(&model, &wanted.text, prefix)?;
    Ok(Bound {
        remarks: remarks(rulebase, &allowlist),
        allowlist,
    })
}

/// The texts of the rules, read again if they were not kept: they tell where grants stand if [`Keep::Places`] were. They may have changed since: see [`GrantingClauses`].
///
/// [`GrantingClauses`]: horngate::GrantingClauses
pub(crate) fn texts(allowlist: &Allowlist, paths: &[PathBuf]) -> Result<Sources, Problem> {
    let sources = allowlist.sources();
    if sources.iter().all(|(_, source)| source.has_text()) {
        return Ok(sources.clone());
    }
    Ok(Sources::new(files::read(paths)?))
}

/// Keeps rules, a model or answers until the process ends, which is soon: taking large ones apart would only cost time.
pub(crate) fn keep<T: Clone>(shared: &T) {
    std::mem::forget(shared.clone());
}

/// What no gate is built on unless its builder says why, and that there is more to say.
fn remarks(rulebase: &Rulebase, allowlist: &Allowlist) -> Vec<String> {
    let doubts = allowlist.doubts().iter();
    let mut remarks: Vec<String> = doubts
        .map(|doubt| {
            format!(
                "{}: {}: {}",
                doubt.severity,
                doubt.code.kind(),
                doubt.message
            )
        })
        .collect();
    let is_fault = |found: &&Diagnostic| found.severity == Severity::Error;
    let faults = match rulebase.diagnostics().iter().filter(is_fault).count() {
        0 => return remarks,
        1 => "1 fault".to_owned(),
        count => format!("{count} faults"),
    };
    // The slice of what is bound has no fault.
    remarks.push(format!(
        "note: {faults} outside the slice of {}; see horngate check",
        allowlist.predicate()
    ));
    remarks
}
