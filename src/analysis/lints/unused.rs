//! Predicates that are defined and that nothing uses: no rule, no convention, no export.
//!
//! Nothing here can know what is asked from outside; it keeps silent about whatever looks like an answer.

use super::Subject;
use crate::analysis::rule::PredicateId;
use crate::analysis::shape;
use crate::diagnostic::{Code, Diagnostic};
use crate::key::PredicateKey;
use crate::syntax::{ClauseKind, Term, TermKind};

#[expect(
    clippy::iter_over_hash_type,
    reason = "crepe's own sets; the answers are sorted"
)]
mod questions {
    //! Who is named by nobody outside of its own recursion.

    crepe::crepe! {
        @input
        pub(super) struct Mentions(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct InComponent(pub(super) u32, pub(super) u32);
        @input
        pub(super) struct Candidate(pub(super) u32);

        struct Used(u32);
        @output
        pub(super) struct Unused(pub(super) u32);

        Used(q) <- Mentions(p, q), InComponent(p, c), InComponent(q, d), (c != d);
        Unused(q) <- Candidate(q), !Used(q);
    }
}

pub(super) fn all(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    // Without anything that is asked from outside nothing says what the rules are for; but what a module keeps to itself
    // nobody else can ask.
    let asked = subject
        .predicates
        .iter()
        .any(|(_, known)| known.is_defined() && shape::grants(&known.key));
    let candidates: Vec<PredicateId> = subject
        .predicates
        .iter()
        .filter(|(_, known)| {
            let exported = subject.module.is_some_and(|module| {
                !known.private && known.defined.iter().any(|(file, _)| *file == module)
            });
            known.is_defined()
                && known.faults.is_empty()
                && (known.private || (asked && !exported))
                // A name with two numbers of arguments is told of in other words.
                && subject.predicates.arities(known.key.name()).len() == 1
                && !shape::is_answer(&known.key)
        })
        .map(|(id, _)| id)
        .collect();
    // A clause that could not be read may be meant to use it.
    if candidates.is_empty() || subject.unread.contains(&true) {
        return;
    }
    let mut program = questions::Crepe::new();
    program.extend(candidates.iter().map(|id| questions::Candidate(id.0)));
    for (id, _) in subject.predicates.iter() {
        program.extend([questions::InComponent(id.0, subject.graph.component_of(id))]);
    }
    for (id, clause) in subject.clauses {
        if let ClauseKind::Rule(_, body)
        | ClauseKind::Grammar(_, body)
        | ClauseKind::SingleSided(_, body) = &clause.kind
        {
            mentions(subject, body, &mut |callee| {
                program.extend([questions::Mentions(id.0, callee.0)]);
            });
        }
    }
    let (unused,) = program.run();
    let mut unused: Vec<PredicateId> = unused
        .into_iter()
        .map(|questions::Unused(id)| PredicateId(id))
        .collect();
    unused.sort_unstable();
    for known in unused
        .into_iter()
        .filter_map(|id| subject.predicates.get(id))
    {
        let Some(place) = known.place() else { continue };
        found.push(
            Diagnostic::new(
                Code::UnusedPredicate,
                place,
                format!("no rule uses `{}`", known.key),
            )
            .help("mend its name if a rule is meant to use it; remove it if it is left over")
            .of(&known.key),
        );
    }
}

/// Every predicate whose name and arity occur in a body, also in what is refused there: that is use enough.
fn mentions(subject: &Subject<'_>, term: &Term, visit: &mut impl FnMut(PredicateId)) {
    if let Some((name, arity)) = term.functor()
        && subject.predicates.arities(name).contains(&arity)
        && let Some(id) = subject.predicates.find(&PredicateKey::new(name, arity))
    {
        visit(id);
    }
    match &term.kind {
        TermKind::Compound(_, parts)
        | TermKind::Conjunction(parts)
        | TermKind::Disjunction(parts) => {
            parts.iter().for_each(|part| mentions(subject, part, visit));
        }
        TermKind::List(items, tail) => {
            items.iter().for_each(|item| mentions(subject, item, visit));
            if let Some(tail) = tail {
                mentions(subject, tail, visit);
            }
        }
        _ => {}
    }
}
