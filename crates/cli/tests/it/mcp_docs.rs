//! What docs/mcp.md says: its commands, its settings of clients and its denial, with the real servers that it names.

use crate::approvals::compared;
use crate::mcp::{Client, peers};
use crate::readme::{Deed, deeds};
use crate::root;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn page() -> String {
    fs::read_to_string(root().join("docs/mcp.md")).unwrap()
}

/// A search path with these folders before the rest.
fn path(folders: &[&Path]) -> OsString {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = folders.iter().map(|folder| folder.to_path_buf());
    std::env::join_paths(folders.chain(std::env::split_paths(&rest))).unwrap()
}

fn repository(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for words in [
        &["init", "-q", "-b", "main"][..],
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "one",
        ],
    ] {
        let status = Command::new("git").current_dir(folder).args(words).status();
        assert!(status.unwrap().success(), "{words:?}");
    }
}

fn branches(folder: &Path) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["branch", "--format", "%(refname:short)"])
        .output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

fn horngate(folder: &Path, search: &OsString) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horngate"));
    command.current_dir(folder).env("PATH", search);
    command
}

/// The answer to a request in a file of answers, without the time it took.
fn answer(answers: &str, id: u64) -> Value {
    let lines = answers
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut found = lines.filter(|line| line["id"] == id);
    let mut answer = found
        .next()
        .unwrap_or_else(|| panic!("{id} was not answered: {answers}"));
    if let Some(time) = answer.pointer_mut("/result/structuredContent/execution_time_ms") {
        *time = 0.into();
    }
    answer
}

#[test]
fn the_commands_of_the_page() {
    let Some(peers) = peers() else { return };
    let text = page();
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let project = folder.join("project");
    repository(&project);
    let search = path(&[&peers.join("python/bin")]);
    let branch = json!({"name": "git_create_branch", "arguments": {"repo_path": "project", "branch_name": "tame"}});
    let (mut key, mut client, mut id) = (String::new(), None, String::new());
    let mut ran = Vec::new();
    for deed in deeds(&text) {
        let step = match deed {
            Deed::Write(name, _) if name.ends_with("mcp.json") => continue,
            Deed::Write(name, text) => {
                fs::write(folder.join(name), text).unwrap();
                continue;
            }
            Deed::Run(step) => step,
        };
        if step.words[0] == "cat" {
            let shown = fs::read_to_string(folder.join(&step.words[1])).unwrap();
            assert_eq!(shown, step.output);
            continue;
        }
        assert_eq!(step.words[0], "horngate");
        if step.words[1..3] == ["approvals", "list"] {
            // The agent has tried meanwhile, through what the page tells to write into its settings.
            let (_, rest) = text.split_once("the arguments are then, say, `").unwrap();
            let words = rest
                .split_once('`')
                .unwrap()
                .0
                .replace("ann=4cf9…6f10", &key);
            let mut command = horngate(folder, &search);
            command.args(shell_words::split(&words).unwrap());
            let mut agent = Client::of(command);
            let mut branch = branch.clone();
            branch["arguments"]["branch_name"] = "wild".into();
            let waits = agent.ask("tools/call", &branch);
            id = waits["result"]["structuredContent"]["metadata"]["approval_id"]
                .as_str()
                .unwrap()
                .to_owned();
            client = Some((agent, branch));
            assert_eq!(branches(&project), "main\n");
        }
        let mut command = horngate(folder, &search);
        let mut into = None;
        for word in &step.words[1..] {
            match (word.strip_prefix('<'), word.strip_prefix('>')) {
                (Some(file), _) => {
                    command.stdin(fs::File::open(folder.join(file)).unwrap());
                }
                (_, Some(file)) => into = Some(folder.join(file)),
                _ if compared(word) == "<id>" => {
                    command.arg(&id);
                }
                _ => {
                    command.arg(word);
                }
            }
        }
        let output = command.output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            output.status.code(),
            Some(step.code),
            "{:?}: {}",
            step.words,
            String::from_utf8_lossy(&output.stderr)
        );
        match into {
            Some(file) => fs::write(file, stdout).unwrap(),
            None => {
                assert_eq!(
                    compared(&stdout),
                    compared(&step.output),
                    "{:?}",
                    step.words
                );
                if step.words[2] == "keygen" {
                    key = stdout.trim_end().to_owned();
                }
            }
        }
        if step.words[1] == "mcp" {
            let answers = fs::read_to_string(folder.join("answers.jsonl")).unwrap();
            assert!(
                answer(&answers, 2)["result"]["content"][0]["text"]
                    .as_str()
                    .unwrap()
                    .contains("working tree clean")
            );
            if step.words.iter().any(|word| word == "--suggest") {
                assert_eq!(branches(&project), "main\nwild\n");
                let gone = Command::new("git")
                    .current_dir(&project)
                    .args(["branch", "-q", "-D", "wild"])
                    .status();
                assert!(gone.unwrap().success());
            } else {
                assert_eq!(branches(&project), "main\n");
                let said = text
                    .lines()
                    .filter(|line| line.contains("\"result\":"))
                    .collect::<Vec<_>>()
                    .join("\n");
                assert_eq!(answer(&answers, 3), answer(&said, 3));
                assert!(folder.join("git.lock").exists());
            }
        }
        ran.push(step.words[1..3].join(" "));
    }
    let (mut agent, wild) = client.unwrap();
    // The yes was for one call.
    assert_eq!(agent.ask("tools/call", &branch)["result"]["isError"], true);
    assert_eq!(agent.ask("tools/call", &wild)["result"]["isError"], false);
    assert_eq!(branches(&project), "main\nwild\n");
    assert_eq!(agent.end(), Some(0));
    assert_eq!(ran.len(), 7, "{ran:?}");
}

/// The programs that fetch a server before they start it, without fetching.
fn starters(folder: &Path, peers: &Path) {
    let node = peers.join("node/node_modules");
    let npx = format!(
        "#!/bin/sh\nset -eu\n[ \"$1\" = -y ]\npackage={}/$2\nshift 2\n\
        exec node \"$package/$(node -p \"Object.values(require('$package/package.json').bin)[0]\")\" \"$@\"\n",
        node.display()
    );
    let uvx = "#!/bin/sh\nexec \"$@\"\n".to_owned();
    for (name, text) in [("npx", npx), ("uvx", uvx)] {
        let file = folder.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn the_settings_of_the_page() {
    let Some(peers) = peers() else { return };
    let text = page();
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let project = here.join("project");
    repository(&project);
    fs::create_dir_all(here.join("rules")).unwrap();
    let rules = "may_execute_tool('U:Qa', tool_list_directory).\nmay_execute_tool('U:Qa', tool_git_log).\n\
        may_execute_tool('U:Qa', 'tool_time::convert_time').\n";
    fs::write(here.join("rules/rules.pl"), rules).unwrap();
    starters(here, &peers);
    let search = path(&[here, &peers.join("python/bin")]);
    let mut shown = Vec::new();
    for block in text.split("```json\n").skip(1) {
        let block = block.split_once("```").unwrap().0;
        let block = block
            .replace("/etc/horngate", &here.display().to_string())
            .replace("/var/lib/horngate", &here.display().to_string())
            .replace("/home/me/project", &project.display().to_string());
        // Other blocks are messages.
        let Ok(settings) = serde_json::from_str::<Value>(&block) else {
            continue;
        };
        let servers = settings
            .get("mcpServers")
            .or_else(|| settings.get("servers"));
        let Some(servers) = servers.and_then(Value::as_object) else {
            continue;
        };
        for server in servers.values() {
            assert_eq!(server["command"], "/usr/local/bin/horngate");
            let args = server["args"].as_array().unwrap();
            let mut command = horngate(here, &search);
            command.args(args.iter().map(|word| word.as_str().unwrap()));
            let mut client = Client::of(command);
            let listed = client.ask("tools/list", &json!({}));
            let tools = listed["result"]["tools"].as_array().unwrap();
            shown.extend(
                tools
                    .iter()
                    .map(|tool| tool["name"].as_str().unwrap().to_owned()),
            );
            client.end();
        }
    }
    assert_eq!(shown, ["list_directory", "git_log", "convert_time"]);
    assert!(here.join("files.lock").exists() && here.join("git.jsonl").exists());
}
