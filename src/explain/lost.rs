//! What a proof has lost: why what was derived once is derived no more.
//!
//! Nothing here looks for another derivation: that there is none is known before.

use super::proof::{Claim, Proof};
use crate::budget::Budget;
use crate::engine::Model;

/// The steps of a proof, as positions in [`Proof::steps`], that do not hold in another model although all that they
/// follow from does: facts that are gone, absences that are none any more, and conclusions whose clause is gone or is
/// another. Empty if the conclusion still holds. What the model leaves out is asked of its rules within the budget.
///
/// ```
/// use horngate::{Budget, Rulebase, Source, explain};
/// let model = |rules: &str| {
///     let rulebase = Rulebase::load([Source::new("a.pl", rules)]).unwrap();
///     rulebase.evaluate(&Budget::default()).unwrap()
/// };
/// let rule = "may(U) :- role(U, dev), \\+ blocked(U).\n:- dynamic blocked/1.\n";
/// let old = model(&format!("{rule}role(ann, dev)."));
/// let proof = explain::why(&old, "may(ann)").unwrap().unwrap();
/// let lost = |new: &str| {
///     let steps = explain::lost(&proof, &model(new), &Budget::default());
///     let text = |at: usize| proof.steps()[at].claim().to_string();
///     steps.into_iter().map(text).collect::<Vec<_>>()
/// };
/// assert_eq!(lost(&format!("{rule}role(ann, ops).")), ["role(ann,dev)"]);
/// assert_eq!(lost(&format!("{rule}role(ann, dev). blocked(ann).")), ["no blocked(ann)"]);
/// assert_eq!(lost("may(U) :- role(U, ops).\nrole(ann, dev)."), ["may(ann)"]);
/// ```
#[must_use]
pub fn lost(proof: &Proof, model: &Model, budget: &Budget) -> Vec<usize> {
    let steps = proof.steps();
    let mut known: Vec<Option<bool>> = vec![None; steps.len()];
    let mut holds = |at: usize| {
        let slot = known.get_mut(at)?;
        if slot.is_none() {
            *slot = Some(
                steps
                    .get(at)
                    .is_none_or(|step| still(step.claim(), model, budget)),
            );
        }
        *slot
    };
    let (mut lost, mut seen) = (Vec::new(), vec![false; steps.len()]);
    let mut pending = match holds(0) {
        Some(false) => vec![0],
        _ => Vec::new(),
    };
    while let Some(at) = pending.pop() {
        let Some(step) = steps.get(at) else { continue };
        let visited = seen.get_mut(at).map(|flag| std::mem::replace(flag, true));
        if visited != Some(false) {
            continue;
        }
        let gone = step
            .because()
            .iter()
            .filter(|at| holds(**at) == Some(false));
        let before = pending.len();
        pending.extend(gone);
        if pending.len() == before {
            lost.push(at);
        }
    }
    lost.sort_unstable();
    lost
}

/// Whether a claim holds in the model, too.
fn still(claim: &Claim, model: &Model, budget: &Budget) -> bool {
    let holds = |goal: &str| match model.query(goal) {
        Ok(answers) => Some(answers.holds()),
        // It may be outside the slice that was evaluated.
        Err(_) => {
            let answers = model.rulebase().query(goal, budget);
            answers.ok().map(|answers| answers.holds())
        }
    };
    match claim {
        Claim::Fact(goal) => holds(goal) == Some(true),
        Claim::Absent(goal) => holds(goal) != Some(true),
        Claim::Test(_) => true,
    }
}
