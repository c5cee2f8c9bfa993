//! The README's commands and their output, as they stand there.

use super::explain::texts;
use super::{root, run};
use std::fs;

/// One command of a `console` block: its words, the code it ends with, its standard output.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) words: Vec<String>,
    pub(crate) code: i32,
    pub(crate) output: String,
}

/// The commands of all `console` blocks of a text: a line `$ command`, a line `? code` if it is not 0, its output.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let (true, Some(command)) = (inside, line.strip_prefix("$ ")) {
            steps.push(Step {
                words: shell_words::split(command).unwrap(),
                ..Step::default()
            });
        } else if let (true, Some(step)) = (inside, steps.last_mut()) {
            match line.strip_prefix("? ") {
                Some(code) => step.code = code.parse().unwrap(),
                None => step.output.extend([line, "\n"]),
            }
        }
    }
    steps
}

/// Runs the commands of a text; how many there were, and whether the tests are among them.
fn run_all(file: &str) -> (usize, bool) {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    let (mut ran, mut tested) = (0, false);
    for step in steps(&text) {
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        let args = match &*words {
            ["horngate", args @ ..] | ["cargo", "run", "--release", "--", args @ ..] => args,
            // These tests cannot run themselves; CI runs the command as it stands.
            ["cargo", "test", ..] => {
                assert!(ci.contains(&words.join(" ")), "CI does not run {words:?}");
                tested = true;
                continue;
            }
            _ => panic!("no way to test {words:?}"),
        };
        let result = run(&root(), args);
        assert_eq!(
            (result.code, &*result.stdout),
            (step.code, &*step.output),
            "{words:?}"
        );
        ran += 1;
    }
    (ran, tested)
}

#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let (ran, tested) = run_all("README.md");
    assert!(ran >= 8 && tested, "the README has lost its commands");
    assert_eq!(run_all("docs/explanations.md"), (2, false));
}

#[test]
fn the_picture_of_the_readme_shows_what_its_command_draws() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.split_once(" | dot -Tsvg >"));
    let (command, file) = line.expect("the README says how its picture is made");
    let words = shell_words::split(command).unwrap();
    let args: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    let dot = run(&root(), &args).stdout;
    let svg = fs::read_to_string(root().join(file)).unwrap();
    let texts = texts(&svg);
    let mut labels = 0;
    for label in dot.lines().filter_map(|line| line.split_once("[label=\"")) {
        let (label, _) = label.1.split_once("\", tooltip=").unwrap();
        for line in label.split("\\n") {
            assert!(texts.iter().any(|text| text == line), "{line} in {texts:?}");
            labels += 1;
        }
    }
    assert_eq!(texts.len(), labels, "make {file} anew");
}
