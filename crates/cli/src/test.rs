//! `horngate test`: the tests of rule files.
//!
//! Nothing here decides, and a test that was not run is never counted as one that passed.

use crate::args::{Format, Test};
use crate::outcome::Outcome;
use crate::printable::Printable;
use crate::problem::Problem;
use crate::{files, guard, json, render, tree};
use horngate::suite::{Coverage, Explanation, Failure, Report, Suite, TestResult, Verdict};
use horngate::{Diagnostic, Program, Rulebase, Sources};
use serde_json::{Value, json};
use std::io::{self, Write};

/// What the tests gave.
struct Tested {
    sources: Sources,
    report: Report,
    coverage: Option<Coverage>,
}

/// How many tests went which way.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
    refused: usize,
    blocked: usize,
    skipped: usize,
}

pub(crate) fn run(args: &Test) -> io::Result<Outcome> {
    let own = args.clone();
    let tested = match guard::run(args.limits.timeout, move || tested(&own)) {
        Ok(tested) => tested,
        Err(problem) => return no_answer(args, &problem),
    };
    let counts = Counts::of(&tested.report);
    match args.format {
        Format::Human => {
            render::tell_diagnostics(&tested.sources, &refusals(&tested.report));
            json::stdout(|out| print(out, &tested, &counts))?;
        }
        Format::Json => json::print(&as_json(&tested, &counts))?,
    }
    Ok(counts.outcome(&tested.report))
}

fn tested(args: &Test) -> Result<Tested, Problem> {
    let budget = args.limits.budget();
    let program = Program::parse_within(files::read_with_tests(&args.paths)?, &budget);
    let suite = Suite::read(&program);
    let rulebase = Rulebase::check(program).rulebase?;
    let sources = rulebase.sources().clone();
    let exceeded = |exceeded| Problem::budget(rulebase.sources(), &exceeded);
    let (report, coverage) = match args.coverage {
        true => {
            let run = suite.run_with_coverage(&rulebase, &budget);
            let (report, coverage) = run.map_err(exceeded)?;
            (report, Some(coverage))
        }
        false => (suite.run(&rulebase, &budget).map_err(exceeded)?, None),
    };
    if report.results.is_empty() && report.faults.is_empty() {
        return Err(Problem::Usage(
            "there is no test: write one as in `:- begin_tests(grants).`, `test(qa) :- may_execute_tool('U:Qa', tool_repl).`, `:- end_tests(grants).`, in a rule file or in `NAME_tests.pl` beside it"
                .to_owned(),
        ));
    }
    Ok(Tested {
        sources,
        report,
        coverage,
    })
}

impl Counts {
    fn of(report: &Report) -> Self {
        let mut counts = Self::default();
        for result in &report.results {
            *match &result.verdict {
                Verdict::Passed => &mut counts.passed,
                Verdict::Failed(_) => &mut counts.failed,
                Verdict::Blocked(_) => &mut counts.blocked,
                Verdict::Skipped(_) => &mut counts.skipped,
                _ => &mut counts.refused,
            } += 1;
        }
        counts
    }

    fn ran(&self) -> usize {
        self.passed + self.failed
    }

    fn outcome(&self, report: &Report) -> Outcome {
        match (self.refused, self.failed) {
            (1.., _) => Outcome::NoAnswer,
            _ if !report.faults.is_empty() || self.ran() == 0 => Outcome::NoAnswer,
            (_, failed) => Outcome::of(failed == 0),
        }
    }
}

/// All that keeps tests from running.
fn refusals(report: &Report) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let refused = report.results.iter().flat_map(diagnostics);
    for fault in refused.chain(&report.faults) {
        // A fault of a block is one of each of its tests.
        if !found.contains(fault) {
            found.push(fault.clone());
        }
    }
    found
}

fn diagnostics(result: &TestResult) -> &[Diagnostic] {
    match &result.verdict {
        Verdict::Refused(faults) => faults,
        _ => &[],
    }
}

fn no_answer(args: &Test, problem: &Problem) -> io::Result<Outcome> {
    match args.format {
        Format::Human => problem.print(),
        Format::Json => json::print(&json::Tests {
            error: Some(problem.json()),
            ..json::Tests::default()
        })?,
    }
    Ok(Outcome::NoAnswer)
}

fn print(out: &mut dyn Write, tested: &Tested, counts: &Counts) -> io::Result<()> {
    for result in &tested.report.results {
        let verdict = match &result.verdict {
            Verdict::Passed => continue,
            Verdict::Failed(_) => "failed".to_owned(),
            Verdict::Blocked(reason) => format!("blocked: {reason}"),
            Verdict::Skipped(condition) => format!("left out: `{condition}` does not hold"),
            _ => "refused".to_owned(),
        };
        let TestResult {
            block,
            name,
            file,
            line,
            ..
        } = result;
        let head = format!("{file}:{line}: {block}:{name} {verdict}");
        writeln!(out, "{}", Printable(&head))?;
        if let Verdict::Failed(failure) = &result.verdict {
            print_failure(out, failure)?;
        }
    }
    if let Some(coverage) = &tested.coverage {
        print_coverage(out, coverage)?;
    }
    writeln!(out, "{}", summary(counts))
}

fn print_failure(out: &mut dyn Write, failure: &Failure) -> io::Result<()> {
    writeln!(out, "   {}", Printable(&failure.message))?;
    for (what, list) in [
        ("expected", &failure.expected),
        ("found   ", &failure.found),
    ] {
        if let Some(list) = list {
            let text = format!("   {what} [{}]", list.join(", "));
            writeln!(out, "{}", Printable(&text))?;
        }
    }
    for explanation in &failure.explanations {
        let mut text: Vec<u8> = Vec::new();
        match explanation {
            Explanation::Why(proof) => tree::proof(&mut text, proof)?,
            Explanation::WhyNot(why_not) => {
                writeln!(text, "why not {}:", Printable(why_not.goal()))?;
                tree::why_not(&mut text, why_not)?;
            }
            _ => {}
        }
        for line in String::from_utf8_lossy(&text).lines() {
            writeln!(out, "   {line}")?;
        }
    }
    Ok(())
}

fn print_coverage(out: &mut dyn Write, coverage: &Coverage) -> io::Result<()> {
    let (clauses, unused) = (coverage.clauses(), coverage.unused());
    if unused.is_empty() {
        return writeln!(out, "coverage: {clauses} of {clauses} clauses");
    }
    let used = clauses.saturating_sub(unused.len());
    writeln!(out, "coverage: {used} of {clauses} clauses; no proof uses")?;
    for clause in unused {
        tree::line(out, "   ", clause, tree::width())?;
    }
    Ok(())
}

fn summary(counts: &Counts) -> String {
    let tests = |count: usize| match count {
        1 => "1 test".to_owned(),
        _ => format!("{count} tests"),
    };
    let mut parts = Vec::new();
    let bad = counts.failed + counts.refused;
    let verdict = match (bad, counts.ran()) {
        (0, 0) => "error",
        (0, _) => "ok",
        _ => "failed",
    };
    if counts.failed > 0 {
        parts.push(format!("{} failed", tests(counts.failed)));
    }
    if counts.refused > 0 {
        parts.push(format!("{} refused", tests(counts.refused)));
    }
    parts.push(format!("{} passed", tests(counts.passed)));
    if counts.blocked > 0 {
        parts.push(format!("{} blocked", tests(counts.blocked)));
    }
    if counts.skipped > 0 {
        parts.push(format!("{} left out", tests(counts.skipped)));
    }
    format!("{verdict}: {}", parts.join(", "))
}

fn as_json<'t>(tested: &'t Tested, counts: &Counts) -> json::Tests<'t> {
    let diagnostic = |found: &'t Diagnostic| json::Diagnostic::new(&tested.sources, found);
    let tests = tested.report.results.iter().map(|result| {
        let (verdict, message) = match &result.verdict {
            Verdict::Passed => ("passed", None),
            Verdict::Failed(failure) => ("failed", Some(failure.message.as_str())),
            Verdict::Blocked(reason) => ("blocked", Some(reason.as_str())),
            Verdict::Skipped(condition) => ("skipped", Some(condition.as_str())),
            _ => ("refused", None),
        };
        let failure = match &result.verdict {
            Verdict::Failed(failure) => Some(failure),
            _ => None,
        };
        json::Test {
            block: &result.block,
            name: &result.name,
            file: &result.file,
            line: result.line,
            verdict,
            message,
            expected: failure.and_then(|failure| failure.expected.as_deref()),
            found: failure.and_then(|failure| failure.found.as_deref()),
            explanations: failure
                .map(|failure| failure.explanations.iter().filter_map(explained).collect())
                .unwrap_or_default(),
            diagnostics: diagnostics(result).iter().map(diagnostic).collect(),
        }
    });
    let faults = &tested.report.faults;
    json::Tests {
        tests: tests.collect(),
        passed: counts.passed,
        failed: counts.failed,
        refused: counts.refused,
        blocked: counts.blocked,
        skipped: counts.skipped,
        coverage: tested.coverage.as_ref().map(|coverage| json::Coverage {
            clauses: coverage.clauses(),
            used: coverage.clauses().saturating_sub(coverage.unused().len()),
            unused: coverage.unused().iter().map(json::Clause::new).collect(),
        }),
        error: (!faults.is_empty()).then(|| faults.iter().map(diagnostic).collect()),
    }
}

/// As `explain` prints it, without the hash of a policy: the rules and their tests are none.
fn explained(explanation: &Explanation) -> Option<Value> {
    match explanation {
        Explanation::Why(proof) => {
            let node: Value = serde_json::from_str(&proof.to_json_node()).ok()?;
            Some(json!({"goal": proof.goal(), "holds": true, "proof": node}))
        }
        Explanation::WhyNot(why_not) => {
            let mut document: Value = serde_json::from_str(&why_not.to_json("")).ok()?;
            document.as_object_mut()?.remove("policy_hash");
            Some(document)
        }
        _ => None,
    }
}
