//! What is shipped beside the program: completions, manual pages, the hooks for pre-commit, the GitHub Action.

use crate::{folder, peer, root, run};
use saphyr::{LoadableYamlNode, Yaml};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// The commands that `--help` lists.
fn commands() -> BTreeSet<String> {
    commands_below(&[])
}

/// The commands that the help of a command lists.
fn commands_below(above: &[&str]) -> BTreeSet<String> {
    let help = run(&root(), &[above, &["--help"]].concat()).stdout;
    let list = help.split_once("Commands:\n").map_or("", |(_, list)| list);
    let names = list.lines().take_while(|line| !line.is_empty());
    names
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// That a command exists and has the flags.
fn exists(command: &str, flags: &[&str]) {
    assert!(
        commands().contains(command),
        "there is no command {command}"
    );
    let help = run(&root(), &[command, "--help"]).stdout;
    for flag in flags {
        let flag = flag.split('=').next().unwrap();
        let known = help.lines().any(|line| {
            let mut words = line.split([' ', ',', '=']);
            line.trim_start().starts_with('-') && words.any(|word| word == flag)
        });
        assert!(known, "{command} has no {flag}");
    }
}

#[test]
fn completions_of_every_shell_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&root(), &["completions", shell]);
        assert_eq!(script.code, 0);
        for command in commands() {
            assert!(script.stdout.contains(&command), "{command} in {shell}");
        }
        assert!(script.stdout.contains("grants-no-more-than"), "{shell}");
    }
    assert_eq!(run(&root(), &["completions", "nosuch"]).code, 2);
}

#[test]
fn bash_completes() {
    if !peer::present("bash", "--version", "bash") {
        return;
    }
    let script = run(&root(), &["completions", "bash"]).stdout;
    let folder = folder(&[("horngate.bash", &script)]);
    let offered = |words: &str, at: usize| {
        let ask = format!(
            "source ./horngate.bash; COMP_WORDS=({words}); COMP_CWORD={at}; \
             _horngate horngate \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{at}-1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash")
            .args(["--norc", "-c", &ask])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(offered("horngate gr", 1), "grants grant\n");
    assert_eq!(offered("horngate decide --wa", 2), "--watch\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = folder(&[]);
    assert_eq!(run(folder.path(), &["man", "--out=share/man/man1"]).code, 0);
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for entry in fs::read_dir(folder.path().join("share/man/man1")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        pages.insert(name, fs::read_to_string(path).unwrap());
    }
    let mut expected = BTreeSet::from(["horngate.1".to_owned()]);
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(above) = open.pop() {
        let words: Vec<&str> = above.iter().map(String::as_str).collect();
        for command in commands_below(&words)
            .into_iter()
            .filter(|command| command != "help")
        {
            let below = [&above[..], &[command]].concat();
            expected.insert(format!("horngate-{}.1", below.join("-")));
            open.push(below);
        }
    }
    assert_eq!(pages.keys().cloned().collect::<BTreeSet<_>>(), expected);
    for (name, page) in &pages {
        let title = name.strip_suffix(".1").unwrap();
        assert!(page.contains(&format!(".TH {title} 1")), "{name}: {page}");
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
        assert!(
            page.lines()
                .all(|line| !line.starts_with('\'') || line.starts_with("'\\\"")),
            "{name}"
        );
    }
    assert_eq!(run(folder.path(), &["man"]).stdout, pages["horngate.1"]);
    // The same once more, and where nothing can be written.
    assert_eq!(run(folder.path(), &["man", "--out=share/man/man1"]).code, 0);
    fs::write(folder.path().join("file"), "").unwrap();
    assert_eq!(run(folder.path(), &["man", "--out=file/x"]).code, 2);
}

fn yaml(file: &str) -> Yaml<'static> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let text: &'static str = Box::leak(text.into_boxed_str());
    let mut documents = Yaml::load_from_str(text).unwrap();
    assert_eq!(documents.len(), 1, "{file}");
    documents.remove(0)
}

fn text<'y>(node: &'y Yaml<'_>, key: &str) -> &'y str {
    let found = node.as_mapping_get(key).and_then(Yaml::as_str);
    found.unwrap_or_else(|| panic!("no text {key} in {node:?}"))
}

fn texts<'y>(node: &'y Yaml<'_>, key: &str) -> Vec<&'y str> {
    let found = node.as_mapping_get(key).and_then(Yaml::as_sequence);
    let items = found.map(|items| items.iter().map(|item| item.as_str().unwrap()));
    items.map(Iterator::collect).unwrap_or_default()
}

#[test]
fn the_hooks_for_pre_commit_run() {
    let manifest = yaml(".pre-commit-hooks.yaml");
    let hooks = manifest.as_sequence().unwrap();
    let mut ids = Vec::new();
    for hook in hooks {
        ids.push(text(hook, "id"));
        assert_eq!(text(hook, "language"), "system");
        let entry: Vec<&str> = text(hook, "entry").split(' ').collect();
        let (program, command) = (entry[0], entry[1]);
        assert_eq!((program, entry.len()), ("horngate", 2));
        assert_eq!(text(hook, "id"), format!("horngate-{command}"));
        let mut args = texts(hook, "args");
        let flags: Vec<&str> = args
            .iter()
            .filter(|arg| arg.starts_with('-'))
            .copied()
            .collect();
        exists(command, &flags);
        // In a project laid out as the hook takes it to be.
        let folder = folder(&[
            ("rules/governance.pl", "may_execute_tool(a, tool_repl).\n"),
            (
                "rules/governance_tests.pl",
                ":- begin_tests(a).\ntest(a) :-\n    may_execute_tool(a, tool_repl).\n:- end_tests(a).\n",
            ),
            (
                "tools.json",
                "{\"tools\":{\"repl\":{\"requires_approval\":true}},\"agents\":{\"a\":[\"repl\"]}}",
            ),
        ]);
        let passes = hook
            .as_mapping_get("pass_filenames")
            .and_then(Yaml::as_bool);
        if passes.unwrap_or(true) {
            args.push("rules/governance.pl");
        }
        let result = run(folder.path(), &[&[command], &args[..]].concat());
        assert_eq!(
            result.code, 0,
            "{command}: {}{}",
            result.stdout, result.stderr
        );
    }
    assert_eq!(
        ids,
        [
            "horngate-check",
            "horngate-fmt",
            "horngate-test",
            "horngate-pin"
        ]
    );
}

/// The scripts of the action by the comment that they begin with.
fn scripts(action: &Yaml<'_>) -> BTreeMap<String, String> {
    let steps = action
        .as_mapping_get("runs")
        .unwrap()
        .as_mapping_get("steps");
    let mut scripts = BTreeMap::new();
    for step in steps.unwrap().as_sequence().unwrap() {
        let Some(script) = step.as_mapping_get("run").and_then(Yaml::as_str) else {
            let action = text(step, "uses");
            assert!(action.contains('@'), "{action} has no version");
            continue;
        };
        assert_eq!(text(step, "shell"), "bash");
        // What a caller gives reaches a script as a variable only, never as code.
        assert!(!script.contains("${{"), "{script}");
        let name = script.lines().next().unwrap().strip_prefix("# ").unwrap();
        assert_eq!(text(step, "id"), name);
        scripts.insert(name.to_owned(), script.to_owned());
    }
    scripts
}

#[test]
fn the_action_names_only_what_there_is() {
    let action = yaml("action.yml");
    assert_eq!(
        text(action.as_mapping_get("runs").unwrap(), "using"),
        "composite"
    );
    let whole = fs::read_to_string(root().join("action.yml")).unwrap();
    let inputs = action
        .as_mapping_get("inputs")
        .unwrap()
        .as_mapping()
        .unwrap();
    for (name, input) in inputs {
        assert!(!text(input, "description").is_empty());
        text(input, "default");
        let used = format!("inputs.{}", name.as_str().unwrap());
        assert!(whole.contains(&used), "{used} is not used");
    }
    for used in whole.split("inputs.").skip(1) {
        let end = used
            .find(|c: char| !c.is_alphanumeric() && c != '-')
            .unwrap();
        let name = used.get(..end).unwrap();
        assert!(
            inputs.keys().any(|input| input.as_str() == Some(name)),
            "no input {name}"
        );
    }
    let mut seen = BTreeSet::new();
    for script in scripts(&action).values() {
        for (at, line) in script.lines().enumerate() {
            let Some((_, call)) = line.split_once("\"$HORNGATE\" ") else {
                continue;
            };
            let words: Vec<&str> = call.split_whitespace().collect();
            if !words[0].starts_with(|c: char| c.is_ascii_lowercase()) {
                continue;
            }
            seen.insert(words[0].to_owned());
            let own = words
                .iter()
                .take_while(|word| **word != "--" && !word.starts_with(['>', '|']));
            let mut flags: Vec<&str> = own.filter(|word| word.starts_with("--")).copied().collect();
            if call.contains("${flags[@]}") {
                let added = script.lines().take(at);
                let added =
                    added.filter(|line| line.contains("flags=(") || line.contains("flags+=("));
                let added = added.flat_map(|line| line.split(['(', ')', ' ']));
                flags.extend(added.filter(|word| word.starts_with("--") && *word != "--"));
            }
            exists(words[0], &flags);
        }
    }
    let expected = ["check", "diff", "grants", "pin", "test"];
    assert_eq!(seen, expected.map(str::to_owned).into());
    for path in [
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "src",
        "grammar",
        "crates/cli/Cargo.toml",
    ] {
        assert!(root().join(path).exists() && whole.contains(path.split('/').next().unwrap()));
    }
}

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
}

#[test]
fn the_action_checks_pins_compares_and_tests() {
    if !(peer::present("bash", "--version", "bash") && peer::present("git", "--version", "git")) {
        return;
    }
    let action = yaml("action.yml");
    let scripts = scripts(&action);
    let rules = fs::read_to_string(root().join("rules/governance.pl")).unwrap();
    let tests = fs::read_to_string(root().join("rules/governance_tests.pl")).unwrap();
    let tools = fs::read_to_string(root().join("tests/data/orchestrata.json")).unwrap();
    let folder = folder(&[
        ("project/rules/governance.pl", &rules),
        ("project/rules/governance_tests.pl", &tests),
        ("project/tools.json", &tools),
        ("temp/empty", ""),
    ]);
    let project = folder.path().join("project");
    for args in [
        &["init", "-q"][..],
        &["add", "-A"],
        &["commit", "-q", "-m", "rules"],
        &["checkout", "-q", "-b", "change"],
        &["remote", "add", "origin", "."],
    ] {
        git(&project, args);
    }
    let temp = folder.path().join("temp");
    let step = |name: &str, changes: &[(&str, &str)]| -> Output {
        let mut command = Command::new("bash");
        command
            .args([
                "--noprofile",
                "--norc",
                "-e",
                "-o",
                "pipefail",
                "-c",
                &scripts[name],
            ])
            .current_dir(&project)
            .env("HORNGATE", env!("CARGO_BIN_EXE_horngate"))
            .env("GITHUB_OUTPUT", temp.join("output"))
            .env("GITHUB_STEP_SUMMARY", temp.join("summary"))
            .env("RULES", "rules")
            .env("ALLOWLIST", "may_execute_tool/2")
            .env("TOOL_PREFIX", "tool_")
            .env("DENY_WARNINGS", "false")
            .env("SARIF", temp.join("horngate.sarif"))
            .env("TOOLS", "tools.json")
            .env("LOCK", "")
            .env("BASE", "main")
            .env("GRANTS", "report")
            .env("OLD", temp.join("base"))
            .env("ROOT", temp.join("root"));
        command.envs(changes.iter().copied());
        command.output().unwrap()
    };
    let code = |name: &str, changes: &[(&str, &str)]| {
        let output = step(name, changes);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code().unwrap(), text)
    };
    assert_eq!(code("install", &[]).0, 0);
    assert_eq!(code("check", &[]).0, 0);
    assert_eq!(code("check", &[("DENY_WARNINGS", "true")]).0, 0);
    let sarif = fs::read_to_string(temp.join("horngate.sarif")).unwrap();
    assert!(sarif.contains("\"2.1.0\""));
    assert_eq!(code("pin", &[]).0, 0);
    assert_eq!(code("pin", &[("LOCK", "no.lock")]).0, 2);
    assert_eq!(code("diff", &[]).0, 0);
    assert_eq!(code("diff", &[("GRANTS", "no-more")]).0, 0);
    assert_eq!(code("diff", &[("GRANTS", "nonsense")]).0, 2);
    assert_eq!(code("test", &[]).0, 0);

    let more = format!("{rules}may_execute_tool('U:Qa', tool_remote_trigger).\n");
    fs::write(project.join("rules/governance.pl"), more).unwrap();
    let (reported, text) = code("diff", &[]);
    assert_eq!(reported, 0, "{text}");
    assert!(
        text.contains("`U:Qa` may now run `remote_trigger`"),
        "{text}"
    );
    assert_eq!(code("diff", &[("GRANTS", "no-more")]).0, 1);
    let summary = fs::read_to_string(temp.join("summary")).unwrap();
    assert!(
        summary.contains("`U:Qa` may now run `remote_trigger`"),
        "{summary}"
    );
    assert_eq!(code("pin", &[]).0, 1);
    assert_eq!(code("test", &[]).0, 1);
    // The base has no such file: then it allowed nothing.
    fs::create_dir(project.join("new")).unwrap();
    fs::write(project.join("new/a.pl"), "may_execute_tool(a, tool_x).\n").unwrap();
    assert_eq!(
        code("diff", &[("RULES", "new"), ("GRANTS", "no-more")]).0,
        1
    );
    assert_eq!(code("diff", &[("RULES", "new")]).0, 0);
    // Rules that are refused, a base that is not there.
    fs::write(
        project.join("rules/governance.pl"),
        "may_execute_tool(a, tool_x)\n",
    )
    .unwrap();
    assert_eq!(code("check", &[]).0, 1);
    assert_eq!(code("pin", &[]).0, 2);
    assert_eq!(code("diff", &[]).0, 2);
    assert_ne!(code("diff", &[("BASE", "nosuch")]).0, 0);
    assert_eq!(code("install", &[("HORNGATE", "/no/such")]).0, 127);
}

#[test]
fn the_page_about_ci_is_true() {
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let action = yaml("action.yml");
    let inputs = action.as_mapping_get("inputs").unwrap();
    let inputs = inputs.as_mapping().unwrap();
    for (name, input) in inputs {
        let default = match text(input, "default") {
            "" => "none".to_owned(),
            "${{ github.base_ref }}" => "that of the pull request".to_owned(),
            default => format!("`{default}`"),
        };
        let row = format!("| `{}` | {default} | ", name.as_str().unwrap());
        assert!(page.contains(&row), "no row {row}");
    }
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    assert_eq!(rows.count(), inputs.len());

    let blocks = page.split("```yaml\n").skip(1);
    let blocks: Vec<&str> = blocks
        .filter_map(|block| block.split("```").next())
        .collect();
    let workflow = Yaml::load_from_str(blocks[0]).unwrap().remove(0);
    let job = workflow
        .as_mapping_get("jobs")
        .unwrap()
        .as_mapping_get("rules");
    let steps = job.unwrap().as_mapping_get("steps").unwrap();
    let step = steps.as_sequence().unwrap().last().unwrap();
    let given = step.as_mapping_get("with").unwrap().as_mapping().unwrap();
    for name in given.keys() {
        assert!(inputs.contains_key(name), "no input {name:?}");
    }
    let config = Yaml::load_from_str(blocks[1]).unwrap().remove(0);
    let repos = config
        .as_mapping_get("repos")
        .unwrap()
        .as_sequence()
        .unwrap();
    let hooks = repos[0]
        .as_mapping_get("hooks")
        .unwrap()
        .as_sequence()
        .unwrap();
    let manifest = yaml(".pre-commit-hooks.yaml");
    let known = manifest.as_sequence().unwrap();
    for hook in hooks {
        let id = text(hook, "id");
        assert!(
            known.iter().any(|known| text(known, "id") == id),
            "no hook {id}"
        );
        let mut flags = texts(hook, "args");
        flags.retain(|arg| arg.starts_with("--"));
        exists(id.strip_prefix("horngate-").unwrap(), &flags);
    }
    let commands = page.split("```sh\n").nth(1).unwrap().split("```").next();
    for line in commands.unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let mut flags = words.clone();
        flags.retain(|word| word.starts_with("--"));
        assert_eq!(words[0], "horngate");
        exists(words[1], &flags);
    }
}
