//! `horngate check`: all that is wrong or doubtful in rule files.
//!
//! Nothing here makes a fault smaller than it is, except with an allowlist, which need not be clean beyond its slice.

use crate::args::{Check, CheckFormat, Predicate};
use crate::json::{self, Grounds};
use crate::outcome::Outcome;
use crate::printable::printable;
use crate::problem::{Problem, out_of_budget};
use crate::{files, guard, render, rules, sarif};
use horngate::syntax::ClauseKind;
use horngate::{
    Allowlist, BindError, Budget, Code, Diagnostic, PredicateKey, Program, Rulebase, Severity,
    Source, Sources, Span,
};
use std::collections::BTreeMap;
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
    let program = Program::parse(sources);
    let facts = facts(&program);
    let checked = Rulebase::check(program);
    let mut findings = Findings {
        sources: checked.sources,
        diagnostics: checked.diagnostics,
        grounds: None,
        incomplete: false,
    };
    if let Ok(rulebase) = &checked.rulebase {
        findings.diagnostics.extend(rulebase.default_allows(budget));
        if let Err(exceeded) = rulebase.evaluate(budget) {
            findings.diagnostics.push(out_of_budget(&exceeded));
        }
        if let Some(allowlist) = allowlist {
            findings.judge(rulebase, allowlist, budget, &facts);
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
    /// Judges the findings by what the allowlist depends on.
    fn judge(
        &mut self,
        rulebase: &Rulebase,
        allowlist: &Predicate,
        budget: &Budget,
        facts: &BTreeMap<PredicateKey, usize>,
    ) {
        let slice = rules::slice(rulebase, &allowlist.key);
        for found in &mut self.diagnostics {
            if found
                .predicate
                .as_ref()
                .is_some_and(|key| !slice.contains(key))
            {
                found.severity = Severity::Note;
            }
        }
        match rulebase.evaluate_slice(std::slice::from_ref(&allowlist.key), budget) {
            Err(exceeded) => {
                let found = out_of_budget(&exceeded);
                // It is there already, as a note if the predicate that was at work is not the allowlist's own.
                self.diagnostics.retain(|other| other.code != found.code);
                self.diagnostics.push(found);
            }
            Ok(model) => {
                if let Err(error) = Allowlist::bind(&model, &allowlist.text) {
                    self.diagnostics.push(unbound(&error));
                }
            }
        }
        let of_slice = |key: &&PredicateKey| facts.contains_key(key);
        let extensional = rulebase.slice(&allowlist.key).into_iter().filter(of_slice);
        self.grounds = Some(Grounds {
            predicate: allowlist.key.to_string(),
            facts: extensional
                .filter_map(|key| match facts.get(key)? {
                    1 => Some(format!("{key} (1 fact)")),
                    count => Some(format!("{key} ({count} facts)")),
                })
                .collect(),
            ..Grounds::default()
        });
    }
}

/// How many facts each predicate has.
fn facts(program: &Program) -> BTreeMap<PredicateKey, usize> {
    let mut facts = BTreeMap::new();
    for clause in program.clauses() {
        if let ClauseKind::Fact(head) = &clause.kind
            && let Some((name, arity)) = head.functor()
        {
            *facts.entry(PredicateKey::new(name, arity)).or_default() += 1;
        }
    }
    facts
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
    let mut out = render::stderr();
    render::diagnostics(&mut out, &found.sources, &found.diagnostics)?;
    io::Write::flush(&mut out)?;
    json::stdout(|out| {
        if let Some(grounds) = &found.grounds {
            writeln!(out, "allowlist {}", printable(&grounds.predicate))?;
            for (name, items) in [
                ("rests on", &grounds.facts),
                ("rests on the absence of", &grounds.absences),
                ("is widened by", &grounds.widened_by),
            ] {
                for item in items {
                    writeln!(out, "  {name} {}", printable(item))?;
                }
            }
        }
        let counts = counts(found);
        match (outcome, counts.is_empty()) {
            (Outcome::Yes, true) => writeln!(out, "ok: {}", files_checked(found)),
            (Outcome::Yes, false) => writeln!(out, "ok: {}, {counts}", files_checked(found)),
            _ => writeln!(out, "{counts}"),
        }
    })
}

fn files_checked(found: &Findings) -> String {
    amount(found.sources.iter().count(), "file")
}

fn counts(found: &Findings) -> String {
    let parts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (found.count(severity), severity))
        .filter(|(count, _)| *count > 0)
        .map(|(count, severity)| amount(count, &severity.to_string()))
        .collect();
    parts.join(", ")
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
