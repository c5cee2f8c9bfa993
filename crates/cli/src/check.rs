//! `horngate check`: all that is wrong or doubtful in rule files.
//!
//! Nothing here makes a fault smaller than it is, except with an allowlist, which need not be clean beyond its slice.

use crate::args::{Check, CheckFormat, Predicate};
use crate::json::{self, Grounds};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::{files, guard, render, sarif};
use horngate::{
    Budget, Code, Diagnostic, PredicateKey, Program, Review, Rulebase, Severity, Silenced, Source,
    Sources, Span,
};
use std::io;

/// All that was found.
pub(crate) struct Findings {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) silenced: Vec<Silenced>,
    /// What the allowlist rests on, if there is one to say it of.
    pub(crate) grounds: Option<Grounds>,
    /// Whether a budget ran out, so that something may be missing.
    incomplete: bool,
}

impl Findings {
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|found| found.severity == severity)
            .count()
    }

    fn outcome(&self, deny_warnings: bool) -> Outcome {
        if self.incomplete {
            return Outcome::NoAnswer;
        }
        let warned = deny_warnings && self.count(Severity::Warning) > 0;
        Outcome::of(self.count(Severity::Error) == 0 && !warned)
    }
}

pub(crate) fn run(args: &Check) -> io::Result<Outcome> {
    let (paths, budget, allowlist) = (
        args.paths.clone(),
        args.limits.budget(),
        args.allowlist.clone(),
    );
    let found = guard::run(args.limits.timeout, move || {
        Ok(check(files::read(&paths)?, allowlist.as_ref(), &budget))
    });
    match &found {
        Ok(found) => {
            let outcome = found.outcome(args.deny_warnings);
            match args.format {
                CheckFormat::Human => print_human(found, outcome)?,
                CheckFormat::Json => print_json(found)?,
                CheckFormat::Sarif => sarif::print(found)?,
            }
            Ok(outcome)
        }
        Err(problem) => {
            no_answer(args, problem)?;
            Ok(Outcome::NoAnswer)
        }
    }
}

fn check(sources: Vec<Source>, allowlist: Option<&Predicate>, budget: &Budget) -> Findings {
    let checked = Rulebase::check(Program::parse_within(sources, budget));
    let name = allowlist.map(|allowlist| &*allowlist.text);
    let review = checked.review(name, budget);
    let incomplete = review
        .diagnostics
        .iter()
        .any(|found| found.code == Code::Budget && found.severity == Severity::Error);
    Findings {
        grounds: allowlist.map(|allowlist| grounds(&allowlist.key, &review)),
        sources: review.sources,
        diagnostics: review.diagnostics,
        silenced: review.silenced,
        incomplete,
    }
}

fn grounds(key: &PredicateKey, review: &Review) -> Grounds {
    let sources = &review.sources;
    let place = |span: Span| {
        let (file, line) = (sources.name(span), sources.start(span).line);
        format!("{file}:{line}")
    };
    let mut grounds = Grounds {
        predicate: key.to_string(),
        silenced: silenced(review, &place),
        ..Grounds::default()
    };
    let Some(basis) = &review.basis else {
        return grounds;
    };
    grounds.facts = basis
        .facts
        .iter()
        .map(|(key, count)| format!("{key} ({})", amount(*count, "fact")))
        .collect();
    grounds.fact_count = basis.facts.iter().map(|(_, count)| count).sum();
    grounds.absences = basis.absences.iter().map(ToString::to_string).collect();
    grounds.unstated = basis.unstated.iter().map(ToString::to_string).collect();
    grounds.widened_by = basis
        .widened_by
        .iter()
        .map(|head| {
            let text: Vec<&str> = sources.text(*head).split_whitespace().collect();
            format!("{} {}", place(*head), text.join(" "))
        })
        .collect();
    grounds
}

/// What comments silence of all that the allowlist depends on.
fn silenced(review: &Review, place: &dyn Fn(Span) -> String) -> Vec<String> {
    let matters = |found: &Diagnostic| {
        let predicate = found.predicate.as_ref();
        predicate.is_none_or(|predicate| review.slice.binary_search(predicate).is_ok())
    };
    let found = review.silenced.iter();
    found
        .filter(|silenced| matters(&silenced.diagnostic))
        .map(|silenced| {
            let (found, reason) = (&silenced.diagnostic, &silenced.reason);
            let (kind, place) = (found.code.kind(), place(found.span));
            let gate = match found.code.is_doubt() {
                true => " (a gate wants its builder's word all the same)",
                false => "",
            };
            format!("{kind} at {place}: {reason}{gate}")
        })
        .collect()
}

fn print_json(found: &Findings) -> io::Result<()> {
    json::print(&json::Check {
        files: found
            .sources
            .iter()
            .map(|(_, source)| source.name())
            .collect(),
        diagnostics: found
            .diagnostics
            .iter()
            .map(|diagnostic| json::Diagnostic::new(&found.sources, diagnostic))
            .collect(),
        errors: found.count(Severity::Error),
        warnings: found.count(Severity::Warning),
        silenced: found
            .silenced
            .iter()
            .map(|silenced| json::Silenced {
                reason: &silenced.reason,
                diagnostic: json::Diagnostic::new(&found.sources, &silenced.diagnostic),
            })
            .collect(),
        allowlist: found.grounds.as_ref(),
    })
}

fn print_human(found: &Findings, outcome: Outcome) -> io::Result<()> {
    render::tell_diagnostics(&found.sources, &found.diagnostics);
    if let Some(grounds) = &found.grounds {
        tell_grounds(grounds);
    }
    let (errors, warnings) = (found.count(Severity::Error), found.count(Severity::Warning));
    let mut counts = match (errors, warnings) {
        (0, 0) => "no errors, no warnings".to_owned(),
        (0, _) => amount(warnings, "warning"),
        (_, 0) => amount(errors, "error"),
        _ => format!(
            "{}, {}",
            amount(errors, "error"),
            amount(warnings, "warning")
        ),
    };
    if !found.silenced.is_empty() {
        counts = format!("{counts} ({} silenced)", found.silenced.len());
    }
    let summary = match (outcome, &found.grounds) {
        (Outcome::Yes, None) => format!("ok: {counts}"),
        (Outcome::Yes, Some(grounds)) => format!("ok: {counts}; {}", in_short(grounds)),
        _ => counts,
    };
    json::stdout(|out| writeln!(out, "{}", Printable(&summary)))
}

/// What the allowlist rests on in a few words.
fn in_short(grounds: &Grounds) -> String {
    let mut parts = vec![amount(grounds.fact_count, "fact")];
    if !grounds.absences.is_empty() {
        parts.push(format!("the absence of {}", grounds.absences.join(" and ")));
    }
    if !grounds.widened_by.is_empty() {
        parts.push(amount(grounds.widened_by.len(), "rule"));
    }
    let last = parts.pop().unwrap_or_default();
    let joint = if parts.is_empty() { "" } else { " and " };
    format!(
        "{} rests on {}{joint}{last}",
        grounds.predicate,
        parts.join(", ")
    )
}

fn tell_grounds(grounds: &Grounds) {
    render::tell(&format!("note: what {} rests on", grounds.predicate));
    for fact in &grounds.facts {
        render::tell(&format!("  facts: {fact}"));
    }
    for absence in &grounds.absences {
        let certain = match grounds.unstated.contains(absence) {
            true => " (nothing states it here)",
            false => "",
        };
        render::tell(&format!("  the absence of: {absence}{certain}"));
    }
    for rule in &grounds.widened_by {
        render::tell(&format!("  the rule: {rule}"));
    }
    if grounds.absences.is_empty() && grounds.widened_by.is_empty() {
        let only = "  nothing else: no rule and no absence stands between an actor and a tool";
        render::tell(only);
    }
    for silenced in &grounds.silenced {
        render::tell(&format!("  silenced by a comment: {silenced}"));
    }
}

fn amount(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

fn no_answer(args: &Check, problem: &Problem) -> io::Result<()> {
    match args.format {
        CheckFormat::Human => {
            problem.print();
            Ok(())
        }
        CheckFormat::Json => {
            let diagnostics = problem.json();
            json::print(&json::Check {
                files: Vec::new(),
                errors: diagnostics.len(),
                diagnostics,
                warnings: 0,
                silenced: Vec::new(),
                allowlist: None,
            })
        }
        CheckFormat::Sarif => sarif::print_problem(problem),
    }
}
