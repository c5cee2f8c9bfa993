//! `horngate check`: all that is wrong or doubtful in rule files.
//!
//! Nothing here makes a fault smaller than it is, except with an allowlist, which need not be clean beyond its slice.

use crate::args::{Check, CheckFormat, Predicate};
use crate::json::{self, Grounds};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::{files, guard, render, rules, sarif};
use horngate::{
    Allowlist, Basis, BindError, Budget, Code, Diagnostic, PredicateKey, Program, Rulebase,
    Severity, Source, Sources, Span,
};
use std::io;

/// All that was found.
pub(crate) struct Findings {
    pub(crate) sources: Sources,
    pub(crate) diagnostics: Vec<Diagnostic>,
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
    let mut findings = Findings {
        sources: checked.sources,
        diagnostics: checked.diagnostics,
        grounds: allowlist.map(|allowlist| Grounds {
            predicate: allowlist.key.to_string(),
            ..Grounds::default()
        }),
        incomplete: false,
    };
    if let Ok(rulebase) = &checked.rulebase {
        findings.diagnostics.extend(rulebase.default_allows(budget));
        match rulebase.evaluate(budget) {
            Ok(model) => findings.diagnostics.extend(model.failures()),
            Err(exceeded) => findings.diagnostics.push(exceeded.diagnostic()),
        }
        if let Some(allowlist) = allowlist {
            findings.judge(rulebase, allowlist, budget);
        }
    }
    findings.incomplete = findings
        .diagnostics
        .iter()
        .any(|found| found.code == Code::Budget && found.severity == Severity::Error);
    findings
        .diagnostics
        .sort_by_key(|found| (found.span, found.code));
    findings
}

impl Findings {
    /// Judges the findings by what the allowlist depends on, and whether it can be one.
    fn judge(&mut self, rulebase: &Rulebase, allowlist: &Predicate, budget: &Budget) {
        let slice = rules::slice(rulebase, &allowlist.key);
        let is_elsewhere = |predicate: &String| !slice.is_empty() && !slice.contains(predicate);
        for found in &mut self.diagnostics {
            if found.predicate.as_ref().is_some_and(is_elsewhere) {
                found.severity = Severity::Note;
            }
        }
        match rulebase.evaluate_slice(std::slice::from_ref(&allowlist.key), budget) {
            Ok(model) => {
                if let Err(error) = Allowlist::bind(&model, &allowlist.text) {
                    self.diagnostics.push(unbound(&error));
                }
            }
            Err(exceeded) => {
                self.diagnostics.retain(|found| found.code != Code::Budget);
                self.diagnostics.push(exceeded.diagnostic());
            }
        }
        if let Some(basis) = rulebase.basis(&allowlist.key) {
            self.grounds = Some(grounds(&allowlist.key, &basis, &self.sources));
        }
    }
}

fn grounds(key: &PredicateKey, basis: &Basis, sources: &Sources) -> Grounds {
    let facts = basis.facts.iter();
    Grounds {
        predicate: key.to_string(),
        facts: facts
            .map(|(key, count)| format!("{key} ({})", amount(*count, "fact")))
            .collect(),
        absences: basis.absences.iter().map(ToString::to_string).collect(),
        widened_by: basis
            .widened_by
            .iter()
            .map(|rule| {
                let head = sources.text(*rule).split(":-").next().unwrap_or("");
                let head: Vec<&str> = head.split_whitespace().collect();
                let (file, line) = (sources.name(*rule), sources.start(*rule).line);
                format!("{file}:{line} {}", head.join(" "))
            })
            .collect(),
        fact_count: basis.facts.iter().map(|(_, count)| count).sum(),
    }
}

fn unbound(error: &BindError) -> Diagnostic {
    let place = error
        .diagnostics
        .first()
        .map_or_else(Span::default, |first| first.span);
    let found = Diagnostic::new(Code::FaultySlice, place, error.to_string()).of(&error.predicate);
    match error
        .diagnostics
        .iter()
        .find_map(|first| first.help.as_ref())
    {
        Some(help) => found.help(help),
        None => found,
    }
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
        allowlist: found.grounds.as_ref(),
    })
}

fn print_human(found: &Findings, outcome: Outcome) -> io::Result<()> {
    render::tell_diagnostics(&found.sources, &found.diagnostics);
    if let Some(grounds) = &found.grounds {
        tell_grounds(grounds);
    }
    let (errors, warnings) = (found.count(Severity::Error), found.count(Severity::Warning));
    let counts = match (errors, warnings) {
        (0, 0) => "no errors, no warnings".to_owned(),
        (0, _) => amount(warnings, "warning"),
        (_, 0) => amount(errors, "error"),
        _ => format!(
            "{}, {}",
            amount(errors, "error"),
            amount(warnings, "warning")
        ),
    };
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
    for (what, items) in [
        ("facts", &grounds.facts),
        ("the absence of", &grounds.absences),
        ("the rule", &grounds.widened_by),
    ] {
        items
            .iter()
            .for_each(|item| render::tell(&format!("  {what}: {item}")));
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
                allowlist: None,
            })
        }
        CheckFormat::Sarif => sarif::print_problem(problem),
    }
}
