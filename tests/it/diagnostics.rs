//! Every diagnostic, as data: `tests/cases/diagnostics` has a rule file for each form of each code. Its head says
//! what comes out of it, and the snapshots say in which words.
//!
//! The head's lines: `% expect: CODE SEVERITY LINE`, one for each diagnostic; the line is `FILE:LINE` in a case of
//! several files, and `-` for what has no place. `% budget: tuples N` evaluates with that budget, `% allowlist: NAME/2`
//! binds, `% slice: NAME/ARITY` evaluates no more than that slice, and `% query: GOAL` asks. `% check: NAME/2` judges by
//! that allowlist, and `% silenced: CODE REASON` stands for each finding that a comment silences.

use horngate::suite::{Suite, Verdict};
use horngate::{
    Allowlist, Budget, BudgetExceeded, Code, Diagnostic, Model, Program, Rulebase, Severity,
    Source, Sources, Span, compile,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A rule file, or a folder of them.
struct Case {
    name: String,
    sources: Vec<Source>,
    head: Vec<(String, String)>,
}

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn cases() -> Vec<Case> {
    entries(&path("tests/cases/diagnostics"))
        .iter()
        .map(|path| Case::read(path))
        .collect()
}

impl Case {
    fn read(path: &Path) -> Self {
        let files = if path.is_dir() {
            entries(path)
        } else {
            vec![path.to_owned()]
        };
        let sources: Vec<Source> = files
            .iter()
            .map(|file| Source::from_bytes(file_name(file), std::fs::read(file).unwrap()))
            .collect();
        let name = file_name(path);
        let head: Vec<(String, String)> = sources[0]
            .text()
            .lines()
            .map_while(|line| line.strip_prefix("% "))
            .filter_map(|line| line.split_once(": "))
            .map(|(what, value)| (what.to_owned(), value.to_owned()))
            .collect();
        Self {
            name,
            sources,
            head,
        }
    }

    /// The values of the head's lines `% what: value`.
    fn head<'c>(&'c self, what: &'c str) -> impl Iterator<Item = &'c str> {
        self.head
            .iter()
            .filter(move |(name, _)| name == what)
            .map(|(_, value)| value.as_str())
    }

    /// The code that the case is about, by its name.
    fn code(&self) -> &str {
        self.name.get(..6).unwrap_or("")
    }

    fn budget(&self) -> Budget {
        let mut budget = Budget::default();
        for limit in self.head("budget") {
            match limit.split_once(' ') {
                Some(("clauses", count)) => budget.clauses = count.parse().unwrap(),
                Some(("depth", count)) => budget.depth = count.parse().unwrap(),
                Some(("tuples", count)) => budget.tuples = count.parse().unwrap(),
                Some(("firings", count)) => budget.firings = count.parse().unwrap(),
                _ => panic!("{}: budget: {limit}", self.name),
            }
        }
        budget
    }

    /// All that there is to say about the rules, in the order of the texts.
    fn run(&self) -> (Sources, Vec<Diagnostic>) {
        let program = Program::parse_within(self.sources.clone(), &self.budget());
        let suite = Suite::read(&program);
        let checked = Rulebase::check(program);
        let refused = checked
            .diagnostics
            .iter()
            .any(|found| found.severity == Severity::Error && found.predicate.is_none());
        assert_eq!(refused, checked.rulebase.is_err(), "{}", self.name);
        let rulebase = checked.rulebase.clone();
        let not_compiled = match &rulebase {
            Ok(rulebase) if self.code() == Code::NotCompiled.as_str() => {
                compile::module(rulebase).err()
            }
            _ => None,
        };
        let review = checked.review(self.head("check").next(), &self.budget());
        let (mut sources, mut found) = (review.sources, review.diagnostics);
        if !self.head.is_empty() {
            let silenced = review.silenced.iter();
            let got: Vec<String> = silenced
                .map(|silenced| format!("{} {}", silenced.diagnostic.code, silenced.reason))
                .collect();
            let want: Vec<&str> = self.head("silenced").collect();
            assert_eq!(got, want, "{}", self.name);
        }
        if let Ok(rulebase) = &rulebase
            && self.code() == Code::UnsupportedTest.as_str()
        {
            found.extend(self.refused_tests(&suite, rulebase));
        }
        found.extend(not_compiled.into_iter().flat_map(|error| error.diagnostics));
        if let Ok(model) = rulebase.map(|rulebase| self.evaluate(&rulebase))
            && let Ok(model) = model
        {
            self.ask(&model, &mut sources, &mut found);
        }
        found.sort_by_key(|found| (found.span, found.code));
        (sources, found)
    }

    fn refused_tests(&self, suite: &Suite, rulebase: &Rulebase) -> Vec<Diagnostic> {
        let report = suite.run(rulebase, &self.budget()).unwrap();
        let mut found = report.faults;
        for result in report.results {
            if let Verdict::Refused(faults) = result.verdict {
                found.extend(faults);
            }
        }
        found
    }

    fn evaluate(&self, rulebase: &Rulebase) -> Result<Model, BudgetExceeded> {
        let slice: Vec<_> = self.head("slice").map(|key| key.parse().unwrap()).collect();
        match &*slice {
            [] => rulebase.evaluate(&self.budget()),
            slice => rulebase.evaluate_slice(slice, &self.budget()),
        }
    }

    /// Binds and asks, and adds what is new in the refusals.
    fn ask(&self, model: &Model, sources: &mut Sources, found: &mut Vec<Diagnostic>) {
        for predicate in self.head("allowlist") {
            let error = Allowlist::bind(model, predicate).unwrap_err();
            found.push(Diagnostic::new(
                Code::FaultySlice,
                Span::default(),
                error.to_string(),
            ));
            assert!(
                error.diagnostics.iter().all(|fault| found.contains(fault)),
                "{}",
                self.name
            );
        }
        for goal in self.head("query") {
            let error = model.query(goal).unwrap_err();
            *sources = error.sources;
            found.extend(error.diagnostics);
        }
    }

    /// A diagnostic as in an `expect` line.
    fn line(&self, sources: &Sources, found: &Diagnostic) -> String {
        let place = if found.span == Span::default() {
            "-".to_owned()
        } else {
            let line = sources.start(found.span).line;
            match self.sources.len() {
                1 => line.to_string(),
                _ => format!("{}:{line}", sources.name(found.span)),
            }
        };
        format!("{} {} {place}", found.code, found.severity)
    }
}

fn place(case: &Case, sources: &Sources, span: Span) -> String {
    if span == Span::default() {
        return "-".to_owned();
    }
    let place = format!("{}-{}", sources.start(span), sources.end(span));
    match case.sources.len() {
        1 => place,
        _ => format!("{}:{place}", sources.name(span)),
    }
}

fn shown(case: &Case, sources: &Sources, found: &Diagnostic, out: &mut String) {
    let at = |span| place(case, sources, span);
    let Diagnostic {
        code,
        severity,
        message,
        ..
    } = found;
    writeln!(out, "  {severity} {code} at {}: {message}", at(found.span)).unwrap();
    for label in &found.labels {
        writeln!(out, "    label at {}: {}", at(label.span), label.message).unwrap();
    }
    if let Some(predicate) = &found.predicate {
        writeln!(out, "    of {predicate}").unwrap();
    }
    if let Some(help) = &found.help {
        writeln!(out, "    help: {help}").unwrap();
    }
}

#[test]
fn every_case_says_exactly_what_its_head_says() {
    let mut failed = String::new();
    for case in cases() {
        let (sources, found) = case.run();
        let got: Vec<String> = found
            .iter()
            .map(|found| case.line(&sources, found))
            .collect();
        let want: Vec<&str> = case.head("expect").collect();
        if got != want {
            writeln!(failed, "{}:", case.name).unwrap();
            for line in want {
                writeln!(failed, "  - {line}").unwrap();
            }
            for line in got {
                writeln!(failed, "  + {line}").unwrap();
            }
        }
    }
    assert!(
        failed.is_empty(),
        "expected lines (-) and real ones (+) differ\n{failed}"
    );
}

#[test]
fn every_message_is_worded_as_in_its_snapshot() {
    let mut groups: BTreeMap<String, String> = BTreeMap::new();
    for case in cases() {
        let (sources, found) = case.run();
        let group = groups.entry(case.code()[..4].to_owned()).or_default();
        writeln!(group, "{}", case.name).unwrap();
        for found in &found {
            shown(&case, &sources, found, group);
        }
    }
    for (group, text) in groups {
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("diagnostics-{group}"), text);
        });
    }
}

/// Lower case, no final period: the house's form.
#[test]
fn every_message_has_the_one_form() {
    for case in cases() {
        for found in case.run().1 {
            let labels = found.labels.iter().map(|label| &label.message);
            for text in labels.chain([&found.message]).chain(&found.help) {
                let name = text.starts_with("Prolog") || text.starts_with("U+");
                assert!(
                    name || !text.starts_with(char::is_uppercase),
                    "{}: {text}",
                    case.name
                );
                assert!(
                    !text.ends_with('.') && !text.is_empty(),
                    "{}: {text}",
                    case.name
                );
                assert_eq!(text.matches('`').count() % 2, 0, "{}: {text}", case.name);
            }
        }
    }
}

#[test]
fn every_code_has_a_case_that_triggers_it() {
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let mut missing = codes.clone();
    for case in cases() {
        assert!(
            codes.contains(case.code()),
            "{}: no code has this name",
            case.name
        );
        let triggered = case
            .run()
            .1
            .iter()
            .any(|found| found.code.as_str() == case.code());
        assert!(triggered, "{} does not trigger its code", case.name);
        missing.remove(case.code());
    }
    assert!(missing.is_empty(), "codes without a case: {missing:?}");
}

/// Rule files as people write them, about which there is nothing to say: whoever adds a lint looks at these.
#[test]
fn ordinary_rules_are_left_in_peace() {
    let mut failed = String::new();
    for path in entries(&path("tests/cases/quiet")) {
        let case = Case::read(&path);
        for allowlist in [None, Some("may_execute_tool/2")] {
            let checked = Rulebase::check(Program::parse(case.sources.clone()));
            let review = checked.review(allowlist, &Budget::default());
            for found in &review.diagnostics {
                writeln!(failed, "{}:", case.name).unwrap();
                shown(&case, &review.sources, found, &mut failed);
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn every_code_has_a_section_and_every_section_a_code() {
    let docs = std::fs::read_to_string(path("docs/diagnostics.md")).unwrap();
    let sections: Vec<&str> = docs
        .lines()
        .filter_map(|line| line.strip_prefix("## HG"))
        .collect();
    let want: Vec<String> = Code::ALL
        .iter()
        .map(|code| format!("{} {}", &code.as_str()[2..], heading(*code)))
        .collect();
    assert_eq!(sections, want);
    for case in cases() {
        let link = format!("(../tests/cases/diagnostics/{})", case.name);
        assert!(docs.contains(&link), "no link to {}", case.name);
    }
    let links = docs
        .split("](../")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    for link in links {
        assert!(path(link).exists(), "{link}");
    }
}

/// What the examples in docs/diagnostics.md take for granted.
const PRELUDE: &str = "
:- dynamic active/1, agent/1, approves/2, barred/1, blocked/2, lead/1, limit/2, member_of/2, reports_to/2, risk/2,
    role/2, suspended/1, team_tool/2, untrusted/1.
";

/// Each example of docs/diagnostics.md that has a before and an after: the first triggers the section's code, the
/// second has no error and does not.
#[test]
fn every_example_of_the_docs_is_mended_by_what_it_says() {
    let docs = std::fs::read_to_string(path("docs/diagnostics.md")).unwrap();
    let mut failed = String::new();
    for section in docs.split("\n## ").skip(1) {
        let code = section.split(' ').next().unwrap();
        for block in section.split("```prolog\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let (before, after) = block
                .strip_prefix("% before\n")
                .unwrap()
                .split_once("% after\n")
                .unwrap();
            for (text, bad) in [(before, true), (after, false)] {
                let case = Case {
                    name: code.to_owned(),
                    sources: vec![
                        Source::new("prelude.pl", PRELUDE),
                        Source::new("example.pl", text),
                    ],
                    head: Vec::new(),
                };
                let (sources, found) = case.run();
                let of_prelude = |span: Span| span.source.index() == 0 && span != Span::default();
                let hit = found
                    .iter()
                    .any(|found| found.code.as_str() == code && !of_prelude(found.span));
                let errs = found.iter().any(|found| found.severity == Severity::Error);
                if hit != bad || (errs && !bad) {
                    writeln!(failed, "{text}").unwrap();
                    found
                        .iter()
                        .for_each(|found| shown(&case, &sources, found, &mut failed));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// The code's name as a heading: `UnboundHead` is `unbound-head`.
fn heading(code: Code) -> String {
    let mut out = String::new();
    for c in format!("{code:?}").chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}
