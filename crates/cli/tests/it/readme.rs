//! The commands in the README and other pages and their output, as they stand there.

use super::explain::texts;
use super::{Run, root, run};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Something that a reader of a page does.
#[derive(Debug)]
pub(crate) enum Deed {
    /// Writes a file: a block under a line that ends with its name.
    Write(String, String),
    Run(Step),
}

/// One command of a `console` block: its words, the code it ends with, its standard output.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) words: Vec<String>,
    pub(crate) code: i32,
    pub(crate) output: String,
}

/// What a page says one does: of all `console` blocks a line `$ command`, a line `? code` if it is not 0, its output.
pub(crate) fn deeds(text: &str) -> Vec<Deed> {
    let mut deeds: Vec<Deed> = Vec::new();
    let mut block: Option<&str> = None;
    let mut above = "";
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = match block {
                Some(_) => None,
                None => Some(language),
            };
            if let (Some("prolog" | "json"), Some(name)) = (block, named(above)) {
                deeds.push(Deed::Write(name.to_owned(), String::new()));
            }
            continue;
        }
        match (block, deeds.last_mut()) {
            (None, _) if line.is_empty() => {}
            (None, _) => above = line,
            (Some("console"), last) => {
                let (command, code) = (line.strip_prefix("$ "), line.strip_prefix("? "));
                match (command, code, last) {
                    (Some(command), _, _) => deeds.push(Deed::Run(Step {
                        words: shell_words::split(command).unwrap(),
                        ..Step::default()
                    })),
                    (_, Some(code), Some(Deed::Run(step))) => step.code = code.parse().unwrap(),
                    (_, _, Some(Deed::Run(step))) => step.output.extend([line, "\n"]),
                    _ => panic!("no command above {line}"),
                }
            }
            (Some("prolog" | "json"), Some(Deed::Write(_, text))) if named(above).is_some() => {
                text.extend([line, "\n"]);
            }
            (Some(_), _) => {}
        }
    }
    deeds
}

/// The commands of a page.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let runs = deeds(text).into_iter().filter_map(|deed| match deed {
        Deed::Run(step) => Some(step),
        Deed::Write(..) => None,
    });
    runs.collect()
}

/// The file that a line says is written below it.
fn named(above: &str) -> Option<&str> {
    let line = above.strip_suffix(':')?;
    let line = line.strip_suffix(" anew").unwrap_or(line);
    line.strip_suffix('`')?.rsplit('`').next()
}

/// Does what a page says in a folder; how many commands there were, and whether the tests are among them.
fn run_all(file: &str, folder: &Path) -> (usize, bool) {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    let (mut ran, mut tested) = (0, false);
    for deed in deeds(&text) {
        let step = match deed {
            Deed::Write(name, text) => {
                assert_ne!(folder, root(), "a page writes {name} among the sources");
                let path = folder.join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
                continue;
            }
            Deed::Run(step) => step,
        };
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        let (code, stdout) = match &*words {
            ["horngate", args @ ..] | ["cargo", "run", "--release", "--", args @ ..] => {
                let Run { code, stdout, .. } = run(folder, args);
                (code, stdout)
            }
            // These tests cannot run themselves; CI runs the command as it stands.
            ["cargo", "test", ..] => {
                assert!(ci.contains(&words.join(" ")), "CI does not run {words:?}");
                tested = true;
                continue;
            }
            ["swipl", args @ ..] => match prolog(folder, args) {
                Some(result) => result,
                None => continue,
            },
            _ => panic!("no way to test {words:?}"),
        };
        assert_eq!((code, &*stdout), (step.code, &*step.output), "{words:?}");
        ran += 1;
    }
    (ran, tested)
}

/// Runs SWI-Prolog; where it is missing says so, and fails when `HORNGATE_PEERS=1` demands it.
fn prolog(folder: &Path, args: &[&str]) -> Option<(i32, String)> {
    let output = Command::new("swipl")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        let demanded = std::env::var_os("HORNGATE_PEERS").is_some_and(|value| value == "1");
        assert!(
            !demanded,
            "HORNGATE_PEERS=1, but `swipl` is missing (Debian: swi-prolog-nox)"
        );
        let _ = writeln!(
            std::io::stderr(),
            "NOT RUN IN SWI-PROLOG: `swipl` is missing (Debian: swi-prolog-nox)"
        );
        return None;
    };
    let stdout = String::from_utf8(output.stdout).unwrap();
    Some((output.status.code().unwrap_or(-1), stdout))
}

#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let (ran, tested) = run_all("README.md", &root());
    assert!(ran >= 8 && tested, "the README has lost its commands");
    assert_eq!(run_all("docs/explanations.md", &root()), (2, false));
}

#[test]
fn the_tutorial_leads_from_an_empty_folder_to_where_it_says() {
    let folder = TempDir::new().unwrap();
    let (ran, _) = run_all("docs/tutorial.md", folder.path());
    assert!(ran >= 18, "the tutorial has lost its commands");
    let text = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let written = deeds(&text)
        .iter()
        .filter(|deed| matches!(deed, Deed::Write(..)))
        .count();
    let blocks = text.matches("```prolog\n").count() + text.matches("```json\n").count();
    assert_eq!(written, blocks, "a block of the tutorial is no file");
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
