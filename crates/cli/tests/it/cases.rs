//! The cases that define the language, through the binary: answers, kinds and lines of errors, exit codes.

use super::{folder, horngate, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The exit code and the JSON document of a run.
fn json(folder: &Path, args: &[&str]) -> (i32, Value) {
    let output = horngate(folder).args(args).output().unwrap();
    let document =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {args:?}"));
    (output.status.code().unwrap_or(-1), document)
}

/// What is wrong with the binary's answer to a case, if anything is.
fn verdict(case: &Value) -> Result<(), String> {
    let source = case["source"].as_str().unwrap_or_default();
    let folder = folder(&[("case.pl", source)]);
    if let Some(kind) = case["expect_error"].as_str() {
        let (code, document) = json(folder.path(), &["check", "--format=json", "case.pl"]);
        let found = document["diagnostics"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let hit = found.iter().any(|found| {
            let line = case["error_line"].is_null() || found["line"] == case["error_line"];
            found["severity"] == "error" && found["kind"] == kind && line
        });
        return if hit && code == 1 {
            Ok(())
        } else {
            Err(format!("want {kind}, exit {code}: {document}"))
        };
    }
    for query in case["queries"].as_array().into_iter().flatten() {
        let goal = query["goal"].as_str().unwrap_or_default();
        let args = ["query", "--rules=case.pl", "--format=json", "--", goal];
        let (code, document) = json(folder.path(), &args);
        let set = |list: &Value| -> BTreeSet<String> {
            list.as_array()
                .into_iter()
                .flatten()
                .map(ToString::to_string)
                .collect()
        };
        let expect = &query["expect"];
        let (fits, holds) = match expect {
            Value::Bool(holds) => (document["holds"] == *expect, *holds),
            _ => {
                let wanted = set(expect);
                (set(&document["solutions"]) == wanted, !wanted.is_empty())
            }
        };
        if !fits || code != i32::from(!holds) {
            return Err(format!("{goal}: want {expect}, exit {code}: {document}"));
        }
    }
    for goal in case["query_error"].as_array().into_iter().flatten() {
        let goal = goal.as_str().unwrap_or_default();
        let args = ["query", "--rules=case.pl", "--format=json", "--", goal];
        let (code, document) = json(folder.path(), &args);
        if code != 2 || document["error"].is_null() {
            return Err(format!("{goal}: want an error, exit {code}: {document}"));
        }
    }
    Ok(())
}

#[test]
fn every_case_holds_through_the_binary() {
    let mut seen = 0;
    let mut failed = Vec::new();
    for name in ["conformance.jsonl", "adversary.jsonl"] {
        let text = fs::read_to_string(root().join("tests/cases").join(name)).unwrap();
        for line in text.lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            if case["source"].is_null() {
                continue;
            }
            seen += 1;
            if let Err(why) = verdict(&case) {
                failed.push(format!("{}: {why}", case["id"]));
            }
        }
    }
    assert!(seen >= 186, "the cases are missing");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
