//! Runs every case of `tests/cases/*.jsonl` through the library. A case states a program and what SWI-Prolog
//! answers to its goals, or the kind (and line) of the error that refuses it.

use horngate::{Budget, Checked, Model, Program, Rulebase, Severity, Source};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Deserialize)]
pub struct Case {
    pub id: String,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    queries: Vec<Query>,
    #[serde(default)]
    query_error: Vec<String>,
    expect_error: Option<String>,
    error_line: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Query {
    goal: String,
    expect: Expected,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expected {
    Holds(bool),
    Solutions(Vec<BTreeMap<String, String>>),
}

/// All cases of all files.
pub fn all() -> Vec<Case> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| {
                    serde_json::from_str(line)
                        .unwrap_or_else(|error| panic!("{}: {error}: {line}", file.display()))
                })
                .collect::<Vec<Case>>()
        })
        .collect()
}

impl Case {
    /// The names and texts of its files.
    pub fn texts(&self) -> Vec<(String, String)> {
        match &self.source {
            Some(source) => vec![("case.pl".to_owned(), source.clone())],
            None => self.files.clone().into_iter().collect(),
        }
    }

    /// Its model and its goals, if it has one.
    pub fn goals(&self) -> Option<(Model, impl Iterator<Item = &str>)> {
        let model = self.check().rulebase.ok()?.evaluate(&Budget::default());
        Some((model.ok()?, self.queries.iter().map(|query| &*query.goal)))
    }

    fn check(&self) -> Checked {
        let sources = self
            .texts()
            .into_iter()
            .map(|(name, text)| Source::new(name, text));
        Rulebase::check(Program::parse(sources))
    }

    /// What is wrong with horngate's answer, if anything is.
    fn verdict(&self) -> Result<(), String> {
        let checked = self.check();
        let errors: Vec<_> = checked
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error)
            .collect();
        let shown = || {
            errors
                .iter()
                .map(|found| {
                    let at = checked.sources.start(found.span);
                    format!(
                        "{at}: {} {}: {}",
                        found.code,
                        found.code.kind(),
                        found.message
                    )
                })
                .collect::<Vec<_>>()
                .join("; ")
        };
        if let Some(kind) = &self.expect_error {
            let hits: Vec<usize> = errors
                .iter()
                .filter(|found| found.code.kind() == kind)
                .map(|found| checked.sources.start(found.span).line)
                .collect();
            return match self.error_line {
                _ if hits.is_empty() => Err(format!("want {kind}, got [{}]", shown())),
                Some(line) if !hits.contains(&line) => {
                    Err(format!("want line {line}, got {hits:?}"))
                }
                _ => Ok(()),
            };
        }
        let rulebase = checked
            .rulebase
            .as_ref()
            .map_err(|_| format!("refused: {}", shown()))?;
        let model = rulebase
            .evaluate(&Budget::default())
            .map_err(|error| error.to_string())?;
        for query in &self.queries {
            let answers = model
                .query(&query.goal)
                .map_err(|error| format!("{}: {error}", query.goal))?;
            match &query.expect {
                Expected::Holds(expected) => {
                    if answers.holds() != *expected {
                        return Err(format!("{}: want {expected}", query.goal));
                    }
                }
                Expected::Solutions(expected) => {
                    let names: Vec<String> =
                        answers.names().iter().map(ToString::to_string).collect();
                    let got: BTreeSet<BTreeMap<String, String>> = answers
                        .solutions()
                        .into_iter()
                        .map(|row| names.iter().cloned().zip(row).collect())
                        .collect();
                    let want: BTreeSet<_> = expected.iter().cloned().collect();
                    if got != want {
                        return Err(format!("{}: want {want:?}, got {got:?}", query.goal));
                    }
                }
            }
        }
        for goal in &self.query_error {
            if let Ok(answers) = model.query(goal) {
                return Err(format!("{goal}: want an error, got {}", answers.holds()));
            }
        }
        Ok(())
    }
}

#[test]
fn every_case_holds() {
    let cases = all();
    assert!(cases.len() >= 186, "the cases are missing");
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| Some(format!("{}: {}", case.id, case.verdict().err()?)))
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} cases fail:\n{}",
        failed.len(),
        cases.len(),
        failed.join("\n")
    );
}
