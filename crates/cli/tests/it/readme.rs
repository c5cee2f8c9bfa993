//! The README's commands and their output, as they stand there.

use super::{root, run};
use std::fs;

/// One command of a `console` block: its words, the code it ends with, its standard output.
#[derive(Debug, Default)]
struct Step {
    words: Vec<String>,
    code: i32,
    output: String,
}

/// The commands of all `console` blocks of a text: a line `$ command`, a line `? code` if it is not 0, its output.
fn steps(text: &str) -> Vec<Step> {
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

#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
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
    assert!(ran >= 7 && tested, "the README has lost its commands");
}
